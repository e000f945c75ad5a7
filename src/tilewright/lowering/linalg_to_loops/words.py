"""Reads words: elements of 32 bits that are four neighbouring bytes each, of any alignment.

    words %x[%i] of 8 lanes  ->  %b = vector.load %x[4 * %i] : vector<32xi8>;  vector.bitcast %b : vector<8xi32>

Lanes that do not follow one another, or of which some do not exist, are put together from four gathers of bytes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i8, i32
from xdsl.ir import SSAValue

from tilewright.dialects import arith, vector
from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter, vector_type

_BYTE_BITS = 8


def load_word(emitter: LoopEmitter, flat: SSAValue, index: Index) -> SSAValue:
    """The word whose first byte is at `index`."""
    return emitter.result(vector.ExtractOp(load_words(emitter, flat, index, 1), (0,)))


def load_words(emitter: LoopEmitter, flat: SSAValue, index: Index, lanes: int) -> SSAValue:
    """Words that follow one another."""
    loaded = emitter.vector_load(flat, index, WORD_BYTES * lanes)
    return emitter.value(vector.BitcastOp, (loaded,), vector_type(lanes, i32))


def gather_words(
    emitter: LoopEmitter, flat: SSAValue, index: Index, offsets: SSAValue, mask: SSAValue, lanes: int
) -> SSAValue:
    """The words whose first bytes are at `index + offsets`; zeros in lanes that are masked."""
    nothing = emitter.broadcast(emitter.zero(i8), lanes)
    whole: SSAValue | None = None
    for position in range(WORD_BYTES):
        loaded = emitter.gather(flat, emitter.add(index, position), offsets, mask, nothing)
        part = emitter.value(arith.ExtUIOp, (loaded,), vector_type(lanes, i32))
        if whole is None:
            whole = part
            continue
        bits = emitter.broadcast(emitter.constant(_BYTE_BITS * position, i32), lanes)
        whole = emitter.arith(arith.OrIOp, whole, emitter.arith(arith.ShLIOp, part, bits))
    assert whole is not None
    return whole
