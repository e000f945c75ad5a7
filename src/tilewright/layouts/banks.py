"""Bank conflicts of shared memory, counted from addresses.

Shared memory has 32 banks of four bytes. One pass serves each bank once; lanes that read the same word share it.
Lanes of an access of 8 or 16 bytes run in 2 or 4 phases, so that no phase asks for more than 128 bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

NUM_BANKS = 32
BANK_BYTES = 4


def count_passes(addresses: Sequence[int], num_bytes: int) -> int:
    """Passes of one access of a warp: `addresses` in bytes, one per lane, each for `num_bytes` neighbouring bytes."""
    phases = max(1, num_bytes // BANK_BYTES)
    lanes = max(1, len(addresses) // phases)
    return sum(
        _passes_of_phase(addresses[first : first + lanes], num_bytes) for first in range(0, len(addresses), lanes)
    )


def _passes_of_phase(addresses: Sequence[int], num_bytes: int) -> int:
    words: dict[int, set[int]] = defaultdict(set)
    for address in addresses:
        for word in range(address // BANK_BYTES, (address + num_bytes - 1) // BANK_BYTES + 1):
            words[word % NUM_BANKS].add(word)
    return max(len(asked) for asked in words.values())


def count_conflicts(addresses: Sequence[int], num_bytes: int) -> int:
    """Passes of one access beyond those that any access of that width takes."""
    phases = min(max(1, num_bytes // BANK_BYTES), len(addresses))
    return count_passes(addresses, num_bytes) - phases
