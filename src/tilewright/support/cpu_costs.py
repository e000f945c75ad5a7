"""The costs of loops on CPUs: every number that decides how loops are fused, merged, scheduled, and emitted, with its
unit.

What differs between processors (caches, vectors, registers) is in `TargetFacts`, which `targets/cpu` fills; the table
is here, and not there, as transforms read it, too. Costs of bodies are in rough cycles (`body_cost.vector_cost` on one
vector, `body_cost.body_cost` on one element). Where no measurement is named, none is on record: the reason given is
all that the number rests on.
"""

from __future__ import annotations

# Fusion, in rough cycles of one element.

CHEAP = 16
"""A body of at most this cost is computed again in each of its readers."""

CHEAP_GENERATOR = 8
"""The same for a body that reads no memory, where its readers are loops of their own."""

MOST_REPEATED = 8192
"""Index arithmetic with several readers is computed again in each of them, up to this cost for all but one of them:
what costs more is a hash or the like, of which hundreds of results would cost its length each, to compile and to run.
"""

EXPENSIVE = 100
"""Cost of what must not be repeated: transcendental functions, divisions, accesses at computed addresses."""

SHORTEST_RUN = 16
"""Elements: a load for so many of them costs each of them nothing, so every reader makes it."""

LONGEST_CHAIN = 1000
"""Ops that are computed inside of one another, at most. Beyond, a value goes through memory: passing a tile on costs
nothing next to a thousand ops on it, while a loop without end takes more than its length to compile."""

MOST_MOVED_OPS = 16
"""Ops of a chain that moves."""

MOST_CONVERTED_OPS = 16
"""Of the loop bodies of both sides of a branch together that become selects: more of them take longer than a tile takes
through memory."""

# Loops that become one.

MOST_LOOP_INPUTS = 8
MOST_LOOP_RESULTS = 4
"""A loop over more tiles than this would run out of registers for addresses, and of streams to prefetch."""

MOST_LOOP_OPS = 1000
"""Of a body that mergers make: what two longer ones gain does not show next to their length, and what compiles a body
may walk along all of it."""

MOST_LOOPS_TRIED = 64
"""How many of the loops before it a loop may try to join: where hundreds read the same tile and none can be merged,
trying all pairs costs more than the rest of a compilation."""

MOST_REDUCED_INPUTS = 4
MOST_REDUCTIONS = 4
"""Each result takes a register for its accumulator, and each input one for its address."""

MOST_REDUCTION_OPS = 64
"""Of a body that mergers make: where more is computed for each element, reading it once more does not show."""

MOST_REDUCTIONS_TRIED = 16
"""How many of the reductions before it one may try to join."""

# Bodies of nests, in rough cycles of a step on one vector.

DIVISION = 8
"""Cost of a division, or of what is left by one."""

NARROWING = 4
"""Cost of a conversion to a narrower type."""

HEAVY = 20
"""Cost of a transcendental function, or of an access at a computed address."""

LIGHT_BODY = 6
"""Bodies of at most this cost are unrolled in reductions: the latency of the accumulator would show otherwise."""

FOLDED_BODY = 12
"""The same for bodies that combine several values, such as a maximum and its index, each step after the other."""

STREAMING_COST = 2
"""Bodies of at most this cost are bound by memory, on some processors those of this cost for each array: vectors of
half the width then reach a higher bandwidth."""

MOST_ACCUMULATORS = 4
"""Of a reduction: vectors that it takes at a time, each with an accumulator of its own."""

MOST_PAIRED = 32
"""Ops of a body that computes with pairs of vectors: their values have to stay in registers."""

LOAD = 1
"""Cost of a load, where it is weighed against arithmetic."""

JAMMED = (8, 4, 2)
"""Iterations that share a reduction, the most that have registers. Measured (Zen 3, 16 registers): 4 and 8 the same."""

MOST_JAMMED_WORK = 256
"""As `MOST_CARRIED_WORK`, for a reduction that several iterations share."""

MOST_CARRIED_WORK = 64
"""Ops of a step whose tiles stay in registers, for all vectors, and of loops that are unrolled: code grows with it."""

SHORT_LOOP = 8
"""Steps of a reduction around vectors that are written out."""

# Loops, in vectors, lanes or elements.

LEAST_ROWS = 8
"""Of a tile that is kept by columns: lanes go along them, and fewer are short vectors. Measured with 8 (Zen 3, sums of
4096 rows of 64 floats): 4.1 times as fast as by rows."""

BLOCK_SIDES = range(4, 17)
"""Lanes of vectors of which a square block is transposed in registers: it has to fit into them."""

FEW_VECTORS = 8
"""Vectors of a row up to which the ends of two loops over it cost as much as what they save."""

FEWEST_LANES = 8
"""Lanes of a vector from which on rows are reduced together."""

FEWEST_GATHERED = 4
"""Lanes that vectors keep at least where half of them gather fewer elements past the ends of segments. Zen 3, a pool of
28 columns: 149 us by 4 lanes, 176 by 8."""

LONG_SEGMENT = 8
"""Vectors of a segment from which on few lanes are left after the last full one."""

SHORTEST_SEGMENT = 8
"""Divisors from which on segments are worth their start: shorter ones would be vectors with most lanes idle."""

WIDEST_STRIDE = 4
"""Elements between lanes up to which most of a line that is loaded is used, by fewer shuffles than a gather's loads."""

MOST_COMPARED_ROWS = 1024
"""Rows of a view up to which it is worth proving it disjoint from another one."""

MOST_REPEATED_OPS = 24
"""Ops of an address up to which it is computed for another program, too."""

# The choice of the dimension that vectors go along: the one with the most points. No measurement is on record.

ADJOINING_ACCESS = 8
"""Points of an access whose lanes are contiguous in memory; any other one loses as many."""

READ_IN_EACH_STEP = 4
READ_OUTSIDE = 1
"""How often the points of an input count that is read in each step of the innermost loop, or in an outer loop; those of
an output count twice as often."""

LANES_OF_A_SCORE = 16
MOST_SCORED_LANES = 64
"""Elements of a dimension that make a point, and up to which they do: a short one makes short vectors."""

# Exchange networks.

LEAST_EXCHANGES = 2
"""Reductions of pairs from which on a chain is worth it."""

MOST_REGISTER_BITS = 3
"""Bits of the index that choose a register: eight values, and as many that are being computed, leave room for
directions and partners."""

PASS_COST = 16
"""Cost of storing a tensor and loading it again, in steps on one register."""

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
"""Outputs of a program from this size on may be stored non-temporally."""

STREAMED_BYTES = 32 << 20
"""Outputs of a launch from this size on are stored non-temporally. Measured: 16 MiB are as fast either way once loops
prefetch their inputs, 32 MiB 1.3 and 64 MiB 1.5 times as fast with non-temporal stores. An update in place takes 1.8 to
3 times as long with them, however large."""

STREAMED_RESULTS = 2
"""Outputs of a nest; of more, halves of lines may reach memory one by one if stores are non-temporal."""

STREAMED_ELEMENTS = 512
"""Elements of a nest; of fewer, the loops around the vectors take longer than the memory."""
