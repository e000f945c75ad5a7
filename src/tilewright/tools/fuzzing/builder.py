"""What every part of the generator works with: choices, the values that there are, arguments, indices, conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import TypeVar

from tilewright.tools.fuzzing.values import (
    BOOL,
    COMPARISONS,
    EPSILON,
    FLOATS,
    FP8,
    INTS,
    LARGE,
    LARGE_SHAPES,
    SHAPES,
    UNSIGNED,
    Argument,
    Value,
)
from tilewright.tools.fuzzing.writer import Writer

T = TypeVar("T")

GUARD = 16
"""Elements before and after what programs may touch; a store there is seen."""


class Builder:
    """A kernel as it grows: tiles of one size, the values that later lines may use, and the text."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.writer = Writer()
        self.values: list[Value] = []
        self.scalars: list[Value] = []
        self.buffers: list[Argument] = []
        self.shape = self.pick(LARGE_SHAPES if self.chance(0.04) else SHAPES)
        self.tile = prod(self.shape)
        self.programs = self.pick((1, 2, 3))
        self.programs_y = self.pick((1, 1, 1, 2))
        self.fp_fusion = self.chance(0.25)
        self.has_barriers = self.chance(0.5)
        self.options = {"num_warps": self.pick((1, 2, 4, 4, 8)), "num_stages": self.pick((1, 2, 3, 3, 4))}

    # Choices

    def pick(self, items: Sequence[T]) -> T:
        return items[self.random.randrange(len(items))]

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        number = self.random.randrange(sum(weight for weight, _ in items))
        for weight, item in items:
            number -= weight
            if number < 0:
                return item
        raise AssertionError("weights are positive")

    # Values

    def define(self, value: Value) -> None:
        """A variable that later statements may use and change."""
        self.values.append(value)
        self.writer.variables.add(value.text)

    def named(self, text: str, dtype: str, shape: tuple[int, ...], bound: float = 0.0, slack: float = 0.0) -> Value:
        """A fresh variable that is not changed again unless it is defined as well."""
        name = self.writer.name("v")
        self.writer.line(f"{name} = {text}")
        return Value(name, dtype, shape, bound if dtype in FLOATS else 0.0, slack)

    def rounded(self, text: str, dtype: str, bound: float, error: float) -> Value:
        """The result of one rounded operation: exact stays exact, inexact gets a little worse."""
        slack = 0.0 if error == 0.0 else error + 2 * self.epsilon(dtype) * bound
        return self.named(text, dtype, self.shape, bound, slack)

    def remember(self, value: Value | None) -> None:
        """Let later lines use a value; floats are kept small."""
        if value is None:
            return
        if not value.text.isidentifier():
            value = self.named(value.text, value.dtype, value.shape, value.bound, value.slack)
        self.define(self.reined(value))

    def mark(self) -> tuple[int, int]:
        return len(self.values), len(self.scalars)

    def forget(self, marks: tuple[int, int]) -> None:
        """Leave a scope."""
        for value in self.values[marks[0] :]:
            self.writer.variables.discard(value.text)
        del self.values[marks[0] :], self.scalars[marks[1] :]

    def pick_value(self, condition: Callable[[Value], bool]) -> Value | None:
        found = [value for value in self.values if condition(value)]
        return self.pick(found[-8:]) if found else None

    def operand(self) -> Value | None:
        """A tile of numbers."""
        return self.pick_value(lambda v: v.shape == self.shape and v.dtype != BOOL)

    def epsilon(self, dtype: str) -> float:
        return EPSILON.get(dtype, 0.0)

    def clamped(self, value: Value, bound: float) -> Value:
        """A float within [-bound, bound]."""
        if value.bound <= bound:
            return value
        text = f"tl.minimum(tl.maximum({value.text}, {-bound}), {bound}).to(tl.{value.dtype})"
        return Value(text, value.dtype, value.shape, bound, value.slack)

    def reined(self, value: Value) -> Value:
        """Scaled back so that bounds stay small."""
        if not value.is_float or value.bound <= LARGE:
            return value
        made = self.clamped(value, LARGE)
        return self.named(made.text, made.dtype, made.shape, made.bound, made.slack)

    def convert(self, value: Value, dtype: str) -> Value | None:
        """A value as another type; None where that has no meaning."""
        if value.dtype == dtype:
            return value
        if value.is_float and dtype not in FLOATS:
            if not value.is_exact or dtype == BOOL:
                return None
            safe = self.clamped(value, 100.0)
            text = f"tl.abs({safe.text})" if dtype in UNSIGNED else safe.text
            return Value(f"({text}).to(tl.{dtype})", dtype, value.shape)
        if dtype in FLOATS and not value.is_float:
            small = value.text if value.dtype == BOOL else f"({value.text} & 15)"
            return Value(f"{small}.to(tl.{dtype})", dtype, value.shape, 15.0)
        if dtype == BOOL:
            return Value(f"({value.text} != 0)", BOOL, value.shape)
        slack = value.slack
        if value.is_float and not value.is_exact:
            slack += 2 * self.epsilon(dtype) * value.bound
        return Value(f"{value.text}.to(tl.{dtype})", dtype, value.shape, value.bound, slack)

    def constant(self, dtype: str) -> str:
        if dtype == BOOL:
            return self.pick(("True", "False"))
        if dtype in FLOATS:
            return self.pick(("0.0", "1.0", "-0.5", "2.25", "3.0"))
        return str(self.integer(0, 7) if dtype in UNSIGNED else self.integer(-7, 7))

    # Arguments

    def new_argument(
        self,
        dtype: str,
        count: int,
        contents: str = "random",
        slack: float = 0.0,
        *,
        within: str = "",
        start: int = 0,
    ) -> Argument:
        argument = Argument(f"a{len(self.writer.arguments)}", dtype, count, contents, slack, within, start)
        self.writer.arguments.append(argument)
        if dtype in FP8:
            self.writer.features.add(dtype)
        return argument

    def output(self, value: Value) -> Argument:
        """A buffer with a part of the tile's size for each program, of the value's type."""
        for argument in self.buffers:
            if argument.dtype == value.dtype and argument.slack >= value.slack and self.chance(0.5):
                return argument
        count = self.tile * self.programs * self.programs_y + 2 * GUARD
        argument = self.new_argument(value.dtype, count, "fill", value.slack)
        self.buffers.append(argument)
        return argument

    def own_part(self, argument: Argument) -> str:
        """Return where the program's part of a buffer starts."""
        return f"{argument.name} + {GUARD} + pid * {self.tile}"

    def store_all(self, value: Value) -> None:
        """A value of any shape to a buffer of its own."""
        if value.shape:
            index, count = self.index_of(value.shape)
        else:
            index, count = "0", 1
        size = count * self.programs * self.programs_y + 2 * GUARD
        buffer = self.new_argument(value.dtype, size, "fill", value.slack)
        self.writer.line(f"tl.store({buffer.name} + {GUARD} + pid * {count} + {index}, {value.text})")

    # Indices and conditions

    def shape_text(self, shape: tuple[int, ...] | None = None) -> str:
        shape = self.shape if shape is None else shape
        return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"

    def tile_index(self) -> str:
        """Row-major index of each lane."""
        return f"x0 * {self.shape[1]} + x1" if len(self.shape) == 2 else "x0"

    def index_of(self, shape: tuple[int, ...]) -> tuple[str, int]:
        """Row-major index for a tile of any shape, and its number of elements."""
        parts: list[str] = []
        step = 1
        for dim in reversed(range(len(shape))):
            place = ", ".join(":" if axis == dim else "None" for axis in range(len(shape)))
            text = f"tl.arange(0, {shape[dim]})"
            parts.append(f"{text}[{place}] * {step}" if len(shape) > 1 else text)
            step *= shape[dim]
        return " + ".join(parts), step

    def permuted_index(self) -> str:
        """Another lane's index for each lane, all different."""
        index, last = self.tile_index(), self.tile - 1
        forms = [
            index,
            f"({last} - ({index}))",
            f"(({index}) ^ {self.integer(0, last)})",
            f"((({index}) * {self.pick((1, 3, 5, 7))} + {self.integer(0, last)}) % {self.tile})",
        ]
        if len(self.shape) == 2:
            forms.append(f"(x1 * {self.shape[0]} + x0)")
        return self.pick(forms)

    def run_time_count(self) -> str:
        """A small number of iterations that is only known at run time."""
        return self.pick(("(n0 % 4)", "(n1 % 3)", "(pid + 1)", "tl.minimum(n0, 2)"))

    def scalar_condition(self) -> str:
        scalar = self.pick(self.scalars).text
        forms = [
            f"{scalar} {self.pick(COMPARISONS)} {self.integer(0, 8)}",
            f"(pid + n1) % 2 == {self.integer(0, 1)}",
            f"{scalar} > n1",
            f"({scalar} > 1) and (n0 > {self.integer(0, 9)})",
        ]
        value = self.pick_value(lambda v: v.shape == () and v.dtype in INTS)
        if value is not None:
            forms.append(f"{value.text} > {self.integer(0, 20)}")
        return self.pick(forms)

    def lane_condition(self) -> str:
        """A mask of the tile's shape: usually a bound on the index, sometimes anything."""
        index = self.tile_index()
        bound = self.pick(("n0", "n1", str(self.integer(0, self.tile)), f"n0 - pid * {self.pick((1, 4, self.tile))}"))
        forms = [f"({index} < {bound})", f"({index} >= {bound})", f"(({index}) % {self.integer(2, 5)} != 0)"]
        if len(self.shape) == 2:
            rows, cols = self.integer(0, self.shape[0]), self.pick(("n0", str(self.integer(0, self.shape[1]))))
            forms += [
                f"((x0 < {rows}) & (x1 < {cols}))",
                f"((x0 >= x1) & (x1 < {cols}))",
                f"((x0 < n1) | (x1 >= {cols}))",
            ]
        value = self.pick_value(lambda v: v.shape == self.shape and v.is_exact and v.dtype != BOOL)
        if value is not None:
            number = self.integer(-3, 5) if value.dtype not in UNSIGNED else 3
            forms.append(f"({value.text} {self.pick(COMPARISONS)} {number})")
        flag = self.pick_value(lambda v: v.shape == self.shape and v.dtype == BOOL)
        if flag is not None:
            forms.append(f"({flag.text} & ({index} < {bound}))")
        if self.chance(0.2):
            return f"({self.pick(forms)} & {self.pick(forms)})"
        return self.pick(forms)
