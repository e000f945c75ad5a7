"""Expressions of the generator: loads, arithmetic, shapes, reductions, scans, dots, conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from tilewright.tools.fuzzing.values import (
    BITS,
    BOOL,
    EPSILON,
    FLOATS,
    INTS,
    LARGE,
    UNSIGNED,
    Argument,
    Value,
)
from tilewright.tools.fuzzing.writer import Writer

T = TypeVar("T")

SHAPES: tuple[tuple[int, ...], ...] = (
    (1,), (2,), (8,), (16,), (32,), (64,), (128,), (4, 8), (8, 4), (16, 16), (32, 16), (16, 32), (1, 16), (16, 1),
    (2, 64),
)  # fmt: skip

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Expressions:
    """Makes values out of values. Statements are left to the subclass."""

    def __init__(self, random: Random, writer: Writer) -> None:
        self.random = random
        self.writer = writer
        self.values: list[Value] = []
        self.scalars: list[Value] = []
        self.buffers: list[Argument] = []
        self.shape = self.pick(SHAPES)
        self.tile = 1
        for extent in self.shape:
            self.tile *= extent
        self.programs = self.pick((1, 2, 3))
        self.programs_y = self.pick((1, 1, 1, 2))
        self.fp_fusion = self.chance(0.25)

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

    def epsilon(self, dtype: str) -> float:
        return EPSILON.get(dtype, 0.0)

    # Values

    def define(self, value: Value) -> None:
        """A variable that later statements may use and change."""
        self.values.append(value)
        self.writer.variables.add(value.text)

    def named(self, text: str, dtype: str, shape: tuple[int, ...], bound: float = 0.0, slack: float = 0.0) -> Value:
        name = self.writer.name("v")
        self.writer.line(f"{name} = {text}")
        return Value(name, dtype, shape, bound if dtype in FLOATS else 0.0, slack)

    def remember(self, value: Value | None) -> None:
        if value is None:
            return
        if not value.text.isidentifier():
            value = self.named(value.text, value.dtype, value.shape, value.bound, value.slack)
        if value.is_float and value.bound > LARGE:
            value = self.clamped(value, LARGE)
            value = self.named(value.text, value.dtype, value.shape, value.bound, value.slack)
        self.define(value)

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

    def new_argument(self, dtype: str, count: int, contents: str = "random", slack: float = 0.0) -> Argument:
        argument = Argument(f"a{len(self.writer.arguments)}", dtype, count, contents, slack)
        self.writer.arguments.append(argument)
        return argument

    def input(self, dtype: str, count: int) -> Argument:
        return self.new_argument(dtype, count)

    # Indices and conditions

    def prologue(self) -> None:
        """Index tiles and a few run-time scalars."""
        w = self.writer
        y = " + tl.program_id(1) * tl.num_programs(0)" if self.programs_y > 1 else ""
        w.line(f"pid = tl.program_id(0){y}")
        for dim, extent in enumerate(self.shape):
            w.line(f"r{dim} = tl.arange(0, {extent})")
        if len(self.shape) == 2:
            w.line("x0 = r0[:, None]")
            w.line("x1 = r1[None, :]")
        else:
            w.line("x0 = r0")
        for number in range(2):
            w.scalars[f"n{number}"] = self.integer(0, 2 * self.tile)
        self.scalars += [Value("pid", "int32"), Value("n0", "int32"), Value("n1", "int32")]

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
            forms.append(
                f"({value.text} {self.pick(COMPARISONS)} {self.integer(-3, 5) if value.dtype not in UNSIGNED else 3})"
            )
        if self.chance(0.2):
            return f"({self.pick(forms)} & {self.pick(forms)})"
        return self.pick(forms)

    # Loads

    def load(self) -> Value:
        """A tile out of an input: contiguous, strided, wrapped, gathered; masked or not; or through a block pointer."""
        dtype = self.pick((*INTS, *FLOATS, "float32", "int32", "float16"))
        kind = self.weighted(((4, "plain"), (2, "strided"), (2, "wrapped"), (2, "gathered"), (2, "block"), (1, "row")))
        self.writer.features.add(f"load {kind}")
        if kind == "block":
            return self.block_load(dtype)
        index, count = self.load_index(kind)
        argument = self.input(dtype, count)
        pointer = f"{argument.name} + {index}"
        if not self.chance(0.5):
            return self.named(f"tl.load({pointer})", dtype, self.shape, 8.0)
        mask = self.lane_condition()
        if self.chance(0.7):
            other = self.pick(("0", "1", "3"))
            return self.named(f"tl.load({pointer}, mask={mask}, other={other})", dtype, self.shape, 8.0)
        loaded = self.named(f"tl.load({pointer}, mask={mask})", dtype, self.shape, 8.0)
        return self.named(f"tl.where({mask}, {loaded.text}, {self.constant(dtype)})", dtype, self.shape, 8.0)

    def load_index(self, kind: str) -> tuple[str, int]:
        """Offsets of a load, and the number of elements that they stay below."""
        index, tile = self.tile_index(), self.tile
        match kind:
            case "strided":
                step, start = self.integer(1, 3), self.integer(0, 5)
                if len(self.shape) == 2 and self.chance(0.5):  # transposed
                    return f"{start} + x0 * {step} + x1 * {step * self.shape[0]}", start + step * tile
                pitch = self.shape[-1] * step + self.integer(0, 3)
                if len(self.shape) == 2:
                    return f"{start} + x0 * {pitch} + x1 * {step}", start + pitch * self.shape[0] + step
                return f"{start} + x0 * {step}", start + step * tile
            case "wrapped":
                modulus = self.integer(1, tile)
                if len(self.shape) == 2 and self.chance(0.6):
                    rows, columns = self.integer(1, self.shape[0]), self.shape[1]
                    return f"((x0 + pid) % {rows}) * {columns} + x1", rows * columns
                return f"(({index} + {self.pick(('0', 'pid', 'n0'))}) % {modulus})", modulus
            case "gathered":
                if self.chance(0.5):
                    argument = self.new_argument(self.pick(("int32", "int64")), tile, f"index:{tile}")
                    return f"tl.load({argument.name} + {index})", tile
                value = self.pick_value(lambda v: v.shape == self.shape and v.dtype in ("int32", "uint8", "int64"))
                text = f"({value.text}.to(tl.int32) & {tile - 1})" if value is not None else f"(({index}) // 2)"
                return text, tile
            case "row" if len(self.shape) == 2:
                return self.pick(("x1 + 0 * x0", "x0 + 0 * x1")), max(self.shape)
            case _:
                return f"pid * {tile} + {index}", tile * self.programs * self.programs_y

    def block_load(self, dtype: str) -> Value:
        """Through a block pointer: extents that cut the tile, offsets, boundary checks and padding."""
        w = self.writer
        rank = len(self.shape)
        extents = [self.integer(1, 2 * extent) for extent in self.shape]
        order = [1, 0] if rank == 2 else [0]
        strides = [extents[1], 1] if rank == 2 else [1]
        count = strides[0] * extents[0]
        argument = self.input(dtype, count)
        offsets = [self.integer(0, extent) for extent in extents]
        checked = all(
            offset + size <= extent for offset, size, extent in zip(offsets, self.shape, extents, strict=True)
        )
        name = w.name("b")
        lists = [
            f"({', '.join(map(str, items))}{',' if rank == 1 else ''})"
            for items in (extents, strides, offsets, self.shape, order)
        ]
        w.line(f"{name} = tl.make_block_ptr({argument.name}, {', '.join(lists)})")
        if self.chance(0.3):
            steps = [self.integer(0, 3) for _ in self.shape]
            checked = False
            w.line(f"{name} = tl.advance({name}, ({', '.join(map(str, steps))}{',' if rank == 1 else ''}))")
        if checked and self.chance(0.5):
            return self.named(f"tl.load({name})", dtype, self.shape, 8.0)
        dims = ", ".join(map(str, range(rank))) + ("," if rank == 1 else "")
        return self.named(f"tl.load({name}, boundary_check=({dims}), padding_option='zero')", dtype, self.shape, 8.0)

    # Expressions

    def constant(self, dtype: str) -> str:
        if dtype == BOOL:
            return self.pick(("True", "False"))
        if dtype in FLOATS:
            return self.pick(("0.0", "1.0", "-0.5", "2.25", "3.0"))
        return str(self.integer(0, 7) if dtype in UNSIGNED else self.integer(-7, 7))

    def mixed(self) -> Value:
        """A value of the tile's shape."""
        for _ in range(4):
            value = self.expression()
            if value is not None and value.shape == self.shape:
                return value
        return self.load()

    def expression(self) -> Value | None:
        """One operation on values that are there."""
        kinds: list[tuple[int, Callable[[], Value | None]]] = [
            (6, self.binary),
            (2, self.unary),
            (2, self.comparison),
            (3, self.choice),
            (3, self.cast),
            (3, self.reduction),
            (2, self.scan),
            (2, self.rearrangement),
            (2, self.product),
            (1, self.lookup),
            (1, self.bit_cast),
            (1, self.index_value),
        ]
        make = self.weighted(kinds)
        value = make()
        if value is not None:
            self.writer.features.add(make.__name__)
        return value

    def operand(self) -> Value | None:
        return self.pick_value(lambda v: v.shape == self.shape and v.dtype != BOOL)

    def index_value(self) -> Value:
        return self.named(
            self.pick((self.tile_index(), f"{self.tile_index()} + pid", self.permuted_index())), "int32", self.shape
        )

    def binary(self) -> Value | None:
        left = self.operand()
        if left is None:
            return None
        right = self.pick_value(lambda v: v.same_kind(left)) if self.chance(0.75) else None
        if left.is_float:
            return self.float_binary(left, right)
        text = right.text if right is not None else self.constant(left.dtype)
        op = self.pick(("+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "min", "max"))
        bits = BITS[left.dtype]
        match op:
            case "//" | "%":
                divisor = f"(({text} & 7) | 1)" if right is not None else str(self.pick((1, 2, 3, 5, 8)))
                result = f"{left.text} {op} {divisor}"
            case "<<" | ">>":
                amount = f"({text} & {bits - 1})" if right is not None else str(self.integer(0, bits - 1))
                result = f"{left.text} {op} {amount}"
            case "min" | "max":
                result = f"tl.{op}imum({left.text}, {text})"
            case _:
                result = f"{left.text} {op} {text}"
        return self.named(f"({result}).to(tl.{left.dtype})", left.dtype, self.shape)

    def float_binary(self, left: Value, right: Value | None) -> Value:
        number = self.constant(left.dtype)
        text = right.text if right is not None else number
        bound = right.bound if right is not None else abs(float(number))
        slack = right.slack if right is not None else 0.0
        eps = self.epsilon(left.dtype)
        op = self.pick(("+", "-", "*", "/", "min", "max"))
        match op:
            case "+" | "-":
                total = left.bound + bound
                error = left.slack + slack
                return self.rounded(f"({left.text} {op} {text}).to(tl.{left.dtype})", left.dtype, total, error, eps)
            case "*":
                error = left.slack * bound + slack * left.bound
                value = self.rounded(
                    f"({left.text} * {text}).to(tl.{left.dtype})", left.dtype, left.bound * bound, error, eps
                )
                if self.fp_fusion and value.is_exact:  # may be added to something without being rounded
                    return Value(value.text, value.dtype, value.shape, value.bound, value.bound * eps + eps)
                return value
            case "/":
                error = left.slack + left.bound * slack
                if right is not None and self.fp_fusion:  # the divisor may be fused too
                    error += left.bound * eps * 2
                divisor = f"(tl.abs({text}) + 1.0)"
                return self.rounded(
                    f"({left.text} / {divisor}).to(tl.{left.dtype})", left.dtype, left.bound, error, eps
                )
            case _:
                result = f"tl.{op}imum({left.text}, {text}).to(tl.{left.dtype})"
                return self.named(result, left.dtype, self.shape, max(left.bound, bound), max(left.slack, slack))

    def rounded(self, text: str, dtype: str, bound: float, error: float, eps: float) -> Value:
        """The result of one rounded operation: exact stays exact, inexact gets a little worse."""
        slack = 0.0 if error == 0.0 else error + 2 * eps * bound
        return self.named(text, dtype, self.shape, bound, slack)

    def unary(self) -> Value | None:
        value = self.operand()
        if value is None:
            return None
        if value.is_float:
            forms = ["-{0}", "tl.abs({0})"]
            if value.dtype in ("float32", "float64"):
                forms += ["tl.floor({0})", "tl.ceil({0})"] if value.is_exact else []
                root = value.is_exact and self.chance(0.5)
                if root:
                    return self.named(
                        f"tl.sqrt_rn(tl.abs({value.text}))"
                        if value.dtype == "float32"
                        else f"tl.sqrt(tl.abs({value.text}))",
                        value.dtype,
                        self.shape,
                        value.bound + 1,
                        4 * self.epsilon(value.dtype) * LARGE,
                    )
            return self.named(
                self.pick(forms).format(value.text), value.dtype, self.shape, value.bound + 1, value.slack
            )
        forms = ["~{0}"] + (["-{0}", "tl.abs({0})"] if value.dtype not in UNSIGNED else [])
        return self.named(f"({self.pick(forms).format(value.text)}).to(tl.{value.dtype})", value.dtype, self.shape)

    def comparison(self) -> Value | None:
        left = self.pick_value(lambda v: v.shape == self.shape and v.dtype != BOOL and v.is_exact)
        if left is None:
            return None
        right = self.pick_value(lambda v: v.same_kind(left) and v.is_exact) if self.chance(0.6) else None
        text = right.text if right is not None else self.constant(left.dtype)
        return self.named(f"{left.text} {self.pick(COMPARISONS)} {text}", BOOL, self.shape)

    def choice(self) -> Value | None:
        """`tl.where`."""
        then = self.operand()
        if then is None:
            return None
        otherwise = self.pick_value(lambda v: v.same_kind(then)) or then
        flag = self.pick_value(lambda v: v.shape == self.shape and v.dtype == BOOL)
        condition = flag.text if flag is not None and self.chance(0.5) else self.lane_condition()
        bound, slack = max(then.bound, otherwise.bound), max(then.slack, otherwise.slack)
        return self.named(f"tl.where({condition}, {then.text}, {otherwise.text})", then.dtype, self.shape, bound, slack)

    def clamped(self, value: Value, bound: float) -> Value:
        """A float within [-bound, bound]."""
        if value.bound <= bound:
            return value
        text = f"tl.minimum(tl.maximum({value.text}, {-bound}), {bound}).to(tl.{value.dtype})"
        return Value(text, value.dtype, value.shape, bound, value.slack)

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

    def cast(self) -> Value | None:
        value = self.pick_value(lambda v: v.shape == self.shape)
        if value is None:
            return None
        made = self.convert(value, self.pick((*INTS, *FLOATS)))
        return None if made is None else self.named(made.text, made.dtype, made.shape, made.bound, made.slack)

    def bit_cast(self) -> Value | None:
        value = self.pick_value(lambda v: v.shape == self.shape and v.dtype in INTS)
        if value is None:
            return None
        other = value.dtype[1:] if value.dtype in UNSIGNED else f"u{value.dtype}"
        return self.named(f"{value.text}.to(tl.{other}, bitcast=True)", other, self.shape)

    def reduction(self) -> Value | None:
        value = self.operand()
        if value is None:
            return None
        axis = self.integer(0, len(self.shape) - 1)
        rest = tuple(extent for dim, extent in enumerate(self.shape) if dim != axis)
        kind = self.pick(("sum", "max", "min", "xor_sum", "argmax", "argmin", "sum"))
        count = self.shape[axis]
        narrow = value.dtype in ("int8", "int16", "uint8", "uint16", "float16", "bfloat16")
        if kind in ("argmax", "argmin"):
            if not value.is_exact:
                return None
            result = self.named(f"tl.{kind}({value.text}, {axis})", "int32", rest)
        elif kind == "xor_sum":
            if value.is_float:
                return None
            result = self.named(f"tl.xor_sum({value.text}, {axis}).to(tl.{value.dtype})", value.dtype, rest)
        elif kind == "sum":
            text = f"tl.sum({value.text}, {axis}).to(tl.{value.dtype})"
            bound = value.bound * count
            slack = value.slack * count + bound * self.epsilon(value.dtype) * (count if narrow else 4)
            result = self.named(text, value.dtype, rest, bound, slack if value.is_float else 0.0)
            result = self.reined(result)
        else:
            text = f"tl.{kind}({value.text}, {axis}).to(tl.{value.dtype})"
            result = self.named(text, value.dtype, rest, value.bound, value.slack)
        return self.spread(result, axis) if self.chance(0.6) else result

    def reined(self, value: Value) -> Value:
        """Scaled back so that bounds stay small."""
        if not value.is_float or value.bound <= LARGE:
            return value
        made = self.clamped(value, LARGE)
        return self.named(made.text, made.dtype, made.shape, made.bound, made.slack)

    def spread(self, value: Value, axis: int) -> Value:
        """A reduced value back at the tile's shape."""
        if not value.shape:
            zero = f"tl.zeros({self.shape_text()}, tl.{value.dtype})"
            text = f"{zero} + {value.text}"
        else:
            place = "[None, :]" if axis == 0 else "[:, None]"
            text = f"tl.broadcast_to({value.text}{place}, {self.shape_text()})"
        return self.named(f"({text}).to(tl.{value.dtype})", value.dtype, self.shape, value.bound, value.slack)

    def shape_text(self, shape: tuple[int, ...] | None = None) -> str:
        shape = self.shape if shape is None else shape
        return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"

    def scan(self) -> Value | None:
        value = self.pick_value(lambda v: v.shape == self.shape and v.dtype in ("int32", "int64", "uint32", "float32"))
        if value is None:
            return None
        axis = self.integer(0, len(self.shape) - 1)
        reverse = self.pick(("", ", reverse=True"))
        count = self.shape[axis]
        bound = value.bound * count
        slack = value.slack * count + bound * self.epsilon(value.dtype) * 4 if value.is_float else 0.0
        made = self.named(
            f"tl.cumsum({value.text}, {axis}{reverse}).to(tl.{value.dtype})", value.dtype, self.shape, bound, slack
        )
        return self.reined(made)

    def rearrangement(self) -> Value | None:
        """Shapes: transposes, reshapes, flips, joins that are taken apart again, sorts."""
        value = self.pick_value(lambda v: v.shape == self.shape and v.dtype != BOOL)
        if value is None:
            return None
        kind = self.pick(("trans", "reshape", "flip", "interleave", "split", "sort", "ravel"))
        text, shape = value.text, self.shape
        match kind:
            case "trans" if len(shape) == 2 and shape[0] == shape[1]:
                text = f"tl.trans({text})"
            case "reshape" if len(shape) == 2:
                text = (
                    f"tl.reshape(tl.reshape({text}, {self.shape_text((shape[1], shape[0]))}) + 0, {self.shape_text()})"
                )
                text = f"({text}).to(tl.{value.dtype})"
            case "flip" if shape[-1] > 1:
                text = f"tl.flip({text}, {len(shape) - 1})"
            case "interleave" if shape[-1] > 1:
                other = self.pick_value(lambda v: v.same_kind(value)) or value
                both = self.writer.name("t")
                self.writer.line(f"{both} = tl.interleave({text}, {other.text})")
                wide = (*shape[:-1], 2 * shape[-1])
                return self.named(
                    f"{both}", value.dtype, wide, max(value.bound, other.bound), max(value.slack, other.slack)
                )
            case "split":
                other = self.pick_value(lambda v: v.same_kind(value)) or value
                first, second = self.writer.name("s"), self.writer.name("s")
                self.writer.line(f"{first}, {second} = tl.split(tl.join({text}, {other.text}))")
                chosen, name = self.pick(((value, first), (other, second)))
                return self.named(name, value.dtype, shape, chosen.bound, chosen.slack)
            case "sort" if len(shape) == 1 and value.is_exact and value.dtype in ("int32", "float32"):
                text = f"tl.sort({text})"
            case "ravel" if len(shape) == 2:
                return self.named(f"tl.ravel({text})", value.dtype, (shape[0] * shape[1],), value.bound, value.slack)
            case _:
                return None
        return self.named(text, value.dtype, shape, value.bound, value.slack)

    def product(self) -> Value | None:
        """`tl.dot` of tiles, with and without an accumulator."""
        if len(self.shape) != 2 or min(self.shape) < 16:
            return None
        m, n = self.shape
        dtype = self.pick(("float32", "float16", "bfloat16", "int8"))
        k = 32 if dtype == "int8" else self.pick((16, 32))
        a, b = self.input(dtype, m * k), self.input(dtype, k * n)
        left = f"tl.load({a.name} + r0[:, None] * {k} + tl.arange(0, {k})[None, :])"
        right = (
            f"tl.load({b.name} + tl.arange(0, {k})[:, None] * {n} + r1[None, :])"
            if self.chance(0.6)
            else f"tl.load({b.name} + tl.arange(0, {k})[:, None] + r1[None, :] * {k})"
        )
        wide = "int32" if dtype == "int8" else "float32"
        acc = self.pick_value(lambda v: v.dtype == wide and v.shape == self.shape) if self.chance(0.5) else None
        precision = ", input_precision='ieee'" if dtype == "float32" else ""
        added = f", acc={acc.text}" if acc is not None else ""
        bound = 64.0 * k + (acc.bound if acc is not None else 0.0)
        slack = bound * EPSILON["float32"] * 8 + (acc.slack if acc is not None else 0.0)
        made = self.named(
            f"tl.dot({left}, {right}{added}{precision}, out_dtype=tl.{wide})",
            wide,
            self.shape,
            bound,
            slack if wide == "float32" else 0.0,
        )
        return self.reined(made)

    def lookup(self) -> Value | None:
        """`tl.gather` along an axis."""
        value = self.operand()
        if value is None:
            return None
        axis = self.integer(0, len(self.shape) - 1)
        index: Any = f"(({self.permuted_index()}) % {self.shape[axis]})"
        return self.named(
            f"tl.gather({value.text}, {index}, {axis})", value.dtype, self.shape, value.bound, value.slack
        )
