"""Making, changing and erasing ops, as xDSL means it, without detours (see `quick_access.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import IRDLOperation, OptionalDef


class OperandsOf(SSAValues[Any]):
    """The operands of an op, which also set one: what `op.operands` gives, without a view around it."""

    op: Any

    def __setitem__(self, index: int, value: SSAValue) -> None:
        """Give the op another operand: it gets another tuple."""
        op = self.op
        operands, use = list(op._operands), op._operand_uses[index]
        operands[index].remove_use(use)
        value.add_use(use)
        operands[index] = value
        op._operands = _operands_of(op, operands)


def _operands_of(op: Any, values: Sequence[SSAValue]) -> OperandsOf:
    operands = OperandsOf(values)
    operands.op = op
    return operands


def set_operands(self: Any, values: Sequence[SSAValue]) -> None:
    """Give an op other operands. One that was erased has operands, but no uses of them any more."""
    for operand, use in zip(self._operands, self._operand_uses, strict=False):
        operand.remove_use(use)
    _use_operands(self, values)


def _use_operands(op: Any, values: Sequence[SSAValue]) -> None:
    """Give an op that has no operands some."""
    operands = op._operands = _operands_of(op, values)
    uses: list[Use] = []
    for index, value in enumerate(operands):
        use: Any = _new(Use)
        use._operation = op
        use._index = index
        use._prev_use = None
        following: Any = value.first_use
        use._next_use = following
        if following is not None:
            following._prev_use = use
        value.first_use = use
        uses.append(use)
    op._operand_uses = tuple(uses)


_new: Callable[[type[Any]], Any] = object.__new__


def init_op(
    self: Any,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = MappingProxyType({}),
    attributes: Mapping[str, Attribute] = MappingProxyType({}),
    location: LocationAttr | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Initialise an op, which has nothing yet that would have to be taken back."""
    _use_operands(self, operands)
    self.results = SSAValues([OpResult(result, self, index) for index, result in enumerate(result_types)])
    self.properties = dict(properties)
    self.attributes = dict(attributes)
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = successors
    for region in regions:
        self.add_region(region)
    self.__post_init__()


@cache
def _defaults(cls: type[IRDLOperation]) -> tuple[tuple[tuple[str, Attribute], ...], ...]:
    """Return the properties and the attributes that the ops of a class have where nothing else is said."""
    definition = cls.get_irdl_definition()
    return tuple(
        tuple(
            (name, field.default_value)
            for name, field in fields.items()
            if not isinstance(field, OptionalDef) and field.default_value is not None
        )
        for fields in (definition.properties, definition.attributes)
    )


def fill_in_defaults(self: Any) -> None:
    properties, attributes = _defaults(self.__class__)
    for name, value in properties:
        self.properties.setdefault(name, value)
    for name, value in attributes:
        self.attributes.setdefault(name, value)


def replace_all_uses_with(self: Any, value: Any) -> None:
    """Have all users of a value use another one, in the order in which xDSL does."""
    if value is self:
        return
    use = self.first_use
    self.first_use = None
    while use is not None:
        following, op = use._next_use, use._operation
        operands = list(op._operands)
        operands[use._index] = value
        op._operands = _operands_of(op, operands)
        value.add_use(use)
        use = following
    if value._name is None:
        value._name = self._name


def drop_references_of_op(self: Any) -> None:
    """Have an op that goes use nothing, nor what it holds."""
    self.parent = None
    for operand, use in zip(self._operands, self._operand_uses, strict=False):
        previous, following = use._prev_use, use._next_use
        if following is not None:
            following._prev_use = previous
        if previous is None:
            operand.first_use = following
        else:
            previous._next_use = following
    self._operand_uses = ()
    if self._successors:
        for successor, use in zip(self._successors, self._successor_uses, strict=True):
            successor.remove_use(use)
        self._successor_uses = ()
        self._successors = ()
    for region in self.regions:
        region.drop_all_references()


def erase_op(self: Any, safe_erase: bool = True, drop_references: bool = True) -> None:
    """Erase a detached op. Raises where a result is used and `safe_erase` is set."""
    assert self.parent is None, "Operation with parents should first be detached before erasure."
    if drop_references:
        self.drop_all_references()
    for result in self.results:
        if result.first_use is not None:
            result.erase(safe_erase=safe_erase)


def attach_op(self: Any, op: Any) -> None:
    """Make a block the parent of an op that has none and that it is not in: an op without regions holds no block."""
    if op.parent is not None:
        raise ValueError("Can't add to a block an operation already attached to a block.")
    if op.regions and op.is_ancestor(self):
        raise ValueError("Can't add an operation to a block contained in the operation.")
    op.parent = self
