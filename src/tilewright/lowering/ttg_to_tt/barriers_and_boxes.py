"""What Hopper's units do beside the threads, done at once by the one thread: boxes by TMA, `wgmma`, mbarriers.

A barrier is one 64-bit integer: from the lowest bit on 20 bits of arrivals that its phase still misses, 20 bits of
arrivals that each phase expects, 1 bit of the phase's parity, and, signed, the bytes that the phase still misses. 0 is
no barrier. A wait lets the other partitions of the program run (`partitions`); where none can end it, it would wait for
ever: it is an assertion.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith, scf, tt, ttng
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_tt.function_memory import PASS, assert_of_barrier
from tilewright.lowering.ttg_to_tt.shared_memory import Buffers, lowers

COUNT_BITS = 20
PHASE_BIT = 2 * COUNT_BITS
BYTES_BIT = PHASE_BIT + 1
COUNTS = (1 << COUNT_BITS) - 1
THREADS_PER_WARP = 32
TF32_DROPPED_BITS = 13
F32_EXPONENT = 0x7F800000

NO_BARRIER = "no barrier is initialised here"
TOO_MANY = "a barrier is arrived at more often than it was initialised for"


class _Words:
    """Arithmetic on barriers."""

    def __init__(self, b: OpBuilder) -> None:
        self.b = b

    def number(self, value: int) -> SSAValue:
        return self.b.result(arith.constant_int(value, i64))

    def compare(self, predicate: str, left: SSAValue, right: int) -> SSAValue:
        return self.b.result(arith.CmpiOp(left, self.number(right), predicate))

    def both(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.b.result(arith.AndIOp(left, right))

    def counts(self, word: SSAValue, bit: int) -> SSAValue:
        """The 20 bits from `bit` on."""
        shifted = self.b.result(arith.ShRUIOp(word, self.number(bit)))
        return self.both(shifted, self.number(COUNTS))

    def check(self, holds: SSAValue, predicate: SSAValue | None, message: str) -> None:
        """Assert a condition, where the predicate holds."""
        assert_of_barrier(holds if predicate is None else self.where(predicate, holds), message, self.b)

    def where(self, predicate: SSAValue, holds: SSAValue) -> SSAValue:
        """Emit `holds or not predicate`."""
        off = self.b.result(arith.XOrIOp(predicate, self.b.result(arith.constant_bool(True))))
        return self.b.result(arith.OrIOp(off, holds))

    def read(self, barrier: SSAValue, predicate: SSAValue | None) -> SSAValue:
        """A barrier that is asserted to be one."""
        word = self.b.result(tt.LoadOp(barrier))
        self.check(self.compare("ne", self.counts(word, COUNT_BITS), 0), predicate, NO_BARRIER)
        return word

    def count(self, barrier: SSAValue, predicate: SSAValue | None, *, arrivals: int, missing_bytes: int = 0) -> None:
        """So many arrivals, and so many bytes more (or less) to come; the next phase begins if nothing is missing."""
        word = self.read(barrier, predicate)
        self.check(self.compare("uge", self.counts(word, 0), arrivals), predicate, TOO_MANY)
        word = self.b.result(arith.AddiOp(word, self.number((missing_bytes << BYTES_BIT) - arrivals)))
        none_missing = self.compare("eq", self.counts(word, 0), 0)
        rest = self.b.result(arith.ShRSIOp(word, self.number(BYTES_BIT)))
        is_over = self.both(none_missing, self.compare("eq", rest, 0))
        flipped = self.b.result(arith.XOrIOp(word, self.number(1 << PHASE_BIT)))
        following = self.b.result(arith.OrIOp(flipped, self.counts(word, COUNT_BITS)))
        self.b.insert(tt.StoreOp(barrier, self.b.result(arith.SelectOp(is_over, following, word)), predicate))


@lowers(ttng.InitBarrierOp)
def lower_init(op: ttng.InitBarrierOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    count = op.count.value.data
    if count > COUNTS:
        raise op_error(op, f"a barrier takes at most {COUNTS} arrivals, got {count}", pass_name=PASS)
    b.insert(tt.StoreOp(op.alloc, _Words(b).number(count << COUNT_BITS | count)))
    return ()


@lowers(ttng.InvalBarrierOp)
def lower_invalidate(op: ttng.InvalBarrierOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    words = _Words(b)
    words.read(op.alloc, None)
    b.insert(tt.StoreOp(op.alloc, words.number(0)))
    return ()


@lowers(ttng.BarrierExpectOp)
def lower_expect(op: ttng.BarrierExpectOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    _Words(b).count(op.alloc, op.pred, arrivals=1, missing_bytes=op.size.value.data)
    return ()


@lowers(ttng.ArriveBarrierOp)
def lower_arrive(op: ttng.ArriveBarrierOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    arrivals = op.count.value.data * (1 if op.per_warp is None else warps_of_program(op))
    _Words(b).count(op.alloc, op.pred, arrivals=arrivals)
    return ()


@lowers(ttng.AsyncCopyMbarrierArriveOp)
def lower_arrive_after_copies(op: ttng.AsyncCopyMbarrierArriveOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """Every thread's copies are done. An arrival that the barrier expects in addition changes nothing but the order."""
    if op.no_increment is not None:
        _Words(b).count(op.barrier, None, arrivals=THREADS_PER_WARP * warps_of_program(op))
    return ()


