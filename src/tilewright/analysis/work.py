"""The work of a kernel at the tt stage: floating-point operations, and bytes that loads and stores request.

An operation counts once for each element, a fused multiply-add and a term of a matmul twice; masked lanes count as if
they were there. Loops count as often as they run, where their bounds follow from constants, the scalar arguments that
are known, and the program's place in the grid; others count once, and are told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from xdsl.dialects.builtin import IndexType, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.analysis.scratch import storage_bits
from tilewright.dialects import arith, math, scf, tt
from tilewright.dialects.arith.casts import CastOp
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.tt.enums import ScaleDotElemType
from tilewright.dialects.types import as_tensor, element_type, is_float, is_tensor
from tilewright.reference.machine import MEANINGS, Frame, Machine
from tilewright.support.records import dataclass

SAMPLED_PROGRAMS = 27
"""Programs that are looked at where the work depends on the place in the grid."""

_NO_WORK = (CastOp, arith.SelectOp, arith.CmpfOp, arith.ConstantOp)
_TWICE = (math.FmaOp,)
_READS = (tt.LoadOp, tt.DescriptorLoadOp, tt.DescriptorGatherOp, tt.AtomicLoadOp)
_WRITES = (tt.StoreOp, tt.DescriptorStoreOp, tt.DescriptorScatterOp, tt.AtomicStoreOp)
_BOTH = (tt.AtomicRMWOp, tt.AtomicCASOp, tt.DescriptorReduceOp)


@dataclass(frozen=True)
class Work:
    """What one program does, or a whole grid."""

    flops: float = 0
    matmul_flops: float = 0
    """Those of the flops that belong to matmuls."""
    loaded: float = 0
    stored: float = 0
    """Bytes."""
    unknown_loops: int = 0
    """Loops (and branches) that counted once because nothing says how often they run."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops,
            self.matmul_flops + other.matmul_flops,
            self.loaded + other.loaded,
            self.stored + other.stored,
            max(self.unknown_loops, other.unknown_loops),
        )

    def times(self, count: float) -> Work:
        """The work done so often."""
        return Work(
            self.flops * count, self.matmul_flops * count, self.loaded * count, self.stored * count, self.unknown_loops
        )


def count_work(module: ModuleOp, grid: tuple[int, int, int], scalars: Mapping[str, Any]) -> Work | None:
    """The work of all programs of a grid; `scalars` are known arguments by the names of their parameters. None for a
    module without a kernel."""
    kernel = next((op for op in module.body.block.ops if isinstance(op, tt.FuncOp) and op.is_public), None)
    if kernel is None or kernel.body.blocks.first is None:
        return None
    known: dict[SSAValue, Any] = {}
    for argument in kernel.body.blocks.first.args:
        if argument.name_hint is not None and argument.name_hint in scalars:
            known[argument] = scalars[argument.name_hint]
    total, places = Work(), list(_sampled(grid))
    for place in places:
        total += _Program(module, grid, place).function(kernel.body.blocks.first, known)
    return total.times(prod(grid) / len(places))


