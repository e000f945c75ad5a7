"""The layouts of anchors carried forward to all that computes with them; the first half of
`tritongpu-remove-layout-conversions`.

An anchor is an op whose layout matters most: an access of memory, a matmul. Every value that an anchor's layout
reaches through element-wise and reshaping ops, loops and conditionals may take it. Where several arrive, loads and
stores prefer a blocked layout and all else an accumulator's, then the one that came first.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.folds import is_dense
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.ttg.verification import ProgramShape
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import BlockedLayout, NvidiaMmaLayout
from tilewright.transforms.ttg.layout_inference import (
    RESHAPING,
    infer_operand_encoding,
    infer_result_encoding,
    is_anchor,
    keeps_layout_class,
    layout_of,
    with_encoding,
)

Encodings = dict[Attribute, None]
"""The layouts that reach a value, the first one first."""

_ENDS = (scf.YieldOp, scf.ConditionOp)
"""Ops whose operands must be as values of another op are, which may have been retyped where the operands were not."""

Accesses = tt.LoadOp | tt.StoreOp | tt.Atomic


class LayoutPropagation:
    """One function's values and the layouts that reach them."""

    def __init__(self, function: tt.FuncOp, program: ProgramShape) -> None:
        self._function = function
        self._reaching: dict[SSAValue, Encodings] = {}
        self._seed(program)

    def run(self) -> None:
        """Carries layouts forward, decides, and retypes the function with conversions where layouts meet."""
        self._propagate()
        chosen = {value: _choose(value, encodings) for value, encodings in self._reaching.items()}
        _Retyping(chosen, self._reaching).run(self._function)

    def _seed(self, program: ProgramShape) -> None:
        for argument in self._function.args:
            self._add_anchor(argument)
        for op in ops_within(self._function):
            if op.results and is_anchor(op, program):
                for result in op.results:
                    self._add_anchor(result)

    def _add_anchor(self, value: SSAValue) -> None:
        if is_tensor(value.type):
            self._reaching[value] = {value.type.encoding: None}

    def _propagate(self) -> None:
        pending = list(self._reaching)
        while pending:
            value = pending.pop()
            encodings = tuple(self._reaching[value])
            for use in tuple(value.uses):
                pending.extend(
                    target
                    for target in _reached_by(use.operation, use.index)
                    if is_tensor(target.type) and self._reach(target, encodings, use.operation)
                )

    def _reach(self, target: SSAValue, encodings: Iterable[Attribute], op: Operation) -> bool:
        """Add what `encodings` of an operand of `op` become at a value; whether that is news."""
        known = self._reaching.get(target)
        news: Encodings = {}
        for encoding in encodings:
            result = encoding if isinstance(op, _HANDING_ON) else infer_result_encoding(op, encoding)
            if result is not None and (known is None or result not in known):
                news[result] = None
        if not news:
            return False
        self._reaching.setdefault(target, {}).update(news)
        return True


_HANDING_ON = (
    ttg.ConvertLayoutOp,
    scf.ForOp,
    scf.IfOp,
    scf.WhileOp,
    scf.YieldOp,
    scf.ConditionOp,
    ttng.WarpGroupDotWaitOp,
    tt.GatherOp,
)
"""Ops through which a value goes as it is, or which can be left out."""


def _reached_by(user: Operation, index: int) -> Iterable[SSAValue]:
    """The values that get their layout from operand `index` of `user`."""
    match user:
        case scf.ForOp() if index >= 3:
            return (user.region_iter_args[index - 3], user.results[index - 3])
        case scf.WhileOp():
            return (user.before_region.block.args[index],)
        case scf.YieldOp():
            return _reached_by_yield(user, index)
        case scf.ConditionOp() if index >= 1:
            loop = user.parent_op()
            assert isinstance(loop, scf.WhileOp)
            return (loop.after_region.block.args[index - 1], loop.results[index - 1])
        case ttng.WarpGroupDotWaitOp():
            return (user.results[index],)
        case tt.GatherOp():
            return (user.result,) if user.efficient_layout is None and index == 1 else ()
        case _ if isinstance(user, (*RESHAPING, ttg.ConvertLayoutOp)) or keeps_layout_class(type(user)):
            return user.results
        case _:
            return ()


def _reached_by_yield(op: scf.YieldOp, index: int) -> Iterable[SSAValue]:
    match op.parent_op():
        case scf.ForOp() as loop:
            return (loop.results[index], loop.region_iter_args[index])
        case scf.IfOp() as conditional:
            return (conditional.results[index],)
        case scf.WhileOp() as loop:
            return (loop.before_region.block.args[index],)
        case _:
            return ()


def _choose(value: SSAValue, encodings: Encodings) -> Attribute:
    """Return which of the layouts that reach a value it takes."""
    first = next(iter(encodings))
    if len(encodings) == 1:
        return first
    preferred = BlockedLayout if isinstance(value.owner, Accesses) else NvidiaMmaLayout
    return next((encoding for encoding in encodings if isinstance(layout_of(encoding), preferred)), first)


