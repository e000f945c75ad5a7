"""The parts of opcodes after the first that the simulated GPU understands, or may ignore.

Decoders look for the modifiers that they know, so one that nobody knows has to be refused before them: it would change
what the instruction means.
"""

from __future__ import annotations

import re
from functools import cache

PATTERN = re.compile(
    r"""[busf](8|16|32|64|1024)(x[24])? | bf16(x2)? | tf32 | e[245]m[123](x2)? | ue8m0x2 | pred   # types
      | m\d+n\d+(k\d+)? | [1-5]d | [vx][1248]                                               # shapes and counts
      | L[12](::[\w]+)? | (shared|param|tile|tensormap|mbarrier|cluster|multicast)(::\w+)+  # hints and spaces""",
    re.VERBOSE,
)
"""Types, shapes, counts, cache hints and spaces."""

WORDS = frozenset(
    word
    for line in (
        "global shared local param const generic to",
        "rn rz rm rp rs rna rni rzi rmi rpi ftz sat satfinite relu approx full NaN xorsign abs noftz",
        "lo hi wide cc wrap clamp l r shiftamt f4e b4e rc8 ecl ecr rc16",
        "eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan and or xor",
        "finite infinite number notanumber normal subnormal",
        "add min max inc dec exch cas popc any all uni ballot up down bfly idx",
        "sync aligned warp arrive red cluster wait relaxed acquire release acq_rel sc weak volatile mmio",
        "cta gpu sys gl async proxy alias tensormap ca cg cs cv wb wt nc lu evict_last evict_normal unified",
        "bulk tensor im2col bulk_group read prefetch commit_group wait_group wait_all mbarrier noinc init inval",
        "expect_tx try_wait test_wait parity",
        "noComplete tile replace global_address rank box_dim global_dim global_stride element_stride elemtype",
        "interleave_layout swizzle_mode fill_mode cp_fenceproxy reduce fractional row col trans mma_async fence",
        "launch_dependents mbarrier_init cta_group",
    )
    for word in line.split()
)


@cache
def find_unknown(modifiers: tuple[str, ...]) -> str | None:
    """The first part of an opcode that is not known."""
    return next((part for part in modifiers if part not in WORDS and not PATTERN.fullmatch(part)), None)
