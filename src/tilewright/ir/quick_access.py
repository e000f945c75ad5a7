"""What passes do with IR all the time, without detours: is this op of that class, what is its operand `lhs`, a new op.

xDSL's classes are abstract in Python's sense, so each `isinstance` runs a function of the module `abc`, and each
accessor of an op builds a view of all operands, of which it takes one. Values and ops as keys call Python for `id`. A
new op takes back operands and successors that it does not have yet. Whether a function uses values from around it is
asked by going up from each operand. Measured on a twenty-fourth of the test suite: 7 %
of the time for the checks, 6 % for the accessors, 3 % for the keys. `make_access_quick` gives these classes a metaclass
whose checks go by inheritance alone (nothing registers as a virtual subclass of theirs) and Python's own identity, and
the accessors and the making of ops straight ways, the last of which takes 7 % off the passes. The ops
of a block come from a generator, in half the time of an iterator's object. Properties that give a field are read
without a frame of Python's (90 -> 45 ns), and what follows from an op's class alone is found once a class: the defaults
of its attributes, which no op of most classes has (1.9 -> 0.3 us an op), and its traits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Protocol

from xdsl.dialects.builtin import DenseArrayBase, MemRefType, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.ir.core import BlockOps, IRUses, IRWithName, IRWithUses, RegionBlocks
from xdsl.irdl import IRDLOperation, VarIRConstruct
from xdsl.irdl.operations import BaseAccessor, BaseAttrAccessor, BeforeVariadicSingleAccessor
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tilewright.ir.quick_ops import (
    attach_op,
    drop_references_of_op,
    erase_op,
    fill_in_defaults,
    init_op,
    replace_all_uses_with,
    set_operands,
)

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


def _all(op: Any, construct: VarIRConstruct) -> Sequence[Any]:
    """All operands, results, regions or successors of an op."""
    if construct is OPERAND:
        return op._operands
    if construct is RESULT:
        return op.results
    return op.regions if construct is REGION else op._successors


def _as_values(found: Any, construct: VarIRConstruct) -> Any:
    """Have several operands or results be a sequence that knows their types."""
    is_plain = found.__class__ is tuple and construct in (OPERAND, RESULT)
    return SSAValues(found) if is_plain else found


def _get(self: BaseAccessor, op: Any, owner: object = None) -> Any:
    return _as_values(self.index(_all(op, self.construct)), self.construct)


def _get_single(self: BeforeVariadicSingleAccessor, op: Any, owner: object = None) -> Any:
    construct = self.construct
    if construct is OPERAND:
        return _item(op._operands, self.idx)
    return _item(op.results if construct is RESULT else _all(op, construct), self.idx)


def _get_by_segments(self: BaseAttrAccessor, op: Any, owner: object = None) -> Any:
    sizes: Any = self.option.container(op)[self.option.attribute_name]
    return _as_values(self.index(sizes.get_values(), _all(op, self.construct)), self.construct)


_unpack: Callable[[Any], tuple[Any, ...]] = vars(DenseArrayBase)["get_values"]


def _get_values(self: Any) -> tuple[Any, ...]:
    """The numbers of an array, which never change, read from its bytes once."""
    known: tuple[Any, ...] | None = self.__dict__.get("_values")
    if known is None:
        known = self.__dict__["_values"] = _unpack(self)
    return known


def _types_of(values: Sequence[Any]) -> tuple[Attribute, ...]:
    return tuple([value._type for value in values])


def _find_traits(cls: Any, kind: Any) -> list[Any]:
    """The traits of an op class that are of a kind: a class of traits, or a trait."""
    known = _found_traits.get((cls, kind))
    if known is not None and known[0] is cls.traits._traits:
        return known[1]
    traits = cls.traits.traits
    found = [trait for trait in traits if (isinstance(trait, kind) if isinstance(kind, type) else trait == kind)]
    _found_traits[cls, kind] = traits, found
    return found


_found_traits: dict[tuple[Any, Any], tuple[Any, list[Any]]] = {}
"""What `_find_traits` found, with the set of traits that it looked through: classes may be given further ones."""


def _get_trait(cls: Any, trait: Any) -> Any:
    known = _found_traits.get((cls, trait))
    found = known[1] if known is not None and known[0] is cls.traits._traits else _find_traits(cls, trait)
    return found[0] if found else None


def _get_traits_of_type(cls: Any, trait_type: Any) -> list[Any]:
    return list(_find_traits(cls, trait_type))


def _blocks_of_region(self: Any) -> Iterator[Block]:
    """Yield the blocks of a region. The one that was yielded last stays in its place."""
    block: Any = self._region.first_block
    while block is not None:
        following = block._next_block
        yield block
        block = following


def _get_shape(self: Any) -> tuple[int, ...]:
    """The extents of a type, which never change, gathered once."""
    known: tuple[int, ...] | None = self.__dict__.get("_extents")
    if known is None:
        known = self.__dict__["_extents"] = tuple([extent.data for extent in self.shape.data])
    return known


@lru_cache(maxsize=4096)
def _valid_name(name: str) -> str:
    return _extract_valid_name(name)


_extract_valid_name: Callable[[str], str] = SSAValue.extract_valid_name


def _set_name(self: Any, name: str | None) -> None:
    self._name = None if name is None else _valid_name(name)


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
    (BaseAccessor, "__get__", _get),
    (BeforeVariadicSingleAccessor, "__get__", _get_single),
    (BaseAttrAccessor, "__get__", _get_by_segments),
    (DenseArrayBase, "get_values", _get_values),
    (Operation, "__init__", init_op),
    (IRDLOperation, "__post_init__", fill_in_defaults),
    (SSAValue, "replace_all_uses_with", replace_all_uses_with),
    (Operation, "drop_all_references", drop_references_of_op),
    (Operation, "erase", erase_op),
    (Block, "_attach_op", attach_op),
    (RegionBlocks, "__iter__", _blocks_of_region),
    (TensorType, "get_shape", _get_shape),
    (MemRefType, "get_shape", _get_shape),
    (BlockOps, "__iter__", _ops_of_block),
    (IsolatedFromAbove, "verify", _verify_isolation),
    *((cls, name, getattr(object, name)) for cls in COMPARED_BY_IDENTITY for name in ("__eq__", "__hash__")),
)
"""Classes of xDSL, and methods of theirs that mean the same as before."""

FIELDS: tuple[tuple[type[Any], str, str], ...] = (
    (SSAValue, "type", "_type"),
    (OpResult, "owner", "op"),
    (BlockArgument, "owner", "block"),
    (Use, "operation", "_operation"),
    (Use, "index", "_index"),
    (Operation, "next_op", "_next_op"),
    (Operation, "prev_op", "_prev_op"),
    (Operation, "parent_node", "parent"),
    (Block, "first_op", "_first_op"),
    (Block, "last_op", "_last_op"),
    (Block, "next_block", "_next_block"),
    (Block, "prev_block", "_prev_block"),
    (Block, "parent_node", "parent"),
    (Block, "args", "_args"),
    (Region, "first_block", "_first_block"),
    (Region, "last_block", "_last_block"),
    (Region, "parent_node", "parent"),
)
"""Properties that cannot be set, and the fields that they give."""


@cache
def make_access_quick() -> None:
    """Change the classes of xDSL, once; what is derived from them later is like them."""
    for root in ROOTS:
        for cls in set(_with_subclasses(root)):
            setattr(cls, "__class__", ByInheritance)  # noqa: B010 (pyright takes it for an instance's)
    for cls, name, method in REPLACED:
        setattr(cls, name, method)
    for cls, name, field in FIELDS:
        setattr(cls, name, property(attrgetter(field)))
    delattr(SSAValues, "__getitem__")  # tuples have it
    setattr(Operation, "operands", property(attrgetter("_operands"), set_operands))  # noqa: B010
    setattr(IRWithName, "name_hint", property(attrgetter("_name"), _set_name))  # noqa: B010
    setattr(IRWithUses, "uses", property(IRUses))  # noqa: B010
    setattr(Block, "ops", property(BlockOps))  # noqa: B010
    setattr(Region, "blocks", property(RegionBlocks))  # noqa: B010
    setattr(Operation, "result_types", property(lambda op: _types_of(op.results)))  # noqa: B010
    setattr(Operation, "operand_types", property(lambda op: _types_of(op._operands)))  # noqa: B010
    setattr(Operation, "get_trait", classmethod(_get_trait))  # noqa: B010
    setattr(Operation, "get_traits_of_type", classmethod(_get_traits_of_type))  # noqa: B010
