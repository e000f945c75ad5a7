"""Questions about types that many ops ask, and the constraints made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any, TypeGuard, cast, get_args

from typing_extensions import TypeIs, TypeVar
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, InferenceContext, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from tilewright.support.records import dataclass

INDEX = IndexType()
FLOAT_CLASSES: tuple[type[Attribute], ...] = get_args(AnyFloat)
_SHAPED = (TensorType, VectorType, MemRefType, UnrankedTensorType, UnrankedMemRefType)
_SHAPED_CLASSES, _FLOATS = frozenset[type](_SHAPED), frozenset[type](FLOAT_CLASSES)
"""The classes of types are final, so asking for the class itself is enough, and far cheaper than `isinstance`."""


def element_type(type_: Attribute) -> Attribute:
    """The element type of a tensor, vector or memref; any other type itself."""
    shaped: Any = type_  # no `cast`, which is a call
    return shaped.element_type if type(type_) in _SHAPED_CLASSES else type_


def is_tensor(type_: Attribute) -> TypeIs[TensorType[Attribute]]:
    """Return whether a type is a ranked tensor, of whatever elements."""
    return isinstance(type_, TensorType)


def is_vector(type_: Attribute) -> TypeIs[VectorType[Attribute]]:
    """Return whether a type is a vector, of whatever elements."""
    return isinstance(type_, VectorType)


def is_memref(type_: Attribute) -> TypeIs[MemRefType[Attribute]]:
    """Return whether a type is a ranked memref, of whatever elements."""
    return isinstance(type_, MemRefType)


def is_unranked_memref(type_: Attribute) -> TypeIs[UnrankedMemRefType[Attribute]]:
    """Return whether a type is a pointer, ``memref<*xT>``."""
    return isinstance(type_, UnrankedMemRefType)


def as_tensor(type_: Attribute) -> TensorType[Attribute]:
    """A type that is known to be a ranked tensor, seen as one."""
    assert isinstance(type_, TensorType), f"{type_} is not a ranked tensor"
    return cast("TensorType[Attribute]", type_)


def as_vector(type_: Attribute) -> VectorType[Attribute]:
    """A type that is known to be a vector, seen as one."""
    assert isinstance(type_, VectorType), f"{type_} is not a vector"
    return cast("VectorType[Attribute]", type_)


def as_memref(type_: Attribute) -> MemRefType[Attribute]:
    """A type that is known to be a ranked memref, seen as one."""
    assert isinstance(type_, MemRefType), f"{type_} is not a ranked memref"
    return cast("MemRefType[Attribute]", type_)


def shape_of(type_: Attribute) -> tuple[int, ...] | None:
    """The shape of a ranked tensor, vector or memref (dynamic extents as ``DYNAMIC_INDEX``); None of anything else."""
    return type_.get_shape() if isinstance(type_, (TensorType, VectorType, MemRefType)) else None


def has_static_shape(type_: Attribute) -> bool:
    """Return whether a type is a scalar or a ranked container without dynamic extents."""
    if isinstance(type_, (UnrankedTensorType, UnrankedMemRefType)):
        return False
    return DYNAMIC_INDEX not in (shape_of(type_) or ())


@lru_cache(maxsize=1024)
def with_element_type(type_: Attribute, element: Attribute) -> Attribute:
    """A type of the same shape with other elements; for a scalar type the element type itself."""
    match type_:
        case TensorType():
            return TensorType(element, type_.shape, type_.encoding)
        case VectorType():
            return VectorType(element, type_.shape, type_.scalable_dims)
        case UnrankedTensorType():
            return UnrankedTensorType(element)
        case MemRefType():
            return MemRefType(element, type_.shape, type_.layout, type_.memory_space)
        case _:
            return element


def bool_like(type_: Attribute) -> Attribute:
    """``i1`` of the same shape."""
    return with_element_type(type_, i1)


def is_float(type_: Attribute) -> TypeGuard[AnyFloat]:
    """Return whether a type is a scalar floating-point type."""
    return type(type_) in _FLOATS


def is_signless_integer(type_: Attribute) -> TypeGuard[IntegerType]:
    """Return whether a type is ``iN``."""
    known: Any = type_
    return isinstance(type_, IntegerType) and known.signedness.data is Signedness.SIGNLESS


def is_unsigned_integer(type_: Attribute) -> TypeGuard[IntegerType]:
    """Return whether a type is ``uiN``, as elements of tensor descriptors may be."""
    return isinstance(type_, IntegerType) and cast(IntegerType, type_).signedness.data == Signedness.UNSIGNED


def is_integer(type_: Attribute) -> TypeIs[IntegerType]:
    """Return whether a type is an integer of any width and signedness."""
    return isinstance(type_, IntegerType)


def is_integer_or_index(type_: Attribute) -> bool:
    """Return whether a type is ``iN`` or ``index``."""
    return isinstance(type_, IndexType) or is_signless_integer(type_)


def bit_width(type_: Attribute) -> int:
    """The width in bits of a number type; ``index`` counts as 64."""
    known: Any = type_
    if isinstance(type_, IntegerType):
        return known.width.data
    if isinstance(type_, IndexType):
        return 64
    if not isinstance(type_, FixedBitwidthType):
        raise TypeError(f"{type_} has no bit width")
    return type_.bitwidth


def same_shape(left: Attribute, right: Attribute) -> bool:
    """Return whether both are scalars, or containers of one kind and one shape (dynamic extents agree with
    anything).
    """
    if isinstance(left, _SHAPED) != isinstance(right, _SHAPED):
        return False
    if not isinstance(left, _SHAPED):
        return True
    if isinstance(left, VectorType) != isinstance(right, VectorType):
        return False
    left_shape, right_shape = shape_of(cast(Attribute, left)), shape_of(right)
    return left_shape is None or right_shape is None or shapes_agree(left_shape, right_shape)


def shapes_agree(left: Sequence[int], right: Sequence[int]) -> bool:
    """Return whether two shapes have one rank and no two static extents differ."""
    return len(left) == len(right) and all(DYNAMIC_INDEX in (a, b) or a == b for a, b in zip(left, right, strict=True))


@dataclass(frozen=True)
class TypeWhere(AttrConstraint):
    """A type of which a predicate holds; `wanted` says so in error messages. Parsers take only `kinds` of types, if
    some are named."""

    wanted: str
    holds: Callable[[Attribute], bool]
    kinds: tuple[type[Attribute], ...] = ()

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.holds(attr):
            raise VerifyException(f"must be {self.wanted}, but got '{attr}'")

    def mapping_type_vars(self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]) -> TypeWhere:
        return self


@dataclass(frozen=True)
class Derived(AttrConstraint):
    """The type that `function` computes from the constraint variable `variable`.

    Verification raises "failed to verify that {what}". Where the variable is not known yet, the op has to check."""

    variable: str
    function: Callable[[Attribute], Attribute]
    what: str

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        source = constraint_context.get_variable(self.variable)
        if source is None:
            return
        expected = self.function(source)
        if attr != expected:
            raise VerifyException(f"failed to verify that {self.what}: expected {expected}, got {attr}")

    def can_infer(self, var_constraint_names: AbstractSet[str]) -> bool:
        return self.variable in var_constraint_names

    def infer(self, context: InferenceContext) -> Attribute:
        source = context.get_variable(self.variable)
        assert source is not None
        return self.function(source)

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> Derived:
        return self


@dataclass(frozen=True)
class BoolLikeOf(AttrConstraint):
    """``i1`` in the shape of the type that another constraint stands for."""

    shaped: AttrConstraint

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if element_type(attr) != i1:
            raise VerifyException(f"expected i1 or a container of i1, got {attr}")
        shaped = self.shaped.infer(constraint_context)
        if bool_like(shaped) != attr:
            raise VerifyException(f"expected {bool_like(shaped)}, got {attr}")

    def can_infer(self, var_constraint_names: AbstractSet[str]) -> bool:
        return self.shaped.can_infer(var_constraint_names)

    def infer(self, context: InferenceContext) -> Attribute:
        return bool_like(self.shaped.infer(context))

    def mapping_type_vars(self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]) -> BoolLikeOf:
        return self


INTEGER_LIKE = TypeWhere("signless-integer-like", lambda t: is_integer_or_index(element_type(t)) and not _is_memref(t))
FIXED_INTEGER_LIKE = TypeWhere(
    "signless-fixed-width-integer-like", lambda t: is_signless_integer(element_type(t)) and not _is_memref(t)
)
FLOAT_LIKE = TypeWhere("floating-point-like", lambda t: is_float(element_type(t)) and not _is_memref(t))
BOOL_LIKE = TypeWhere("bool-like", lambda t: element_type(t) == i1 and not _is_memref(t))
I64_ATTR = IntegerAttr.constr(i64)
"""An attribute ``4 : i64``, written ``4`` in assembly formats."""
I64_ARRAY = DenseArrayBase.constr(i64)
"""An attribute ``array<i64: 4, 8>``, written ``[4, 8]`` in assembly formats."""
ANY_MEMREF = TypeWhere("a memref", lambda t: _is_memref(t), (MemRefType, UnrankedMemRefType))
ANY_VECTOR = TypeWhere("a vector", lambda t: isinstance(t, VectorType), (VectorType,))
ANY_TENSOR = TypeWhere(
    "a tensor", lambda t: isinstance(t, (TensorType, UnrankedTensorType)), (TensorType, UnrankedTensorType)
)


def _is_memref(type_: Attribute) -> bool:
    return isinstance(type_, (MemRefType, UnrankedMemRefType))
