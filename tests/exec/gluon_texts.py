"""When two modules at the ttg stage say the same: the same effects in the same order, on values computed alike."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import make_context
from tilewright.ir.effects import is_pure
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_attribute

UNSAID = {"ttng.two-ctas", "tilewright.noalias", "read_only", "tt.divisibility", "noinline"}
"""Attributes that only one of the two writes, and that say nothing about layouts: two CTAs that share a product are of
Blackwell, and a wait for copies out of shared memory is for their reads in either."""


class _Meaning:
    """Values by what they are computed from; arguments of blocks by when they are met."""

    def __init__(self) -> None:
        self._values: dict[SSAValue, Any] = {}
        self._met = 0

    def of_block(self, block: Block) -> list[Any]:
        for argument in block.args:
            self._met += 1
            self._values[argument] = ("argument", self._met, print_attribute(argument.type))
        steps: list[Any] = []
        for op in block.ops:
            meaning = self._of_op(op)
            for index, result in enumerate(op.results):
                self._values[result] = (index, meaning)
            if not is_pure(op) or not op.results:
                steps.append(meaning)
        return steps

    def _of_op(self, op: Operation) -> Any:
        operands = tuple(self._values[operand] for operand in op.operands)
        regions = tuple(tuple(self.of_block(block)) for region in op.regions for block in region.blocks)
        types = tuple(print_attribute(result.type) for result in op.results)
        said = {**op.properties, **op.attributes}
        return (op.name, tuple(sorted(_texts(said))), types, operands, regions)


def _texts(attributes: dict[str, Attribute]) -> list[tuple[str, str]]:
    return [(name, print_attribute(value)) for name, value in attributes.items() if name not in UNSAID]


def meaning_of(text: str) -> Any:
    """What a module's text says, comparable."""
    module = parse_module(text, make_context(), "module.ttgir")
    return _Meaning().of_block(module.body.block)


def attributes_of(text: str) -> list[tuple[str, str]]:
    """The attributes of a module."""
    module: ModuleOp = parse_module(text, make_context(), "module.ttgir")
    return sorted(_texts(dict(module.attributes)))
