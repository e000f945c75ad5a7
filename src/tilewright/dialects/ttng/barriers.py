"""Barriers in shared memory (mbarrier) and fences.

A barrier object is a buffer of one i64: `!ttg.memdesc<1xi64, #shared, #smem, mutable>`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, opt_attr_def, traits_def
from xdsl.traits import HasParent
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, bool_attr, i32_attr, init_op, unit_if, values_of
from tilewright.dialects.fields import (
    Operand,
    Operands,
    OptionalOperand,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, as_memdesc
from tilewright.dialects.ttg.effects import READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.ttg.verification import NUM_CTAS, integer_attribute
from tilewright.dialects.ttg.warp_specialize import WarpSpecializeOp, WarpSpecializePartitionsOp
from tilewright.ir.verify import VerifiedAmongOthers
from tilewright.layouts.distributed import Vectors

TWO_CTAS = "ttng.two-ctas"
ORDERS_MEMORY = Touches(((READ, SHARED), (WRITE, SHARED)))


def _i32_if(value: int | None) -> IntegerAttr | None:
    return None if value is None else i32_attr(value)


def find_num_ctas(op: Operation) -> int | None:
    """The CTAs of a program, as the module around an op states them; None where there is no module around it."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return None if parent is None else integer_attribute(parent, NUM_CTAS) or 1


def check_barrier(op: Operation, type: Attribute) -> None:
    """VerifyException unless a type is that of barrier objects: one i64 for each CTA of the cluster, or for some of
    them, which others share. Triton's texts need not say that it is mutable."""
    barrier, count = as_memdesc(type), find_num_ctas(op)
    shape = barrier.get_shape()
    if barrier.element_type != i64 or len(shape) != 1 or (count is not None and shape[0] > count):
        raise VerifyException(
            f"barrier allocation must be a descriptor of Nxi64 type with N <= number of CTAs, got {barrier}"
        )
    owners = [basis[0] for basis in _cga(barrier) if basis[0]]
    if owners != [1 << bit for bit in range(len(owners))]:
        raise VerifyException(
            "broadcasted cluster barriers require bases to be the sequence 1, 2, 4, 8, ... perhaps with zero bases "
            "interleaved."
        )


def _cga(barrier: MemDescType) -> Vectors:
    """Return the CTA that owns each of several barriers."""
    layout = find_shared_layout(barrier.encoding)
    return () if layout is None else layout.cga


def _one_each(count: int) -> Vectors:
    """The bases by which each of `count` CTAs owns a barrier."""
    return tuple((1 << bit,) for bit in range(count.bit_length() - 1))


def _check_from_cta(op: Operation, type: Attribute, from_cta: IntegerAttr | None) -> None:
    """VerifyException where arrivals for other CTAs do not fit the barriers."""
    count = find_num_ctas(op)
    if from_cta is None or count is None:
        return
    if not 0 <= from_cta.value.data < count:
        raise VerifyException("fromCTA must be in the range [0, num_ctas - 1]")
    barrier = as_memdesc(type)
    if barrier.num_elements != count or _cga(barrier) != _one_each(count):
        raise VerifyException("fromCTA requires a 1D barrier with one element per CTA and canonical CGA layout")


def _check_multicast(op: Operation, type: Attribute, mask: int, from_cta: IntegerAttr | None) -> None:
    """VerifyException where an arrival at the barriers of several CTAs does not fit them."""
    count = find_num_ctas(op)
    if not mask or count is None:
        return
    if count == 1:
        raise VerifyException("multicast arrive requires num_ctas > 1")
    if not 0 < mask < count:
        raise VerifyException("multicastCTA exceeds numCTAs - 1")
    wanted, bases = _one_each(count), _cga(as_memdesc(type))
    if bases != wanted:
        raise VerifyException(f"multicast barrier cga_layout must be {_text(wanted)}, got {_text(bases)}")
    if from_cta is not None and from_cta.value.data != count - 1:
        raise VerifyException("fromCTA cannot be combined with multicast arrive")


