"""`tritongpu-reassociate-pointers`: addresses as a scalar that moves plus lanes' offsets that stay."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import arith, scf, tt, ttg
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.types import as_tensor, bit_width, element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.loop_rules import is_defined_outside
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.schedule import carried_source

RESHAPING = (tt.BroadcastOp, tt.ExpandDimsOp, ttg.ConvertLayoutOp)
"""Ops that deal the lanes of a tensor anew: what they do to a sum they may do to each term."""


HINTS = ("tt.contiguity", "tt.divisibility", "tt.constancy")
"""What a program says about the values of an op."""


@dataclass(frozen=True)
class _Term:
    """Offsets of lanes: `value`, after `steps` were done to it in order."""

    value: SSAValue
    steps: tuple[Operation, ...] = ()

    def emit(self, builder: OpBuilder) -> SSAValue:
        """The offsets as a tensor of the pointers' shape; the value itself where nothing was done to it."""
        value = self.value
        for op in self.steps:
            type = as_tensor(op.results[0].type)
            result = tensor_type(element_type(value.type), type.get_shape(), type.encoding)
            copy = op.__class__.create(
                operands=(value,), result_types=(result,), properties=op.properties, location=op.location
            )
            value = builder.result(copy)
        return value


@dataclass(frozen=True)
class _Address:
    """base + sum(scalars) + sum(lanes), each offset extended to 64 bits with its sign before it is added."""

    base: SSAValue
    scalars: tuple[SSAValue | int, ...] = ()
    lanes: tuple[_Term, ...] = ()

    def reshaped(self, op: Operation) -> _Address:
        """The address after an op that deals its lanes anew."""
        lanes = tuple(_Term(term.value, (*term.steps, op)) for term in self.lanes)
        return _Address(self.base, self.scalars, lanes)


class _Decomposer:
    """Takes addresses apart. Only sums that are exact are split: see `is_exact`."""

    def __init__(self, facts: ModuleAxisInfo) -> None:
        self._facts = facts

    def address(self, pointers: SSAValue) -> _Address | None:
        """A tensor of pointers as one scalar pointer and offsets; None if there is no such scalar."""
        op = pointers.op if isinstance(pointers, OpResult) else None
        match op:
            case tt.SplatOp():
                return _Address(op.operands[0])
            case tt.AddPtrOp() if not _has_hints(op):
                source = self.address(op.ptr)
                if source is None:
                    return None
                scalars, lanes = self.offsets(op.offset)
                return _Address(source.base, (*source.scalars, *scalars), (*source.lanes, *lanes))
            case _ if isinstance(op, RESHAPING) and not _has_hints(op):
                source = self.address(op.operands[0])
                return None if source is None else source.reshaped(op)
            case _:
                return None

    def offsets(self, value: SSAValue) -> tuple[tuple[SSAValue | int, ...], tuple[_Term, ...]]:
        """A tensor of offsets as scalars and other tensors, whose exact sum it is."""
        constant = splat_of(value)
        if isinstance(constant, int):
            return (constant,) if constant else (), ()
        op = value.op if isinstance(value, OpResult) else None
        if isinstance(op, tt.SplatOp):
            return (op.operands[0],), ()
        if op is None or _has_hints(op):
            return (), (_Term(value),)
        if isinstance(op, arith.AddiOp) and self.is_exact(op):
            left, right = (self.offsets(operand) for operand in op.operands)
            return (*left[0], *right[0]), (*left[1], *right[1])
        if isinstance(op, RESHAPING):
            scalars, lanes = self.offsets(op.operands[0])
            if scalars:
                return scalars, tuple(_Term(term.value, (*term.steps, op)) for term in lanes)
        return (), (_Term(value),)

    def is_exact(self, op: arith.AddiOp) -> bool:
        """Return whether sext(a + b) = sext(a) + sext(b) for a sum of tensors.

        Always at 64 bits, where addresses wrap as well. Of narrower numbers a is a multiple of 2^k in all lanes and
        0 <= b < 2^k: the largest such a leaves room for b below the largest number.
        """
        if bit_width(element_type(op.results[0].type)) == 64:
            return True
        return any(self._fits_below(a, b) for a, b in (op.operands, reversed(op.operands)))

    def _fits_below(self, multiple: SSAValue, rest: SSAValue) -> bool:
        bounds = _bounds(rest)
        if bounds is None or bounds[0] < 0:
            return False
        info = self._facts.of(multiple)
        step = min(info.divisibility) if max(info.contiguity) == 1 else 1
        return bounds[1] < step


