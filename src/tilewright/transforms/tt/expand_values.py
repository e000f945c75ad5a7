"""One value becomes several, throughout a module: what the rewrites of block pointers and descriptors share.

A value of a type that is to go (a block pointer, say) is replaced by its components (base, extents, strides, offsets).
`ValueExpander` carries the components through loops, conditionals, branches, calls and function signatures; a subclass
says what the components of a type are, and rewrites the ops that make and use such values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilewright.dialects import arith, cf, scf, tt
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.functions import NO_ATTRIBUTES
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.dominance import DominatorTree
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.regions import simplify_regions


class ValueExpander(ABC):
    """Replaces every value of certain types by its components, in one walk over the module."""

    pass_name: str = ""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._components: dict[SSAValue, list[SSAValue]] = {}
        self._replaced: list[Operation] = []
        self._replaced_arguments: list[BlockArgument] = []

    @abstractmethod
    def component_types(self, type: Attribute) -> list[Attribute] | None:
        """The types of the components of a value of `type`; None for types that stay."""

    @abstractmethod
    def visit(self, op: Operation) -> bool:
        """Rewrite an op that makes or uses expanded values; returns whether the op was one of those."""

    def run(self) -> bool:
        """Rewrite the module; returns whether there was anything to rewrite.

        Raises PassError where an op takes such a value and is not known to."""
        if all(self.component_types(type) is None for type in self._types().values()):
            return False
        simplify_regions(self._module)
        for op in tuple(self._module.ops):
            if isinstance(op, tt.FuncOp):
                self._expand_signature(op)
                self._visit_region(op.body)
        for op in reversed(self._replaced):
            if op.parent is not None:
                op.detach()
            op.erase()
        for argument in self._replaced_arguments:
            argument.block.erase_arg(argument)
        return True

    def components(self, value: SSAValue) -> list[SSAValue]:
        """The components of a value that was defined before."""
        return self._components[value]

    def define(self, op: Operation, components: Sequence[SSAValue]) -> None:
        """Record the components of the only result of `op`; the op goes at the end."""
        self._components[op.results[0]] = list(components)
        self._replaced.append(op)

    def _types(self) -> dict[int, Attribute]:
        """The types of all values by identity: hashing each costs more than asking about some twice."""
        types: dict[int, Attribute] = {}
        for op in ops_within(self._module):
            for result in op.results:
                types[id(result.type)] = result.type
            for region in op.regions:
                for block in region.blocks:
                    types.update((id(type), type) for type in block.arg_types)
        return types

    def _expand_types(self, types: Sequence[Attribute]) -> list[Attribute]:
        return [part for type in types for part in (self.component_types(type) or (type,))]

    def _expand(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [part for value in values for part in self._components.get(value, (value,))]

    def _is_expanded(self, values: Sequence[SSAValue]) -> bool:
        return any(value in self._components for value in values)

    def _expand_signature(self, func: tt.FuncOp) -> None:
        inputs, outputs = func.function_type.inputs.data, func.function_type.outputs.data
        new_inputs, new_outputs = self._expand_types(inputs), self._expand_types(outputs)
        if list(inputs) == new_inputs and list(outputs) == new_outputs:
            return
        if func.arg_attrs is not None:
            attributes: list[DictionaryAttr] = []
            for type, attrs in zip(inputs, func.arg_attrs, strict=True):
                parts = self.component_types(type)
                attributes.extend([attrs] if parts is None else [NO_ATTRIBUTES] * len(parts))
            func.properties["arg_attrs"] = ArrayAttr(attributes)
        func.properties["function_type"] = FunctionType.from_lists(new_inputs, new_outputs)

    def _visit_region(self, region: Region) -> None:
        first = region.blocks.first
        if first is None:
            return
        blocks = [first] if first.next_block is None else DominatorTree(region).order
        for block in blocks:
            self._expand_arguments(block)
        for block in blocks:
            for op in tuple(block.ops):
                if not self.visit(op):
                    self._visit_other(op)

    def _expand_arguments(self, block: Block) -> None:
        """Put the components of each argument after it; the argument itself goes at the end."""
        for argument in tuple(block.args):
            types = self.component_types(argument.type)
            if types is None:
                continue
            start = argument.index + 1
            self._components[argument] = [
                block.insert_arg(type, start + offset, argument.location) for offset, type in enumerate(types)
            ]
            self._replaced_arguments.append(argument)

    def _visit_other(self, op: Operation) -> None:
        match op:
            case scf.ForOp() | scf.IfOp() | scf.WhileOp() | tt.CallOp():
                self._visit_carrier(op)
            case _ if not self._is_expanded(op.operands):
                for region in op.regions:
                    self._visit_region(region)
            case scf.YieldOp() | scf.ConditionOp() | cf.BranchOp() | tt.ReturnOp():
                op.operands = self._expand(op.operands)
            case cf.ConditionalBranchOp():
                then, otherwise = self._expand(op.then_arguments), self._expand(op.else_arguments)
                op.operands = [op.cond, *then, *otherwise]
                op.properties["operandSegmentSizes"] = segment_sizes(1, len(then), len(otherwise))
            case arith.SelectOp():
                self._visit_select(op)
            case _:
                value = next(operand for operand in op.operands if operand in self._components)
                raise op_error(op, f"'{op.name}' cannot take a value of type {value.type}", pass_name=self.pass_name)

    def _visit_carrier(self, op: Operation) -> None:
        """Rebuild an op that carries values through its regions (or a callee) with the components in their place."""
        types = self._expand_types(op.result_types)
        if types == list(op.result_types) and not self._is_expanded(op.operands):
            for region in op.regions:
                self._visit_region(region)
            return
        new = type(op).create(
            operands=self._expand(op.operands),
            result_types=types,
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in tuple(op.regions)],
            location=op.location,
        )
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        op.detach()
        op.operands = ()
        self._replaced.append(op)
        self._map_results(op, new)
        for region in new.regions:
            self._visit_region(region)

    def _map_results(self, old: Operation, new: Operation) -> None:
        results = iter(new.results)
        for result in old.results:
            types = self.component_types(result.type)
            if types is None:
                replacement = next(results)
                replacement.name_hint = result.name_hint
                result.replace_all_uses_with(replacement)
            else:
                self._components[result] = [next(results) for _ in types]

    def _visit_select(self, op: arith.SelectOp) -> None:
        condition, then, otherwise = op.operands
        builder = OpBuilder.before(op)
        chosen = [
            a if a is b else builder.result(arith.SelectOp(condition, a, b))
            for a, b in zip(self.components(then), self.components(otherwise), strict=True)
        ]
        self.define(op, chosen)