def _sampled(grid: tuple[int, int, int]) -> Sequence[tuple[int, int, int]]:
    """Program ids all over the grid: evenly along each axis."""
    along = max(1, round(SAMPLED_PROGRAMS ** (1 / max(1, sum(extent > 1 for extent in grid)))))
    axes = [sorted({(2 * i + 1) * extent // (2 * along) for i in range(along)}) for extent in grid]
    return [(x, y, z) for x, y, z in product(*axes)]


class _Program:
    """Walks over the ops of one program, with the scalars that are known."""

    def __init__(self, module: ModuleOp, grid: tuple[int, int, int], place: tuple[int, int, int]) -> None:
        self._machine = Machine(module, place, grid)
        self._frame = Frame(self._machine)
        self._unknown = 0

    def function(self, entry: Block, known: Mapping[SSAValue, Any]) -> Work:
        """The work from a function's first block on."""
        self._frame.values.update(known)
        work = self._blocks(entry)
        return Work(work.flops, work.matmul_flops, work.loaded, work.stored, self._unknown)

    def _blocks(self, entry: Block) -> Work:
        """Blocks that follow each other count once, whichever way control takes."""
        region = entry.parent
        assert region is not None
        if len(region.blocks) > 1:
            self._unknown += 1
        work = Work()
        for block in region.blocks:
            work += self._block(block)
        return work

    def _block(self, block: Block) -> Work:
        work = Work()
        for op in block.ops:
            work += self._op(op)
        return work

    def _op(self, op: Operation) -> Work:
        match op:
            case scf.ForOp():
                return self._loop(op)
            case scf.IfOp():
                return self._branch(op)
            case scf.WhileOp():
                self._unknown += 1
                return self._block(op.before_region.block) + self._block(op.after_region.block)
            case tt.CallOp():
                return self._call(op)
            case tt.ReduceOp() | tt.ScanOp():
                elements = prod(as_tensor(op.operands[0].type).get_shape())
                combined = self._block(op.regions[0].block)
                return Work(combined.flops * elements)
            case tt.DotOp() | tt.DotScaledOp():
                return _matmul(op)
            case _:
                self._evaluate(op)
                return _own_work(op)

    def _loop(self, op: scf.ForOp) -> Work:
        bounds = [self._known(value) for value in (op.lb, op.ub, op.step)]
        if any(bound is None for bound in bounds):
            self._unknown += 1
            return self._block(op.body.block)
        low, high, step = (int(bound) for bound in bounds if bound is not None)
        rounds = len(range(low, high, step)) if step > 0 else 0
        # One round stands for all: the middle one, as what loops inside of it depend on is most often linear.
        counter = op.body.block.args[0]
        self._frame.values[counter] = self._like(counter.type, low + rounds // 2 * step)
        return self._block(op.body.block).times(rounds)

    def _branch(self, op: scf.IfOp) -> Work:
        condition = self._known(op.cond)
        if condition is not None:
            region = op.regions[0 if condition else 1]
            return self._block(region.block) if region.blocks else Work()
        self._unknown += 1
        ways = [self._block(region.block) for region in op.regions if region.blocks]
        return max(ways, key=lambda way: way.flops + way.loaded + way.stored)

    def _call(self, op: tt.CallOp) -> Work:
        callee = self._machine.functions.get(op.callee.root_reference.data)
        if callee is None or callee.regions[0].blocks.first is None:
            return Work()
        entry = callee.regions[0].blocks.first
        for argument, operand in zip(entry.args, op.operands, strict=True):
            self._frame.values.pop(argument, None)
            if operand in self._frame.values:
                self._frame.values[argument] = self._frame.values[operand]
        return self._blocks(entry)

    def _known(self, value: SSAValue) -> Any | None:
        return self._frame.values.get(value)

    def _like(self, type: Attribute, value: int) -> Any:
        return dtype_of(type).type(value)

    def _evaluate(self, op: Operation) -> None:
        """Note the results of an op on known scalars."""
        if not op.results or op.regions or not all(_is_scalar(result.type) for result in op.results):
            return
        meaning = MEANINGS.get(type(op))
        if meaning is None or any(operand not in self._frame.values for operand in op.operands):
            for result in op.results:  # a second round may know less than the first
                self._frame.values.pop(result, None)
            return
        self._frame.values.update(zip(op.results, meaning(op, self._frame), strict=True))


def _is_scalar(type: Attribute) -> bool:
    return isinstance(type, (IntegerType, IndexType))


def _elements(type: Attribute) -> int:
    return prod(type.get_shape()) if is_tensor(type) else 1


def _bytes(type: Attribute) -> float:
    return _elements(type) * storage_bits(type) / 8


def _matmul(op: tt.DotOp | tt.DotScaledOp) -> Work:
    result, left = as_tensor(op.results[0].type), as_tensor(op.operands[0].type)
    depth = left.get_shape()[-1]
    if (
        isinstance(op, tt.DotScaledOp)
        and op.a_elem_type.value.data == ScaleDotElemType.E2M1
        and op.lhs_k_pack.value.data
    ):
        depth *= 2  # two values in a byte
    flops = 2.0 * prod(result.get_shape()) * depth
    return Work(flops, flops)


def _own_work(op: Operation) -> Work:
    if isinstance(op, _READS):
        return Work(loaded=sum(_bytes(result.type) for result in op.results))
    if isinstance(op, _WRITES):
        return Work(stored=max(_bytes(operand.type) for operand in op.operands if not _is_address(operand.type)))
    if isinstance(op, _BOTH):
        value = max(_bytes(operand.type) for operand in op.operands if not _is_address(operand.type))
        return Work(loaded=value, stored=value)
    if not op.results or isinstance(op, _NO_WORK) or not op.has_trait(ElementwiseMappable):
        return Work()
    type = op.results[0].type
    if not is_float(element_type(type)):
        return Work()
    return Work(_elements(type) * (2 if isinstance(op, _TWICE) else 1))


def _is_address(type: Attribute) -> bool:
    return isinstance(element_type(type), tt.PointerType) or isinstance(type, tt.TensorDescType)
