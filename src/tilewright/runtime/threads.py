"""How many threads run a grid on the CPU."""

from __future__ import annotations

import sys
from typing import Any

from tilewright.support import knobs


def set_num_threads(count: int) -> None:
    """Use `count` threads for each launch on the CPU from now on; 0 means all cores that the process may use. PyTorch,
    if it is imported, uses as many.

    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"expected a number of threads of 0 or more, got {count}")
    knobs.set_value("num_threads", count)
    if (torch := _pytorch()) is not None:
        torch.set_num_threads(count or _num_cores())


def get_num_threads() -> int:
    """The number of threads that launches on the CPU use: what `set_num_threads` or the switch said, else what PyTorch
    uses, if it is imported."""
    if chosen := knobs.get("num_threads"):
        return chosen
    torch = _pytorch()
    return _num_cores() if torch is None else torch.get_num_threads()


def _num_cores() -> int:
    from tilewright.runtime.driver import driver_for

    return driver_for("cpu").target.facts.num_cores


def _pytorch() -> Any:
    """PyTorch, where it is imported whole."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "set_num_threads") else None
