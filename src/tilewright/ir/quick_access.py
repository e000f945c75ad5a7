"""What passes do with IR all the time, without detours: is this op of that class, what is its operand `lhs`, a new op.

xDSL's classes are abstract in Python's sense, so each `isinstance` runs a function of the module `abc`, and each
accessor of an op builds a view of all operands, of which it takes one. Values and ops as keys call Python for `id`. A
new op takes back operands and successors that it does not have yet. Whether a function uses values from around it is
asked by going up from each operand. Measured on a twenty-fourth of the test suite: 7 %
of the time for the checks, 6 % for the accessors, 3 % for the keys. `make_access_quick` gives these classes a metaclass
whose checks go by inheritance alone (nothing registers as a virtual subclass of theirs) and Python's own identity, and
the accessors and the making of ops straight ways, the last of which takes 7 % off the passes. The ops
of a block come from a generator, in half the time of an iterator's object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.ir.core import BlockOps, OpOperands
from xdsl.irdl import IRDLOperation, VarIRConstruct
from xdsl.irdl.operations import BaseAccessor, BaseAttrAccessor, BeforeVariadicSingleAccessor
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

ROOTS: tuple[type[Any], ...] = (Attribute, Operation, SSAValue, Block, Region)
"""The classes of IR: all others derive from them."""

COMPARED_BY_IDENTITY: tuple[type[Any], ...] = (*ROOTS[1:], IRDLOperation, Use)
"""Classes that say in Python what Python's own objects do: equal is what is the same."""

OPERAND, RESULT, REGION = VarIRConstruct.OPERAND, VarIRConstruct.RESULT, VarIRConstruct.REGION


class ByInheritance(type(Protocol)):
    """A metaclass of abstract classes whose instances are those of the class and of what derives from it.

    It derives from that of protocols, so that a class of IR may be an implementation of one, too.
    """

    __instancecheck__ = type.__instancecheck__


def _with_subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    yield cls
    for derived in type.__subclasses__(cls):
        yield from _with_subclasses(derived)


_item: Callable[[Any, Any], Any] = vars(tuple)["__getitem__"]


def _values_or_value(self: SSAValues[Any], index: int | slice) -> Any:
    found = _item(self, index)
    return SSAValues(found) if found.__class__ is tuple else found


def _operand_or_operands(self: Any, index: int | slice) -> Any:
    return _values_or_value(self._op._operands, index)


def _all(op: Any, construct: VarIRConstruct) -> Sequence[Any]:
    """All operands, results, regions or successors of an op."""
    if construct is OPERAND:
        return op._operands
    if construct is RESULT:
        return op.results
    return op.regions if construct is REGION else op._successors


def _get(self: BaseAccessor, op: Any, owner: object = None) -> Any:
    return self.index(_all(op, self.construct))


def _get_single(self: BeforeVariadicSingleAccessor, op: Any, owner: object = None) -> Any:
    construct = self.construct
    if construct is OPERAND:
        return _item(op._operands, self.idx)
    return _item(op.results if construct is RESULT else _all(op, construct), self.idx)


def _get_by_segments(self: BaseAttrAccessor, op: Any, owner: object = None) -> Any:
    sizes: Any = self.option.container(op)[self.option.attribute_name]
    return self.index(sizes.get_values(), _all(op, self.construct))


_unpack: Callable[[Any], tuple[Any, ...]] = vars(DenseArrayBase)["get_values"]


def _get_values(self: Any) -> tuple[Any, ...]:
    """The numbers of an array, which never change, read from its bytes once."""
    known: tuple[Any, ...] | None = self.__dict__.get("_values")
    if known is None:
        known = self.__dict__["_values"] = _unpack(self)
    return known


def _init_op(
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
    values = self._operands = SSAValues(operands)
    uses: list[Use] = []
    for index, value in enumerate(values):
        use = Use(self, index)
        value.add_use(use)
        uses.append(use)
    self._operand_uses = tuple(uses)
    self.results = SSAValues([OpResult(result, self, index) for index, result in enumerate(result_types)])
    self.properties = dict(properties)
    self.attributes = dict(attributes)
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = successors
    for region in regions:
        self.add_region(region)
    self.__post_init__()


def _ops_of_block(self: BlockOps) -> Iterator[Operation]:
    """Yield the ops of a block. The one that was yielded last may be moved or erased."""
    op: Any = self.block.first_op
    while op is not None:
        following = op._next_op
        yield op
        op = following


def _verify_isolation(self: IsolatedFromAbove, op: Operation) -> None:
    """Check that the ops in `op` use values from within alone: one walk notes what is there, another looks it up."""
    found: set[Operation | Block] = set()
    users: list[Operation] = []
    regions = list(op.regions)
    while regions:
        for block in regions.pop().blocks:
            found.add(block)
            for inner in block.ops:
                found.add(inner)
                users.append(inner)
                if not inner.has_trait(IsolatedFromAbove):
                    regions += inner.regions
    for user in users:
        for operand in user.operands:
            if operand.owner not in found:
                raise VerifyException(f"Operation using value defined out of its IsolatedFromAbove parent: {user}")


REPLACED: tuple[tuple[type[Any], str, Callable[..., Any]], ...] = (
    (SSAValues, "__getitem__", _values_or_value),
    (OpOperands, "__getitem__", _operand_or_operands),
    (BaseAccessor, "__get__", _get),
    (BeforeVariadicSingleAccessor, "__get__", _get_single),
    (BaseAttrAccessor, "__get__", _get_by_segments),
    (DenseArrayBase, "get_values", _get_values),
    (Operation, "__init__", _init_op),
    (BlockOps, "__iter__", _ops_of_block),
    (IsolatedFromAbove, "verify", _verify_isolation),
    *((cls, name, getattr(object, name)) for cls in COMPARED_BY_IDENTITY for name in ("__eq__", "__hash__")),
)
"""Classes of xDSL, and methods of theirs that mean the same as before."""


@cache
def make_access_quick() -> None:
    """Change the classes of xDSL, once; what is derived from them later is like them."""
    for root in ROOTS:
        for cls in set(_with_subclasses(root)):
            setattr(cls, "__class__", ByInheritance)  # noqa: B010 (pyright takes it for an instance's)
    for cls, name, method in REPLACED:
        setattr(cls, name, method)
    operands: Any = vars(Operation)["operands"]
    setattr(Operation, "operands", property(OpOperands, operands.fset))  # noqa: B010
