"""Combine regions for tests of reductions and scans: as text, and as what they mean on arrays."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from simulated import DTYPES

from suite.arrays import Array

Row = list[Array]
"""One array per operand."""

NUMBERS = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")


@dataclass(frozen=True)
class Case:
    """A region on operands of some types; `combine(earlier, later)` on arrays."""

    elements: tuple[str, ...]
    body: str
    returned: str
    combine: Callable[[Row, Row], Row]

    def region(self, terminator: str) -> str:
        """The region's text; arguments are %a0, ... of earlier and %b0, ... of later elements."""
        arguments = [f"%{side}{i}: {element}" for side in "ab" for i, element in enumerate(self.elements)]
        return (
            f"({{\n^bb0({', '.join(arguments)}):\n{self.body}\n"
            f"{terminator} {self.returned} : {', '.join(self.elements)}\n}})"
        )

    def contents(self, shape: tuple[int, ...], seed: int) -> Row:
        """Small numbers, so that sums are exact; a second operand has all different ones."""
        rng = np.random.default_rng(seed)
        first = rng.integers(-3, 4, shape).astype(DTYPES[self.elements[0]])
        if len(self.elements) == 1:
            return [first]
        return [first, rng.permutation(int(np.prod(shape))).reshape(shape).astype(DTYPES[self.elements[1]])]


def simple(element: str, operation: str, meaning: Callable[[Array, Array], Array]) -> Case:
    """A region of one operation."""
    body = f"%r = arith.{operation} %a0, %b0 : {element}"
    return Case((element,), body, "%r", lambda a, b: [meaning(a[0], b[0])])


def add(element: str) -> Case:
    return simple(element, "addf" if element[0] == "f" else "addi", lambda a, b: (a + b).astype(a.dtype))


def maximum(element: str) -> Case:
    return simple(element, "maximumf" if element[0] == "f" else "maxsi", np.maximum)


def unsigned_minimum(element: str) -> Case:
    def meaning(a: Array, b: Array) -> Array:
        unsigned = f"u{a.dtype.itemsize}"
        return np.minimum(a.view(unsigned), b.view(unsigned)).view(a.dtype)

    return simple(element, "minui", meaning)


def exclusive_or(element: str) -> Case:
    return simple(element, "xori", lambda a, b: a ^ b)


def arg_max(element: str) -> Case:
    """The greatest value and the least index that has it."""
    greater, equal = ("cmpf ogt", "cmpf oeq") if element[0] == "f" else ("cmpi sgt", "cmpi eq")
    body = f"""%g = arith.{greater}, %a0, %b0 : {element}
%e = arith.{equal}, %a0, %b0 : {element}
%l = arith.cmpi slt, %a1, %b1 : i32
%t = arith.andi %e, %l : i1
%p = arith.ori %g, %t : i1
%r = arith.select %p, %a0, %b0 : {element}
%s = arith.select %p, %a1, %b1 : i32"""

    def meaning(a: Row, b: Row) -> Row:
        first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return [np.where(first, a[0], b[0]), np.where(first, a[1], b[1])]

    return Case((element, "i32"), body, "%r, %s", meaning)


def affine() -> Case:
    """x -> m*x + c, one function after the other: not commutative."""
    body = """%r = arith.muli %b0, %a0 : i32
%t = arith.muli %b0, %a1 : i32
%s = arith.addi %t, %b1 : i32"""
    return Case(("i32", "i32"), body, "%r, %s", lambda a, b: [b[0] * a[0], b[0] * a[1] + b[1]])


def any_case(rng: random.Random, *, ordered: bool) -> Case:
    """Any region; `ordered` allows those that depend on the order of operands."""
    element = rng.choice(NUMBERS)
    integer = rng.choice(NUMBERS[:4])
    cases = [add(element), maximum(element), arg_max(element), exclusive_or(integer), unsigned_minimum(integer)]
    return rng.choice([*cases, affine()] if ordered else cases)


def running(case: Case, arrays: Row, axis: int, *, reverse: bool = False) -> Row:
    """The scan, by the definition; its last element along the axis is the reduction."""
    moved = [np.moveaxis(array, axis, 0) for array in arrays]
    order: Sequence[int] = range(moved[0].shape[0])
    steps = list(reversed(order)) if reverse else list(order)
    results = [np.empty_like(array) for array in moved]
    carry = [array[steps[0]] for array in moved]
    with np.errstate(over="ignore"):
        for position, step in enumerate(steps):
            if position:
                carry = case.combine(carry, [array[step] for array in moved])
            for result, value in zip(results, carry, strict=True):
                result[step] = value
    return [np.moveaxis(result, 0, axis) for result in results]
