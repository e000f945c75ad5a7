"""Seeded faults: each makes one pass give a wrong module, the way a wrong fold, a dropped mask or an off-by-one would.

A fault names the pass and says how its output is spoilt: the first op that fits is changed. `seeded` puts it in.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation

from tilewright.dialects import arith, linalg, linalg_ext, memref, scf, tt, tts, vector
from tilewright.dialects.construction import static_values
from tilewright.ir.passes import PassContext, available_passes
from tilewright.lowering import loops_to_llvm

Change = Callable[[Operation], bool]
"""Spoils an op; False where the op is not one that the fault applies to."""


@dataclass(frozen=True)
class Fault:
    """A wrong output of a pass, or of the emission of LLVM text (`pass_name` is then `machine code`)."""

    name: str
    pass_name: str
    spoil: Change | None = None
    text: tuple[str, str] = ("", "")


def replace_op(old: type[Operation], new: type[Operation]) -> Change:
    """An op of one class becomes an op of another class with the same operands."""

    def change(op: Operation) -> bool:
        if type(op) is not old:
            return False
        properties = {name: value for name, value in op.properties.items() if name != "overflowFlags"}
        made = new.create(operands=op.operands, result_types=op.result_types, properties=properties)
        assert op.parent is not None
        op.parent.insert_op_before(made, op)
        for result, value in zip(op.results, made.results, strict=True):
            result.replace_all_uses_with(value)
        return _lose(op)

    return change


def swap_operands(kind: type[Operation], first: int, second: int) -> Change:
    """Two operands of the first op whose operands differ change places."""

    def change(op: Operation) -> bool:
        if not isinstance(op, kind) or op.operands[first] is op.operands[second]:
            return False
        operands = list(op.operands)
        operands[first], operands[second] = operands[second], operands[first]
        op.operands = operands
        return True

    return change


def predicate(wanted: int, other: int) -> Change:
    """A comparison compares differently."""

    def change(op: Operation) -> bool:
        if not isinstance(op, arith.CmpiOp) or op.predicate.value.data != wanted:
            return False
        op.properties["predicate"] = IntegerAttr(other, i64)
        return True

    return change


def list_entry(kind: type[Operation], name: str, wanted: Callable[[int], bool], other: Callable[[int], int]) -> Change:
    """The first entry of a static list that fits is another number."""

    def change(op: Operation) -> bool:
        held = op.properties.get(name)
        if not isinstance(op, kind) or not isinstance(held, DenseArrayBase):
            return False
        values = list(static_values(held))
        for position, value in enumerate(values):
            if value != DYNAMIC_INDEX and wanted(value):
                values[position] = other(value)
                op.properties[name] = DenseArrayBase.from_list(i64, values)
                return True
        return False

    return change


def integer_constant(wanted: Callable[[int], bool], step: int) -> Change:
    """A scalar integer or index constant is off by a step."""

    def change(op: Operation) -> bool:
        if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, IntegerAttr):
            return False
        if not wanted(op.value.value.data) or op.result.type == arith.constant_bool(True).result.type:
            return False
        op.properties["value"] = IntegerAttr(op.value.value.data + step, op.value.type)
        return True

    return change


def drop_operand(kind: type[Operation], group: int, position: int) -> Change:
    """An optional operand (mask, other) is left out."""

    def change(op: Operation) -> bool:
        sizes = op.properties.get("operandSegmentSizes")
        if not isinstance(op, kind) or not isinstance(sizes, DenseArrayBase):
            return False
        counts = list(static_values(sizes))
        if not counts[group]:
            return False
        operands = list(op.operands)
        del operands[sum(counts[:group]) + position]
        counts[group] = 0
        op.operands = operands
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(sizes.elt_type, counts)
        return True

    return change


def drop_store_mask(op: Operation) -> bool:
    """A masked store writes all lanes."""
    if not isinstance(op, tt.StoreOp) or op.mask is None:
        return False
    op.operands = list(op.operands)[:2]
    return True


def mask_dims_of(kind: type[Operation]) -> Change:
    """A dynamic bound of a structured access becomes the full extent of the tile."""

    def change(op: Operation) -> bool:
        if not isinstance(op, kind) or not op.mask_dims:
            return False
        tile = (op.result if isinstance(op, tts.LoadOp) else op.value).type
        dims = list(static_values(op.static_mask_dims))
        place = dims.index(DYNAMIC_INDEX)
        dims[place] = tile.get_shape()[place]
        first = next(n for n, operand in enumerate(op.operands) if operand is op.mask_dims[0])
        operands = list(op.operands)
        del operands[first]
        op.operands = operands
        op.properties["static_mask_dims"] = DenseArrayBase.from_list(i64, dims)
        if isinstance(op, tts.LoadOp):
            counts = list(static_values(op.properties["operandSegmentSizes"]))
            counts[1] -= 1
            segments = op.properties["operandSegmentSizes"]
            op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(segments.elt_type, counts)
        return True

    return change


def move_access(kind: type[Operation], position: int, by: int) -> Change:
    """An index of an access is off by a number."""

    def change(op: Operation) -> bool:
        if not isinstance(op, kind) or not str(op.operands[position].type).endswith(("i32", "i64", "index", ">")):
            return False
        assert op.parent is not None
        step = arith.constant_splat(by, op.operands[position].type)
        moved = arith.AddiOp(op.operands[position], step.results[0])
        op.parent.insert_op_before(step, op)
        op.parent.insert_op_before(moved, op)
        op.operands[position] = moved.results[0]
        return True

    return change


def loop_bound(by: int) -> Change:
    """A loop makes an iteration more or less."""

    def change(op: Operation) -> bool:
        if not isinstance(op, scf.ForOp):
            return False
        assert op.parent is not None
        moved = arith.AddiOp(op.ub, op.step) if by > 0 else arith.SubiOp(op.ub, op.step)
        op.parent.insert_op_before(moved, op)
        op.operands[1] = moved.results[0]
        return True

    return change


def forget_update(op: Operation) -> bool:
    """A loop carries a value on without the update that its body makes."""
    if not isinstance(op, scf.ForOp) or not op.results:
        return False
    end = op.body.block.last_op
    assert end is not None
    end.operands[0] = op.body.block.args[1]
    return True


def fresh_accumulator(op: Operation) -> bool:
    """A product does not add to its accumulator."""
    if not isinstance(op, tt.DotOp):
        return False
    zero = arith.constant_splat(0, op.c.type)
    assert op.parent is not None
    op.parent.insert_op_before(zero, op)
    op.operands[2] = zero.results[0]
    return True


def drop_op(kind: type[Operation]) -> Change:
    """An op without results is lost."""

    def change(op: Operation) -> bool:
        if not isinstance(op, kind):
            return False
        op.detach()
        op.erase()
        return True

    return change


def swap_branches(op: Operation) -> bool:
    """The two sides of a conditional change places."""
    if not isinstance(op, scf.IfOp) or not op.results or not op.false_region.blocks:
        return False
    then, otherwise = op.true_region, op.false_region
    then_block, other_block = then.detach_block(0), otherwise.detach_block(0)
    then.add_block(other_block)
    otherwise.add_block(then_block)
    return True


def other_axis(op: Operation) -> bool:
    """A scan runs along the other dimension."""
    if not isinstance(op, tt.ScanOp):
        return False
    op.properties["axis"] = IntegerAttr(0, op.axis.type)
    return True


FAULTS: Sequence[Fault] = (
    Fault("store loses its mask", "inline", drop_store_mask),
    Fault("load loses its other", "triton-combine", drop_operand(tt.LoadOp, 2, 0)),
    Fault("range starts late", "cse", lambda op: isinstance(op, tt.MakeRangeOp) and _shift_range(op)),
    Fault("wrong fold: addi becomes subi", "canonicalize", replace_op(arith.AddiOp, arith.SubiOp)),
    Fault("wrong fold: subi becomes addi", "canonicalize", replace_op(arith.SubiOp, arith.AddiOp)),
    Fault("wrong fold: muli becomes addi", "canonicalize", replace_op(arith.MuliOp, arith.AddiOp)),
    Fault("wrong fold: divsi becomes divui", "canonicalize", replace_op(arith.DivSIOp, arith.DivUIOp)),
    Fault("wrong fold: remsi becomes remui", "canonicalize", replace_op(arith.RemSIOp, arith.RemUIOp)),
    Fault("wrong fold: extsi becomes extui", "canonicalize", replace_op(arith.ExtSIOp, arith.ExtUIOp)),
    Fault("wrong fold: shli becomes shrui", "canonicalize", replace_op(arith.ShLIOp, arith.ShRUIOp)),
    Fault("wrong fold: xori becomes ori", "canonicalize", replace_op(arith.XOrIOp, arith.OrIOp)),
    Fault("wrong fold: minsi becomes minui", "canonicalize", replace_op(arith.MinSIOp, arith.MinUIOp)),
    Fault("wrong fold: addf becomes subf", "canonicalize", replace_op(arith.AddfOp, arith.SubfOp)),
    Fault("wrong fold: mulf becomes addf", "canonicalize", replace_op(arith.MulfOp, arith.AddfOp)),
    Fault("wrong fold: maxnumf becomes minnumf", "canonicalize", replace_op(arith.MaxnumfOp, arith.MinnumfOp)),
    Fault("wrong fold: operands of subf swapped", "canonicalize", swap_operands(arith.SubfOp, 0, 1)),
    Fault("select takes the other value", "triton-combine", swap_operands(arith.SelectOp, 1, 2)),
    Fault("bound is inclusive", "triton-reorder-broadcast", predicate(2, 3)),
    Fault("comparison is unsigned", "canonicalize", predicate(4, 8)),
    Fault("stores are lost", "cse", drop_op(tt.StoreOp)),
    Fault("atomic is lost", "symbol-dce", lambda op: isinstance(op, tt.AtomicRMWOp) and _drop_unused(op)),
    Fault("loop is one iteration short", "triton-loop-unroll", loop_bound(-1)),
    Fault("loop is one iteration long", "triton-loop-unroll", loop_bound(1)),
    Fault("accumulate is missing", "canonicalize", fresh_accumulator),
    Fault("loop forgets an update", "triton-loop-unroll", forget_update),
    Fault("scan along the wrong axis", "triton-combine", other_axis),
    Fault("branches swapped", "canonicalize", swap_branches),
    Fault("stride off by one", "triton-to-structured",
          list_entry(tts.MakeTensorPtrOp, "static_strides", lambda value: value == 1, lambda value: value + 1)),
    Fault("offset off by one", "triton-to-structured",
          list_entry(tts.MakeTensorPtrOp, "static_offsets", lambda value: value == 0, lambda value: value + 1)),
    Fault("bound of a load dropped", "triton-to-structured", mask_dims_of(tts.LoadOp)),
    Fault("bound of a store dropped", "triton-to-structured", mask_dims_of(tts.StoreOp)),
    Fault("gathered rows off by one", "triton-to-structured", move_access(tts.MakeGatherScatterTensorPtrOp, 1, 1)),
    Fault("atomic at the next element", "triton-to-unstructured", move_access(tts.AtomicRMWOp, 1, 1)),
    Fault("sum starts at one", "triton-arith-to-linalg", lambda op: isinstance(op, arith.ConstantOp) and _one(op)),
    Fault("operands of a product swapped in linalg", "canonicalize#linalg", swap_operands(linalg.MatmulOp, 0, 1)),
    Fault("view one element further", "canonicalize#linalg",
          list_entry(memref.ReinterpretCastOp, "static_offsets", lambda value: value == 0, lambda value: 1)),
    Fault("copy is lost", "cse#linalg", drop_op(memref.CopyOp)),
    Fault("fill is lost", "cse#linalg", lambda op: isinstance(op, linalg.FillOp) and not op.results and _lose(op)),
    Fault("fused body adds for multiplies", "linalg-fuse-elementwise", replace_op(arith.MulfOp, arith.AddfOp)),
    Fault("fused body divides the wrong way", "linalg-fuse-elementwise", swap_operands(arith.DivfOp, 0, 1)),
    Fault("forwarded load from the next element", "forward-loads",
          list_entry(memref.ReinterpretCastOp, "static_strides", lambda value: value == 1, lambda value: 2)),
    Fault("fewer elements are needed", "linalg-find-needed-bounds", move_access(linalg_ext.NeededOp, 1, -1)),
    Fault("lane mask one too wide", "linalg-to-loops", move_access(vector.CreateMaskOp, 0, 1)),
    Fault("vector load from the next element", "linalg-to-loops", move_access(vector.LoadOp, 1, 1)),
    Fault("last vector is not stored", "linalg-to-loops", drop_op(vector.MaskedStoreOp)),
    Fault("vector loop is short", "linalg-to-loops", loop_bound(-1)),
    Fault("fadd is fsub in LLVM", "machine code", text=("fadd", "fsub")),
    Fault("comparison is inclusive in LLVM", "machine code", text=("icmp slt", "icmp sle")),
    Fault("fmul is fadd in LLVM", "machine code", text=("fmul", "fadd")),
)  # fmt: skip


def _shift_range(op: tt.MakeRangeOp) -> bool:
    for name in ("start", "end"):
        held = op.properties[name]
        assert isinstance(held, IntegerAttr)
        op.properties[name] = IntegerAttr(held.value.data + 1, held.type)
    return True


def _one(op: arith.ConstantOp) -> bool:
    if str(op.result.type) != "f32" or "0.0" not in str(op.value):
        return False
    op.properties["value"] = arith.constant_float(1.0, op.result.type).properties["value"]
    return True


def _lose(op: Operation) -> bool:
    op.detach()
    op.erase()
    return True


def _drop_unused(op: Operation) -> bool:
    return not any(result.first_use for result in op.results) and _lose(op)


@contextmanager
def seeded(fault: Fault) -> Generator[list[bool]]:
    """Put a fault into the compiler. The list that comes back is filled where the fault took effect."""
    struck: list[bool] = []
    if fault.spoil is None:
        with _wrong_text(fault, struck):
            yield struck
        return
    name, _, stage = fault.pass_name.partition("#")
    cls: Any = available_passes()[name]
    original = cls.run

    def run(self: Any, module: ModuleOp, context: PassContext) -> None:
        original(self, module, context)
        if stage and not any(op.name == "func.func" for op in module.body.block.ops):
            return
        assert fault.spoil is not None
        for op in list(module.walk()):
            if op.parent is not None and fault.spoil(op):
                struck.append(True)
                return

    cls.run = run
    try:
        yield struck
    finally:
        cls.run = original


@contextmanager
def _wrong_text(fault: Fault, struck: list[bool]) -> Generator[None]:
    """The first occurrence of a word in the body of a kernel's LLVM text is another one."""
    original = loops_to_llvm.lower_to_llvm

    def lower(*args: Any, **keywords: Any) -> Any:
        lowered = original(*args, **keywords)
        plain = type(lowered.text).__str__
        text = lowered.text

        class Spoilt(type(text)):
            def __str__(self) -> str:
                old, new = fault.text
                full = plain(self)
                if old in full:
                    struck.append(True)
                return full.replace(f" = {old}", f" = {new}", 1)

        text.__class__ = Spoilt
        return lowered

    loops_to_llvm.lower_to_llvm = lower
    try:
        yield
    finally:
        loops_to_llvm.lower_to_llvm = original
