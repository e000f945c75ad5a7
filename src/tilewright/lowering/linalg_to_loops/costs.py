"""What loops cost on CPUs: each number that nests are planned and emitted by, with its unit.

What differs between processors (caches, vectors, registers) is in `TargetFacts`, which `targets/cpu` fills. Costs of
bodies are in rough cycles (`nest_plan.cost_of`). Where no measurement is named, none is on record: the reason given is
all that the number rests on.
"""

from __future__ import annotations

# Bodies of nests, in rough cycles of a step on one vector.

NARROWING = 4
"""Cost of a conversion to a narrower type."""

HEAVY = 20
"""Cost of a transcendental function, or of an access at a computed address."""

LIGHT_BODY = 6
"""Bodies of at most this cost are unrolled in reductions: the latency of the accumulator would show otherwise."""

FOLDED_BODY = 12
"""The same for bodies that combine several values, such as a maximum and its index, each step after the other."""

STREAMING_COST = 2
"""Bodies of at most this cost wait for memory, and on some processors those of this cost for each array that passes by:
vectors of half the width pass more of it."""

UNROLL = 4
"""Vectors that a reduction takes at a time, each with an accumulator of its own."""

MOST_PAIRED = 32
"""Ops of a body that computes with pairs of vectors: their values have to stay in registers."""

MOST_CARRIED_WORK = 64
"""Ops of a step whose tiles stay in registers, for all vectors, and of loops that are unrolled: code grows with it."""

SHORT_LOOP = 8
"""Steps of a reduction around vectors that are written out."""

# Loops, in vectors, lanes or elements.

FEW_VECTORS = 8
"""Vectors of a row up to which the ends of two loops over it cost as much as what they save."""

FEWEST_LANES = 8
"""Lanes of a vector from which on rows are reduced together."""

LONG_SEGMENT = 8
"""Vectors of a segment from which on few lanes are left after the last full one."""

SHORTEST_SEGMENT = 8
"""Divisors from which on segments are worth their start: shorter ones would be vectors with most lanes idle."""

WIDEST_STRIDE = 4
"""Elements between lanes up to which most of a line that is loaded is used, by fewer shuffles than a gather's loads."""

MOST_COMPARED_ROWS = 1024
"""Rows of a view up to which it is worth knowing that it is apart from another one."""

MOST_REPEATED_OPS = 24
"""Ops of an address up to which it is computed for another program, too."""

# Exchange networks.

LEAST_EXCHANGES = 2
"""Reductions of pairs from which on a chain is worth it."""

MOST_REGISTER_BITS = 3
"""Bits of the index that choose a register: eight values, and as many that are being computed, leave room for
directions and partners."""

PASS_COST = 16
"""What storing a tensor and loading it again counts as, in steps on one register."""

# Memory, in bytes.

LINE_BYTES = 64
"""A line of the caches."""

NEAR_BYTES = 32 * 1024
"""Tiles up to this size are prefetched into the first-level cache, larger ones into the second; where less than an
exponential is computed, the limit is `TargetFacts.fetched_near_bytes`."""

LARGEST_TILE_BYTES = 256 * 1024
"""Tiles up to this size are prefetched for the next program."""

LONGEST_ROW_BYTES = 128 * 1024
"""Rows up to this size are prefetched for the next program: half of the second-level caches of most processors, and
more than most rows."""

LARGEST_PACKED_OPERAND = 512 * 1024
"""An operand that is packed before a loop: it should stay in the second-level cache."""

AHEAD_BYTES = 2048
"""Distance of the prefetches of a stream."""

WORDS_AHEAD_BYTES = 4096
"""The same for words of bytes. Measured (Zen 3): 1 KiB 0.69 of the speed of memory, 2, 4 and 8 KiB 0.75 to 0.79."""

LONG_BYTES = 8192
"""Streams from this size on: what is prefetched in vain, past the end, is a small part of them."""

SHORT_BYTES = 1024
"""Tiles smaller than this end before it pays, even if the next program's tile follows."""

SHORT_ROW_BYTES = 256
"""Rows of less are a line or two, and tiles of them small."""

ROWS_AHEAD_BYTES = 4096
"""Distance of the prefetches of a tile with short rows."""

MOST_STREAMS = 8
"""Streams of a loop: line buffers are few, and beyond that many none is prefetched."""

SMALLEST_TILE_BYTES = 1024
"""Outputs of a program from this size on may pass the caches."""

STREAMED_BYTES = 32 << 20
"""Outputs of a launch from this size on pass the caches. Measured: 16 MiB are as fast either way once loops prefetch
their inputs, 32 MiB 1.3 and 64 MiB 1.5 times as fast with non-temporal stores. An update in place takes 1.8 to 3 times
as long with them, however large."""

STREAMED_RESULTS = 2
"""Outputs of a nest; of more, halves of lines may reach memory one by one where stores pass the caches."""

STREAMED_ELEMENTS = 512
"""Elements of a nest; of fewer, the loops around the vectors take longer than the memory."""
