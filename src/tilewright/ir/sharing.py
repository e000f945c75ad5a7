"""Attributes that share their parts: hashed once, compared by identity first.

MLIR keeps equal attributes once. In xDSL each is an object of its own, whose hash and comparison go through all parts,
and through a part that is used twice twice: what 25 aliases make, of which each names the one before it twice, has
2^25 leaves as a tree. `share_parts` gives the classes whose attributes can have several parts that are
attributes a hash that is computed once, a comparison that remembers what it found equal, and a bounded text. Types and
constants, by which ops and facts are looked up, get the hash alone: three quarters of all hashes were of their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    TensorType,
    TupleType,
    VectorType,
)
from xdsl.ir import Attribute

SHARING_CLASSES: tuple[type[Attribute], ...] = (
    ArrayAttr,
    DictionaryAttr,
    TupleType,
    FunctionType,
    NameLoc,
    CallSiteLoc,
    FusedLoc,
)

HASHED_ONCE: tuple[type[Attribute], ...] = (
    *(TensorType, MemRefType, VectorType, IntegerType, IndexType, NoneAttr),
    *(BFloat16Type, Float16Type, Float32Type, Float64Type),
    *(IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr),
)


def hash_once(cls: type[Any]) -> Callable[[Any], int]:
    """Have an attribute of a class compute its hash once; returns that method."""
    hash_of_parts: Callable[[Any], int] = getattr(cls, "__hash__")  # noqa: B009 (of instances)

    def hash_once(self: Any) -> int:
        try:
            return self._hash
        except AttributeError:
            known = self.__dict__["_hash"] = hash_of_parts(self)
            return known

    setattr(cls, "__hash__", hash_once)  # noqa: B010 (pyright takes it for an instance's)
    return hash_once


def _share(cls: type[Any]) -> None:
    """Replace the methods of one class."""
    parts_are_equal: Callable[[Any, Any], bool] = getattr(cls, "__eq__")  # noqa: B009
    hash_of = hash_once(cls)

    def is_equal(self: Any, other: object) -> Any:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        if self.__dict__.get("_equal") is other:
            return True
        mine, others = self.__dict__.get("_hash"), other.__dict__.get("_hash")
        if mine is None or others is None:
            mine, others = hash_of(self), hash_of(other)
        if mine != others or not parts_are_equal(self, other):
            return False
        self.__dict__["_equal"] = other
        return True

    methods = {"__eq__": is_equal, "__str__": _text, "__repr__": _text}
    for name, method in methods.items():
        setattr(cls, name, method)


def _compare_hashes_first(cls: type[Any]) -> None:
    """Compare the attributes of a class by identity, then by the hashes that are known, then by their parts."""
    parts_are_equal: Callable[[Any, Any], bool] = getattr(cls, "__eq__")  # noqa: B009

    def is_equal(self: Any, other: object) -> Any:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        mine, others = self.__dict__.get("_hash"), other.__dict__.get("_hash")
        return (mine is None or others is None or mine == others) and parts_are_equal(self, other)

    setattr(cls, "__eq__", is_equal)  # noqa: B010


def _text(self: Any) -> str:
    from tilewright.ir.printing import print_attribute

    return print_attribute(self)


@cache
def share_parts() -> None:
    """Replace the methods of all classes, once."""
    for cls in SHARING_CLASSES:
        _share(cls)
    for cls in HASHED_ONCE:
        hash_once(cls)
        _compare_hashes_first(cls)