def _has_hints(op: Operation) -> bool:
    return any(name in op.attributes for name in HINTS)


def _bounds(value: SSAValue) -> tuple[int, int] | None:
    """The least and the largest of the numbers of a tensor that is known now; None for any other."""
    constant = splat_of(value)
    if isinstance(constant, int):
        return constant, constant
    op = value.op if isinstance(value, OpResult) else None
    match op:
        case tt.MakeRangeOp():
            start, end = op.properties["start"], op.properties["end"]
            assert isinstance(start, IntegerAttr) and isinstance(end, IntegerAttr)
            return start.value.data, end.value.data - 1
        case _ if isinstance(op, RESHAPING):
            return _bounds(op.operands[0])
        case _:
            return None


class _Rewriter:
    """Rewrites the addresses of one module."""

    def __init__(self, module: ModuleOp) -> None:
        self._decomposer = _Decomposer(ModuleAxisInfo(module))

    def carry_scalars(self, loop: scf.ForOp) -> None:
        """Pointers that a loop carries, and that all move by the same distance, are a scalar that moves."""
        carried = CarriedValues(loop)
        block = loop.body.block
        for argument in block.args[1:]:
            moves = self._find_moves(loop, argument)
            if moves is None:
                continue
            address = self._decomposer.address(loop.iter_args[argument.index - 1])
            if address is None or not _is_cheap(address):
                continue
            before = OpBuilder.before(loop)
            base = _moved(before, address.base, address.scalars)
            lanes = address.lanes[0].emit(before)
            moving = carried.add(base)
            self._replace(OpBuilder.at_start(block, loop.location), argument, moving, lanes, loop)
            end = OpBuilder.before(_terminator(loop))
            carried.yields(_moved(end, moving, moves))
        carried.finish()

    def _replace(
        self, builder: OpBuilder, argument: BlockArgument, base: SSAValue, lanes: SSAValue, loop: scf.ForOp
    ) -> None:
        pointers = _pointers(builder, base, lanes, argument.type)
        argument.replace_uses_with_if(pointers, lambda use: use.operation is not _terminator(loop))

    def _find_moves(self, loop: scf.ForOp, argument: BlockArgument) -> tuple[SSAValue | int, ...] | None:
        """By what all pointers of a carried tensor move in an iteration; None where they do not move alike, or are
        used after the loop.
        """
        if not is_tensor(argument.type) or not isinstance(element_type(argument.type), tt.PointerType):
            return None
        value = carried_source(loop, argument)
        if loop.results[argument.index - 1].first_use is not None:
            return None
        moves: list[SSAValue | int] = []
        while value is not argument:
            if not isinstance(value, OpResult) or not isinstance(value.op, tt.AddPtrOp):
                return None
            scalars, lanes = self._decomposer.offsets(value.op.offset)
            if lanes:
                return None
            moves += scalars
            value = value.op.ptr
        return tuple(moves) or None

    def split(self, op: Operation) -> None:
        """The pointers of an access as a scalar and lanes' offsets."""
        pointers = op.operands[0]
        if not is_tensor(pointers.type) or not isinstance(pointers, OpResult):
            return
        address = self._decomposer.address(pointers)
        if address is None or not address.scalars or not _is_cheap(address):
            return
        lanes = address.lanes[0]
        if not _moves_around(op, address.scalars, lanes.value):
            return
        builder = OpBuilder.before(op)
        base = _moved(builder, address.base, address.scalars)
        op.operands[0] = _pointers(builder, base, lanes.emit(builder), pointers.type)


