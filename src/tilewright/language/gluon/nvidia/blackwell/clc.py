"""Work that a cluster takes from clusters that have not begun: only Blackwell's GPUs can."""

from __future__ import annotations

from tilewright.language.gluon.nvidia.blackwell.refused import OfBlackwell, refused


class clc_result(OfBlackwell):
    """The answer to a request for work."""


class clc_result_type(OfBlackwell):
    """The type of an answer."""


try_cancel = refused("try_cancel")
load_result = refused("load_result")

__all__ = ["clc_result", "clc_result_type", "load_result", "try_cancel"]
