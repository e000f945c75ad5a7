"""`remove-dead-values`: values that matter to nobody, also where loops, branches and calls pass them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects import cf, func, scf, tt
from tilewright.dialects.construction import segment_sizes
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.value_liveness import Func, ValueLiveness

T = TypeVar("T")


def _kept(values: Sequence[T], keep: Sequence[bool]) -> list[T]:
    return [value for value, kept in zip(values, keep, strict=True) if kept]


class _Remover:
    """Takes dead values out of the operands of terminators and carriers, then erases dead ops, then rebuilds what has
    fewer results or arguments than before."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._live = ValueLiveness(module)
        self._dead_arguments: list[tuple[Block, list[int]]] = []
        self._rebuilds: list[tuple[Operation, list[bool], list[bool]]] = []

    def run(self) -> None:
        ops = ops_within(self._module)
        dead = [op for op in ops if self._is_dead(op)]
        gone = set(dead)
        for op in ops:
            if op.regions and op not in gone:
                self._shrink(op)
        # Dead operands first: one loop may hand on what is dead in another one around it, which is taken away next.
        for op, keep_operands, _ in self._rebuilds:
            op.operands = _kept(op.operands, keep_operands)
        self._erase(dead)
        for block, indices in self._dead_arguments:
            for index in reversed(indices):
                block.erase_arg(block.args[index])
        for op, _, keep_results in self._rebuilds:
            self._rebuild(op, keep_results)

    def _is_dead(self, op: Operation) -> bool:
        if self._live.is_live_op(op) or isinstance(op, ModuleOp | Func):
            return False
        if op.has_trait(IsTerminator, value_if_unregistered=False):
            return False
        parent = op.parent_op()
        return parent is not None and not isinstance(parent, ModuleOp)

    def _flags(self, values: Sequence[SSAValue]) -> list[bool]:
        return [self._live.is_live(value) for value in values]

    def _drop_arguments(self, block: Block, keep: Sequence[bool], first: int = 0) -> None:
        self._dead_arguments.append((block, [first + i for i, kept in enumerate(keep) if not kept]))

    def _shrink(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._shrink_for(op)
            case scf.IfOp():
                self._shrink_if(op)
            case scf.WhileOp():
                self._shrink_while(op)
            case tt.FuncOp() | func.FuncOp():
                self._shrink_function(op)
            case _:
                pass
        for region in op.regions:
            first = region.blocks.first
            block = None if first is None else first.next_block
            while block is not None:
                self._shrink_block(block)
                block = block.next_block

    def _shrink_for(self, op: scf.ForOp) -> None:
        keep = [
            self._live.is_live(result) or self._live.is_live(argument)
            for result, argument in zip(op.results, op.region_iter_args, strict=True)
        ]
        if all(keep):
            return
        terminator = op.body.block.last_op
        assert terminator is not None
        terminator.operands = _kept(terminator.operands, keep)
        self._drop_arguments(op.body.block, keep, 1)
        self._rebuilds.append((op, [True, True, True, *keep], keep))

    def _shrink_if(self, op: scf.IfOp) -> None:
        keep = self._flags(op.results)
        if all(keep):
            return
        for region in op.regions:
            terminator = region.block.last_op
            assert terminator is not None
            terminator.operands = _kept(terminator.operands, keep)
        self._rebuilds.append((op, [True], keep))

    def _shrink_while(self, op: scf.WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        keep_in = self._flags(before.args)
        keep_out = [
            self._live.is_live(result) or self._live.is_live(argument)
            for result, argument in zip(op.results, after.args, strict=True)
        ]
        if all(keep_in) and all(keep_out):
            return
        condition, step = before.last_op, after.last_op
        assert condition is not None and step is not None
        condition.operands = [condition.operands[0], *_kept(condition.operands[1:], keep_out)]
        step.operands = _kept(step.operands, keep_in)
        self._drop_arguments(before, keep_in)
        self._drop_arguments(after, keep_out)
        self._rebuilds.append((op, keep_in, keep_out))

    def _shrink_block(self, block: Block) -> None:
        keep = self._flags(block.args)
        if all(keep):
            return
        for predecessor in dict.fromkeys(block.predecessors()):
            last = predecessor.last_op
            if isinstance(last, cf.BranchOp):
                last.operands = _kept(last.operands, keep)
            elif isinstance(last, cf.ConditionalBranchOp):
                then, otherwise = list(last.then_arguments), list(last.else_arguments)
                then = _kept(then, keep) if last.then_block is block else then
                otherwise = _kept(otherwise, keep) if last.else_block is block else otherwise
                last.operands = [last.cond, *then, *otherwise]
                last.properties["operandSegmentSizes"] = segment_sizes(1, len(then), len(otherwise))
            else:
                return
        self._drop_arguments(block, keep)

    def _shrink_function(self, function: Func) -> None:
        if not self._live.can_change(function):
            return
        calls = self._live.calls_of(function)
        entry = function.body.blocks.first
        assert entry is not None
        keep_in = self._flags(entry.args)
        outputs = function.function_type.outputs.data
        keep_out = [any(self._live.is_live(call.results[i]) for call in calls) for i in range(len(outputs))]
        if all(keep_in) and all(keep_out):
            return
        for block in function.body.blocks:
            last = block.last_op
            if isinstance(last, tt.ReturnOp | func.ReturnOp):
                last.operands = _kept(last.operands, keep_out)
        self._drop_arguments(entry, keep_in)
        function.properties["function_type"] = FunctionType.from_lists(
            _kept(function.function_type.inputs.data, keep_in), _kept(outputs, keep_out)
        )
        _shrink_attributes(function, "arg_attrs", keep_in)
        _shrink_attributes(function, "res_attrs", keep_out)
        for call in calls:
            if self._live.is_live_op(call):
                self._rebuilds.append((call, keep_in, keep_out))

    @staticmethod
    def _erase(dead: Sequence[Operation]) -> None:
        for op in dead:
            op.operands = ()
        for op in reversed(dead):
            if op.parent is not None:
                op.detach()
                op.erase(safe_erase=False)

    @staticmethod
    def _rebuild(op: Operation, keep_results: list[bool]) -> None:
        if op.parent is None:
            return
        new = type(op).create(
            operands=op.operands,
            result_types=[result.type for result in _kept(op.results, keep_results)],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in tuple(op.regions)],
            location=op.location,
        )
        op.parent.insert_op_before(new, op)
        for old, result in zip(_kept(op.results, keep_results), new.results, strict=True):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        op.detach()
        op.erase()


def _shrink_attributes(function: Func, name: str, keep: Sequence[bool]) -> None:
    attributes = function.properties.get(name)
    if isinstance(attributes, ArrayAttr):
        kept = _kept(cast(ArrayAttr[DictionaryAttr], attributes).data, keep)
        function.properties[name] = ArrayAttr(kept)


def remove_dead_values(module: ModuleOp) -> None:
    """Remove every op, carried value, block argument, and argument or result of a private function that is dead."""
    _Remover(module).run()


@register_pass
class RemoveDeadValuesPass(Pass):
    """Removes values that no visible effect depends on, including values that only feed each other around a loop.

    Before:
    ```mlir
    %r:2 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %y) -> (f32, i32) {
      %c = arith.addi %b, %k : i32           // only ever computes itself
      scf.yield %a, %c : f32, i32
    }
    "test.use"(%r#0) : (f32) -> ()
    ```
    After:
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%a = %x) -> (f32) {
      scf.yield %a : f32
    }
    "test.use"(%r) : (f32) -> ()
    ```
    """

    name = "remove-dead-values"
    title = "RemoveDeadValues"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        remove_dead_values(module)