def check_tma_barrier(op: Operation, type: Attribute) -> None:
    """VerifyException unless, in a module that says whether pairs of CTAs work together, each CTA owns a barrier that
    copies report to, or each pair does."""
    module, count = op.get_toplevel_object(), find_num_ctas(op)
    pairs = module.attributes.get(TWO_CTAS) if isinstance(module, ModuleOp) else None
    if pairs is None or count is None:
        return
    allowed = [_one_each(count)]
    if pairs == bool_attr(True):
        allowed.append(((0,), *_one_each(count // 2)))
    bases = _cga(as_memdesc(type))
    if bases not in allowed:
        wanted = " or ".join(map(_text, allowed))
        raise VerifyException(f"TMA barrier cga_layout must be {wanted}, got {_text(bases)}")


def shared_ctas(type: Attribute) -> int:
    """The bits of a CTA's number along which CTAs share a barrier: it is that of the one whose bits are 0."""
    return sum(1 << bit for bit, basis in enumerate(_cga(as_memdesc(type))) if not any(basis))


def _text(bases: Vectors) -> str:
    return str([list(basis) for basis in bases])


class InitBarrierOp(TritonGPUOp):
    """A barrier that completes a phase after `count` arrivals: `ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.init_barrier"

    alloc: Operand = operand_def(MEMDESC)
    count: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)

    assembly_format = "$alloc `,` custom<PlainInteger>($count) attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)), VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException("count must be greater than or equal to 1")
        if (find_num_ctas(self) or 1) > 1 and _is_in_partitions(self):
            raise VerifyException("cannot be used inside `ttg.warp_specialize`")


def _is_in_partitions(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, WarpSpecializeOp):
        parent = parent.parent_op()
    return parent is not None


class InvalBarrierOp(TritonGPUOp):
    """The end of a barrier, whose memory may then be used otherwise: `ttng.inval_barrier %b : !ttg.memdesc<1xi64,
    ...>`.
    """

    name = "ttng.inval_barrier"

    alloc: Operand = operand_def(MEMDESC)

    assembly_format = "$alloc attr-dict `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)), VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.alloc.type)


class BarrierExpectOp(TritonGPUOp):
    """An arrival that also expects `size` bytes of asynchronous copies: `ttng.barrier_expect %b, 8192, %pred : ...`.
    `fromCTA` says which CTAs of a cluster arrive for others."""

    name = "ttng.barrier_expect"

    alloc: Operand = operand_def(MEMDESC)
    size: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    pred: Operand = operand_def(i1)
    from_cta: IntegerAttr | None = opt_prop_def(
        IntegerAttr, prop_name="fromCTA", converter=_i32_if, default=None, kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$alloc `,` custom<PlainInteger>($size) attr-dict `,` $pred `:` type($alloc)"
    traits = traits_def(Touches(((WRITE, SHARED),)), VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.alloc.type)
        if self.size.value.data < 0:
            raise VerifyException(f"size must not be negative, got {self.size.value.data}")
        _check_from_cta(self, self.alloc.type, self.from_cta)


class WaitBarrierOp(TritonGPUOp):
    """Waits until the phase of parity `phase` is complete; `deps` are the buffers whose contents that means.

    `ttng.wait_barrier %b, %phase, %pred deps %A : !ttg.memdesc<1xi64, ...>, !ttg.memdesc<64x64xf16, ...>`
    """

    name = "ttng.wait_barrier"

    alloc: Operand = operand_def(MEMDESC)
    phase: Operand = operand_def(i32)
    pred: OptionalOperand = opt_operand_def(i1, default=None)
    deps: Operands = var_operand_def(MEMDESC, default=())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "$alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` type($alloc) (`,` type($deps)^)?"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.alloc.type)


class ArriveBarrierOp(TritonGPUOp):
    """Counts `count` arrivals, of the program once all its warps are there or, with `perWarp`, of each warp when it
    comes: `ttng.arrive_barrier %b, 1, %pred {perWarp} : !ttg.memdesc<1xi64, ...>`."""

    name = "ttng.arrive_barrier"

    alloc: Operand = operand_def(MEMDESC)
    count: IntegerAttr = prop_def(IntegerAttr)
    pred: OptionalOperand = opt_operand_def(i1)
    per_warp = opt_attr_def(UnitAttr, attr_name="perWarp")
    """Ours: an attribute, no property, so that official Triton reads the generic form and keeps it."""
    from_cta: IntegerAttr | None = opt_prop_def(IntegerAttr, prop_name="fromCTA", default=None)
    multicast_cta: IntegerAttr | None = opt_prop_def(IntegerAttr, prop_name="multicastCTA", default=None)
    """The bits of a CTA's number along which the arrival goes to other CTAs, too."""

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$alloc `,` custom<PlainInteger>($count) (`,` $pred^)? attr-dict `:` type($alloc)"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def __init__(
        self,
        alloc: Value,
        count: int,
        pred: Value | None = None,
        *,
        per_warp: bool = False,
        from_cta: int | None = None,
    ):
        operands = values_of([alloc, *(() if pred is None else (pred,))])
        properties = {"count": i32_attr(count)}
        if from_cta is not None:
            properties["fromCTA"] = i32_attr(from_cta)
        init_op(self, operands, (), properties)
        if per_warp:
            self.attributes["perWarp"] = UNIT

    def verify_(self) -> None:
        check_barrier(self, self.alloc.type)
        if self.count.value.data < 1:
            raise VerifyException("count must be greater than or equal to 1")
        mask = 0 if self.multicast_cta is None else self.multicast_cta.value.data
        _check_multicast(self, self.alloc.type, mask, self.from_cta)
        _check_from_cta(self, self.alloc.type, self.from_cta)


class AsyncCopyMbarrierArriveOp(TritonGPUOp):
    """Arrives once all `cp.async` copies of this thread so far are done: `ttng.async_copy_mbarrier_arrive %b : ...`."""

    name = "ttng.async_copy_mbarrier_arrive"

    barrier: Operand = operand_def(MEMDESC)
    no_increment: UnitAttr | None = opt_prop_def(UnitAttr, prop_name="noIncrement", converter=unit_if, default=False)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$barrier attr-dict `:` type($barrier)"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.barrier.type)


class FenceAsyncSharedOp(TritonGPUOp):
    """Makes ordinary writes to shared memory visible to asynchronous units: `ttng.fence_async_shared {bCluster =
    false}`.
    """

    name = "ttng.fence_async_shared"

    b_cluster: IntegerAttr = prop_def(
        IntegerAttr, prop_name="bCluster", converter=bool_attr, default=False, kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class StartRoleOp(TritonGPUOp):
    """Ours: where a partition waits for what the kernel's own warps did before the roles began: `ttng.start_role`.
    Without one, partitions wait before all that they do.
    """

    name = "ttng.start_role"

    assembly_format = "attr-dict"
    traits = traits_def(HasParent(WarpSpecializePartitionsOp), ORDERS_MEMORY)


class AwaitTurnOp(TritonGPUOp):
    """Ours: of the two warp groups of a program, the one that comes here waits, once `values` are there, for the other
    to pass the turn on: `ttng.await_turn after %max : tensor<128xf32, ...>`. With `closes`, the first group alone, for
    the turn that nobody else takes.
    """

    name = "ttng.await_turn"

    values: Operands = var_operand_def(default=())
    closes: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "(`after` $values^ `:` type($values))? attr-dict"
    traits = traits_def(ORDERS_MEMORY)


class PassTurnOp(TritonGPUOp):
    """Ours: passes the turn on to the other warp group once most of `values` is there: the first group always, the
    second only where `more` holds, or with `opens`, which gives the first group its first turn, the second group alone.

    `ttng.pass_turn %more after %p : tensor<128x128xf16, ...>`
    """

    name = "ttng.pass_turn"

    more: Operand = operand_def(i1)
    values: Operands = var_operand_def(default=())
    opens: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$more (`after` $values^ `:` type($values))? attr-dict"
    traits = traits_def(ORDERS_MEMORY)
