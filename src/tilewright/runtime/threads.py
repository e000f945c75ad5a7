"""How many threads run a grid on the CPU."""

from __future__ import annotations

from tilewright.support import knobs


def set_num_threads(count: int) -> None:
    """Use `count` threads for each launch on the CPU from now on; 0 means all cores that the process may use.

    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"expected a number of threads of 0 or more, got {count}")
    knobs.set_value("num_threads", count)


def get_num_threads() -> int:
    """The number of threads that launches on the CPU use."""
    from tilewright.runtime.driver import driver_for

    return knobs.get("num_threads") or driver_for("cpu").target.facts.num_cores