@lowers(ttng.WaitBarrierOp)
def lower_wait(op: ttng.WaitBarrierOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """Go on once the phase is over: the barrier's parity is another one then."""
    _Words(b).read(op.alloc, op.pred)

    def is_over(at: OpBuilder) -> SSAValue:
        words, word = _Words(at), at.result(tt.LoadOp(op.alloc))
        parity = at.insert(arith.TruncIOp(at.result(arith.ShRUIOp(word, words.number(PHASE_BIT))), i32))
        passed = at.result(arith.XOrIOp(parity.results[0], op.phase))
        last = at.result(arith.AndIOp(passed, at.result(arith.constant_int(1, i32))))
        holds = at.result(arith.CmpiOp(last, at.result(arith.constant_int(0, i32)), "ne"))
        return holds if op.pred is None else words.where(op.pred, holds)

    buffers.partitions.wait(op, is_over, b)
    return ()


@lowers(ttng.AsyncTMACopyGlobalToLocalOp)
def lower_box_load(op: ttng.AsyncTMACopyGlobalToLocalOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """The box at once; all its bytes count, those outside of the tensor, too. A barrier of a cluster's CTA counts its
    part."""
    if isinstance(op.desc.type, ttng.TensorDescIm2ColType):
        raise op_error(op, "a CPU has no copies of pixels around a point (im2col)", pass_name=PASS)
    kind = buffers.type_of(op, op.result)
    size = kind.num_elements * bit_width(kind.element_type) // 8
    block = Block()
    inner = OpBuilder.at_end(block, op.location)
    box = tensor_type(kind.element_type, kind.get_shape())
    loaded = inner.result(tt.DescriptorLoadOp(op.desc, op.coord, box))
    buffers.store(op, loaded if op.round_to_tf32 is None else _rounded_to_tf32(loaded, inner), op.result, inner)
    inner.insert(scf.YieldOp())
    b.insert(scf.IfOp(op.pred, (), block))
    _Words(b).count(op.barrier, op.pred, arrivals=0, missing_bytes=-(size // ttng.num_parts(kind)))
    return ()


@lowers(ttng.AsyncSharedStoreOp)
def lower_reporting_store(op: ttng.AsyncSharedStoreOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """The tensor at once; a barrier of a cluster's CTA counts its part."""
    kind = buffers.type_of(op, op.dst)
    size = kind.num_elements * bit_width(kind.element_type) // 8
    buffers.store(op, op.src, op.dst, b)
    _Words(b).count(op.mbarrier, None, arrivals=0, missing_bytes=-(size // ttng.num_parts(kind)))
    return ()


def _rounded_to_tf32(values: SSAValue, b: OpBuilder) -> SSAValue:
    """Return float32 values with ten bits of mantissa, to nearest even; infinities and NaNs stay."""
    kind = as_tensor(values.type)
    words = tensor_type(i32, kind.get_shape())

    def word(value: int) -> SSAValue:
        return b.result(arith.constant_splat(value, words))

    bits = b.result(tt.BitcastOp(values, words))
    odd = b.result(arith.AndIOp(b.result(arith.ShRUIOp(bits, word(TF32_DROPPED_BITS))), word(1)))
    carry = b.result(arith.AddiOp(odd, word((1 << TF32_DROPPED_BITS - 1) - 1)))
    cut = b.result(arith.AndIOp(b.result(arith.AddiOp(bits, carry)), word(-1 << TF32_DROPPED_BITS)))
    exponent = b.result(arith.AndIOp(bits, word(F32_EXPONENT)))
    is_finite = b.result(arith.CmpiOp(exponent, word(F32_EXPONENT), "ne"))
    return b.result(tt.BitcastOp(b.result(arith.SelectOp(is_finite, cut, bits)), kind))


@lowers(ttng.AsyncTMACopyLocalToGlobalOp)
def lower_box_store(op: ttng.AsyncTMACopyLocalToGlobalOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    b.insert(tt.DescriptorStoreOp(op.desc, buffers.load(op, op.src, b), op.coord))
    return ()


@lowers(ttng.AsyncTMAReduceOp)
def lower_box_reduce(op: ttng.AsyncTMAReduceOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    b.insert(tt.DescriptorReduceOp(op.desc, buffers.load(op, op.src, b), op.coord, kind=op.kind.value.data))
    return ()


@lowers(ttng.WarpGroupDotOp)
def lower_product(op: ttng.WarpGroupDotOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    """The product at once; without `use_c` it begins with zero."""
    a = buffers.load(op, op.a, b) if buffers.is_buffer(op, op.a) else op.a
    start = op.c
    if op.use_c is not None:
        zero = b.result(arith.constant_splat(0, op.c.type))
        start = b.result(arith.SelectOp(op.use_c, op.c, zero))
    precision, imprecise = op.input_precision.value.data, op.max_num_imprecise_acc.value.data
    right = buffers.load(op, op.b, b)
    made = tt.DotOp(a, right, start, input_precision=precision, max_num_imprecise_acc=imprecise)
    return (b.result(made),)


@lowers(ttng.WarpGroupDotWaitOp)
def lower_product_wait(op: ttng.WarpGroupDotWaitOp, buffers: Buffers, b: OpBuilder) -> Sequence[SSAValue]:
    return tuple(op.inputs)