class _Retyping:
    """Gives values their chosen layouts, and every op its operands in the layouts that it works in."""

    def __init__(self, chosen: dict[SSAValue, Attribute], reaching: dict[SSAValue, Encodings]) -> None:
        self._chosen = {value: e for value, e in chosen.items() if as_tensor(value.type).encoding != e}
        self._reaching = dict(reaching)
        self._before: dict[SSAValue, Attribute] = {}
        self._converted: dict[tuple[SSAValue, Attribute], SSAValue] = {}

    def run(self, function: tt.FuncOp) -> None:
        """Retypes all values, then visits the ops in order."""
        if not self._chosen:
            return
        retyped: dict[Operation, Attribute] = {}
        for value, encoding in self._chosen.items():
            if isinstance(value, OpResult):
                retyped.setdefault(value.op, encoding)
            self._retype(value, encoding)
        for op in ops_within(function):
            if isinstance(op, ConstantOp):
                restate_constant(op)
            elif any(operand in self._before for operand in op.operands) or op in retyped or isinstance(op, _ENDS):
                self._fix_operands(op, retyped.get(op))

    def _retype(self, value: SSAValue, encoding: Attribute) -> None:
        before = as_tensor(value.type).encoding
        new = Rewriter.replace_value_with_new_type(value, with_encoding(value.type, encoding))
        self._before[new] = before
        self._reaching[new] = self._reaching[value]

    def _fix_operands(self, op: Operation, result_encoding: Attribute | None) -> None:
        match op:
            case ttg.ConvertLayoutOp() | tt.AssertOp():
                return  # take any layout
            case scf.ForOp():
                wanted = [None] * 3 + [argument.type for argument in op.region_iter_args]
            case scf.WhileOp():
                wanted = [argument.type for argument in op.before_region.block.args]
            case scf.ConditionOp():
                loop = op.parent_op()
                assert isinstance(loop, scf.WhileOp)
                wanted = [None, *(result.type for result in loop.results)]
            case scf.YieldOp():
                wanted = yielded_types(op)
            case ttng.WarpGroupDotWaitOp():
                wanted = [result.type for result in op.results]
            case tt.ReduceOp() if not is_tensor(op.results[0].type):
                wanted = self._all_in(op, self._first_chosen(op))
            case tt.GatherOp() if result_encoding is not None:
                wanted = [self._as_before(op.src), with_encoding(op.indices.type, result_encoding)]
            case _ if result_encoding is not None:
                wanted = self._all_in(op, self._operand_encoding(op, result_encoding))
            case _:
                wanted = [self._as_before(operand) for operand in op.operands]
        for index, type in enumerate(wanted):
            operand = op.operands[index]
            if type is not None and is_tensor(operand.type) and operand.type != type:
                op.operands[index] = self._convert(operand, type)

    def _as_before(self, value: SSAValue) -> Attribute:
        before = self._before.get(value)
        return value.type if before is None else with_encoding(value.type, before)

    def _all_in(self, op: Operation, encoding: Attribute) -> list[Attribute | None]:
        return [with_encoding(v.type, encoding) if is_tensor(v.type) else None for v in op.operands]

    def _first_chosen(self, op: Operation) -> Attribute:
        return next(as_tensor(operand.type).encoding for operand in op.operands if operand in self._before)

    def _operand_encoding(self, op: Operation, result_encoding: Attribute) -> Attribute:
        """The layout of operands from which `result_encoding` follows: one that an operand has or had, or the inferred
        one.
        """
        tensors = [operand for operand in op.operands if is_tensor(operand.type)]
        candidates = [as_tensor(operand.type).encoding for operand in tensors]
        candidates += [self._before[operand] for operand in tensors if operand in self._before]
        for encoding in candidates:
            if infer_result_encoding(op, encoding) == result_encoding:
                return encoding
        inferred = infer_operand_encoding(op, result_encoding)
        if inferred is not None or not tensors:
            return result_encoding if inferred is None else inferred
        reaching = (encoding for operand in tensors for encoding in self._reaching.get(operand, ()))
        return next(encoding for encoding in reaching if infer_result_encoding(op, encoding) == result_encoding)

    def _convert(self, value: SSAValue, type: Attribute) -> SSAValue:
        """The value in another layout; made once, right after the value."""
        key = value, type
        if key not in self._converted:
            self._converted[key] = convert_after(value, type)
        return self._converted[key]


def yielded_types(op: scf.YieldOp) -> list[Attribute | None]:
    """The types that the op around a yield expects of it."""
    match op.parent_op():
        case scf.WhileOp() as loop:
            return [argument.type for argument in loop.before_region.block.args]
        case scf.ForOp() | scf.IfOp() as holder:
            return [result.type for result in holder.results]
        case _:
            return [None for _ in op.operands]


def restate_constant(op: ConstantOp) -> None:
    """A constant states its type once more in its value."""
    value, type = op.value, op.result.type
    if is_dense(value) and value.type != type:
        op.properties["value"] = dense_attr(type, value.data)


def convert_after(value: SSAValue, type: Attribute) -> SSAValue:
    """A conversion of a value right after it is made."""
    return OpBuilder.after(value.owner).result(ttg.ConvertLayoutOp(value, type))