def _is_cheap(address: _Address) -> bool:
    """Return whether a lane's address is one multiplication and addition: a scalar of 64 bits and one offset of 32.

    `A + rows[:, None] * s + columns[None, :]` has two, and stays: with both after one scalar, or their sum at 64 bits,
    the loops of six matmuls on sm_90 (masked or not, 64 to 128 wide, 4 and 8 warps) had 692 SASS instructions in place
    of 690, single ones from -21 to +24, as LLVM carries the pointers of rows again. `A + (rows ... + columns ...)` is
    the form for which 15 to 20 % of the instructions go.

    On sm_80 (ptxas of Triton 3.6) the loops of six such matmuls have 720 SASS instructions without the pass and 700
    with both offsets after one scalar, single ones from -13 to +1; but the 64 x 64 ones take 93 and 95 registers in
    place of 80, which costs each multiprocessor one block in six. The other form gains nothing there: 714 and 715.
    """
    return len(address.lanes) == 1 and element_type(address.lanes[0].value.type) == i32


def _moves_around(op: Operation, scalars: tuple[SSAValue | int, ...], lanes: SSAValue) -> bool:
    """Return whether an op is in a loop in which scalars change and the offsets of its lanes stay the same. Elsewhere
    nothing is won: the sum of scalar and lanes that several accesses share would be made anew for each.
    """
    loop = op.parent_op()
    while loop is not None and not isinstance(loop, scf.ForOp):
        loop = loop.parent_op()
    if loop is None or not is_defined_outside(lanes, loop.body):
        return False
    return any(not isinstance(scalar, int) and not is_defined_outside(scalar, loop.body) for scalar in scalars)


def _terminator(loop: scf.ForOp) -> Operation:
    terminator = loop.body.block.last_op
    assert terminator is not None
    return terminator


def _moved(builder: OpBuilder, base: SSAValue, scalars: tuple[SSAValue | int, ...]) -> SSAValue:
    """A scalar pointer some elements further. Constants are one addition."""
    known = sum(scalar for scalar in scalars if isinstance(scalar, int))
    for scalar in scalars:
        if not isinstance(scalar, int):
            base = builder.result(tt.AddPtrOp(base, scalar))
    if known:
        fits = -(1 << 31) <= known < 1 << 31
        number = builder.result(arith.constant_int(known, i32 if fits else i64))
        base = builder.result(tt.AddPtrOp(base, number))
    return base


def _pointers(builder: OpBuilder, base: SSAValue, lanes: SSAValue, type: Attribute) -> SSAValue:
    splat = builder.result(tt.SplatOp(base, type))
    return builder.result(tt.AddPtrOp(splat, lanes))


ACCESSES = (tt.LoadOp, tt.StoreOp, *tt.ATOMICS)


@register_pass
class ReassociatePointersPass(Pass):
    """Addresses are sums; their terms are put in another order. What is the same for all lanes goes to a scalar
    pointer: loops carry that instead of a tensor of pointers, lanes keep offsets of 32 bits.

    Before:
    ```mlir
    scf.for ... iter_args(%p = %p0) -> (tensor<64x32x!tt.ptr<f16>, #blocked>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = tt.addptr %p, %c32 : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      scf.yield %next : tensor<64x32x!tt.ptr<f16>, #blocked>
    }
    ```
    After, where `%p0` is `%base + %lanes`:
    ```mlir
    scf.for ... iter_args(%q = %base) -> (!tt.ptr<f16>) : i32 {
      %all = tt.splat %q : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #blocked>
      %p = tt.addptr %all, %lanes : tensor<64x32x!tt.ptr<f16>, #blocked>, tensor<64x32xi32, #blocked>
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #blocked>
      %next = tt.addptr %q, %c32 : !tt.ptr<f16>, i32
      scf.yield %next : !tt.ptr<f16>
    }
    ```
    What may be done: `tt.addptr` extends each offset to 64 bits with its sign, and addresses wrap at 64 bits, so
    offsets of one address may be added in any order. A sum of offsets of 32 bits is another matter: it is split only
    if it cannot leave the range of its type, which is known of `multiple of 2^k + number below 2^k`, as in `pid * BLOCK
    + arange(0, BLOCK)`; and offsets are never added up at 32 bits that the program did not add so. Sums with hints
    (`tl.max_contiguous`) stay whole.
    """

    name = "tritongpu-reassociate-pointers"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        rewriter = _Rewriter(module)
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            rewriter.carry_scalars(loop)
        for op in [op for op in ops_within(module) if isinstance(op, ACCESSES)]:
            rewriter.split(op)
