"""Places blocks of memory with different live ranges as low as possible, so that the total is as small as possible.

Blocks that live at the same time may not overlap. The problem is hard in general; blocks are put one after the other
at the lowest offset that is free for them, in several orders, and the smallest result counts. No placement can be
smaller than what lives at the busiest moment, so the search ends where that is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Request:
    """A block to be placed: bytes, what its offset has to be a multiple of, and when it lives."""

    size: int
    alignment: int
    start: int
    stop: int


SEARCH_BUDGET = 48
"""How many more orders are tried when no simple one is as small as the busiest moment."""


def place(requests: Sequence[Request], conflicts: Sequence[Sequence[int]]) -> list[int]:
    """The offset of each block; `conflicts[i]` lists the blocks that block i must not overlap."""
    if not requests:
        return []
    bound = lower_bound(requests)
    best: list[int] | None = None
    best_total = 0
    order: list[int] = []
    for candidate in _orders(requests, conflicts):
        offsets = _place_in_order(requests, conflicts, candidate)
        total = total_size(requests, offsets)
        if best is None or total < best_total:
            best, best_total, order = offsets, total, candidate
        if best_total <= bound:
            return best
    assert best is not None
    return _improve(requests, conflicts, order, best, bound)


def total_size(requests: Sequence[Request], offsets: Sequence[int]) -> int:
    """The end of the last block."""
    return max((offset + request.size for request, offset in zip(requests, offsets, strict=True)), default=0)


def lower_bound(requests: Sequence[Request]) -> int:
    """Bytes that live at the busiest moment."""
    starts = {request.start for request in requests}
    return max((sum(r.size for r in requests if r.start <= moment < r.stop) for moment in starts), default=0)


def _orders(requests: Sequence[Request], conflicts: Sequence[Sequence[int]]) -> list[list[int]]:
    indices = range(len(requests))

    def sorted_by(key: Callable[[int], tuple[int, ...]]) -> list[int]:
        return sorted(indices, key=key)

    def area(request: int) -> int:
        return requests[request].size * (requests[request].stop - requests[request].start)

    return [
        sorted_by(lambda n: (-requests[n].size, requests[n].start)),
        sorted_by(lambda n: (-requests[n].alignment, -requests[n].size, requests[n].start)),
        sorted_by(lambda n: (requests[n].start, -requests[n].size)),
        sorted_by(lambda n: (-area(n), requests[n].start)),
        sorted_by(lambda n: (-len(conflicts[n]), -requests[n].size)),
        sorted_by(lambda n: (-requests[n].stop, -requests[n].size)),
    ]


def _place_in_order(requests: Sequence[Request], conflicts: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    offsets: dict[int, int] = {}
    for request in order:
        taken = [
            (offsets[other], offsets[other] + requests[other].size) for other in conflicts[request] if other in offsets
        ]
        offsets[request] = _lowest_gap(requests[request], sorted(taken))
    return [offsets[request] for request in range(len(requests))]


def _lowest_gap(request: Request, taken: Sequence[tuple[int, int]]) -> int:
    offset = 0
    for start, stop in taken:
        if offset + request.size <= start:
            break
        offset = max(offset, -(-stop // request.alignment) * request.alignment)
    return offset


def _improve(
    requests: Sequence[Request], conflicts: Sequence[Sequence[int]], order: list[int], best: list[int], bound: int
) -> list[int]:
    """Takes the block that ends last to an earlier turn, for as long as that helps."""
    total, tried = total_size(requests, best), 0
    improved = True
    while improved and total > bound:
        improved = False
        highest = max(range(len(order)), key=lambda n: best[n] + requests[n].size)
        position = order.index(highest)
        for turn in range(position):
            tried += 1
            if tried > SEARCH_BUDGET:
                return best
            changed = [*order[:turn], highest, *order[turn:position], *order[position + 1 :]]
            offsets = _place_in_order(requests, conflicts, changed)
            if total_size(requests, offsets) < total:
                order, best, total, improved = changed, offsets, total_size(requests, offsets), True
                break
    return best
