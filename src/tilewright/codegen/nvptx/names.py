"""Names of functions as PTX may have them."""

from __future__ import annotations

import re

_NO_LETTER = re.compile(r"[^A-Za-z0-9_$]")
_INTERNAL_NO_LETTER = re.compile(r"[^A-Za-z0-9_$.]")


def ptx_name(name: str, *, is_kernel: bool) -> str:
    """The name of a function with every other character than `A-Za-z0-9_$` as its code point: `kö` becomes `k$F6$`.

    LLVM itself takes care of the dots in the names of functions that are not kernels.
    """
    letters = _NO_LETTER if is_kernel else _INTERNAL_NO_LETTER
    text = letters.sub(lambda match: f"${ord(match[0]):X}$", name)
    return f"_{text}" if text[:1].isdigit() else text
