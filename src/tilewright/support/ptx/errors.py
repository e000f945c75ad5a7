"""What the reader of PTX says."""

from __future__ import annotations

from tilewright.support.errors import LocatedError

PTX_FILE = "<ptx>"


class PtxSyntaxError(LocatedError):
    """PTX that cannot be read."""
