"""Random well-typed kernels, as source text in the language.

A kernel works on tiles of one size, 1D or 2D. Each program reads inputs that all programs share, and writes to its own
stretch of every output, so that the result does not depend on the order of programs. What is undefined in the language
(division by zero, conversion of floats that do not fit, lanes that were masked off, two lanes that store to one
element) is not generated: whatever engines disagree about is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tilewright.tools.fuzzing.expressions import Expressions
from tilewright.tools.fuzzing.values import BOOL, FILL, Argument, GeneratedKernel, Value
from tilewright.tools.fuzzing.writer import Writer

MAX_DEPTH = 2


class KernelGenerator(Expressions):
    """Writes one kernel. `random` may be Hypothesis's, which then shrinks what it chose."""

    def __init__(self, random: Random, statements: int = 12) -> None:
        super().__init__(random, Writer())
        self.statements = statements

    def generate(self) -> GeneratedKernel:
        """The whole kernel."""
        self.prologue()
        for _ in range(self.integer(2, 4)):
            self.remember(self.load())
        for _ in range(self.integer(3, self.statements)):
            self.statement(0)
        self.epilogue()
        w = self.writer
        parameters = [*(a.name for a in w.arguments), *w.scalars]
        body = "\n".join(f"    {line}" for line in w.lines)
        source = f"@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n"
        return GeneratedKernel(
            source,
            tuple(w.arguments),
            dict(w.scalars),
            (self.programs,) if self.programs_y == 1 else (self.programs, self.programs_y),
            self.fp_fusion,
            self.random.randrange(1 << 30),
            frozenset(w.features),
        )

    # Statements

    def statement(self, depth: int) -> None:
        """One statement; compound ones only to a small depth."""
        simple: list[tuple[int, Callable[[], None]]] = [
            (10, lambda: self.remember(self.expression())),
            (3, lambda: self.remember(self.load())),
            (2, self.store_and_reload),
            (1, self.atomic),
            (1, self.assign),
        ]
        compound: list[tuple[int, Callable[[], None]]] = [
            (2, lambda: self.loop(depth)),
            (2, lambda: self.branch(depth)),
            (1, lambda: self.pointer_loop()),
            (1, lambda: self.conditional_loop(depth)),
        ]
        self.weighted(simple + compound if depth < MAX_DEPTH else simple)()

    def assign(self) -> None:
        """A variable takes another value of its kind."""
        target = self.pick_value(lambda v: v.text in self.writer.variables and v.shape == self.shape)
        if target is not None:
            self.reassign(target)

    def reassign(self, target: Value) -> None:
        """`x = ...` for an existing variable, which keeps its type, its bound, and its exactness."""
        value = self.convert(self.mixed(), target.dtype)
        if value is None or value.shape != target.shape or (target.is_exact and not value.is_exact):
            return
        if value.is_float:
            value = self.clamped(value, max(target.bound, 1.0))
            if value.slack > target.slack and not target.is_exact:
                return
        self.writer.line(f"{target.text} = {value.text}")

    def carried(self) -> list[Value]:
        """Fresh variables for a loop or branch to change."""
        found: list[Value] = []
        for _ in range(self.integer(1, 3)):
            value = self.pick_value(lambda v: v.shape == self.shape)
            if value is None:
                continue
            bound = LOOSE if value.is_float else 0.0
            # What a loop adds up may be off by the slack of everything that it adds.
            slack = 0.0 if value.is_exact else value.slack + LOOSE_SLACK * self.epsilon(value.dtype)
            name = self.writer.name("c")
            self.writer.line(f"{name} = {self.clamped(value, LOOSE).text if value.is_float else value.text}")
            found.append(Value(name, value.dtype, value.shape, bound, slack))
            self.define(found[-1])
        return found

    def block(self, depth: int, targets: list[Value]) -> None:
        """An indented body that changes some of `targets`."""
        with self.writer.indented():
            marks = self.mark()
            for _ in range(self.integer(0, 2)):
                self.statement(depth + 1)
            for target in targets:
                if self.chance(0.8):
                    self.reassign(target)
            self.writer.line("pass")
            self.forget(marks)

    def loop(self, depth: int) -> None:
        """`for i in range(...)` with constant or run-time bounds."""
        targets = self.carried()
        name = self.writer.name("i")
        kind = self.pick(
            ("range(0, {n})", "range({n})", "range(1, {n} + 1)", "tl.static_range(0, {n})", "range(0, {n}, 2)")
        )
        count = str(self.integer(0, 4)) if "static" in kind or self.chance(0.5) else self.run_time_count()
        self.writer.line(f"for {name} in {kind.format(n=count)}:")
        self.writer.features.add("static_range" if "static" in kind else "for")
        counter = Value(name, "int32")
        if "static" not in kind:
            self.scalars.append(counter)
        self.block(depth, targets)
        if counter in self.scalars:
            self.scalars.remove(counter)

    def conditional_loop(self, depth: int) -> None:
        """`while`, counted by a variable so that it ends."""
        targets = self.carried()
        name = self.writer.name("i")
        self.writer.line(f"{name} = 0")
        self.writer.line(f"while {name} < {self.run_time_count()}:")
        self.writer.features.add("while")
        with self.writer.indented():
            self.writer.line(f"{name} += 1")
        self.block(depth, targets)

    def branch(self, depth: int) -> None:
        """`if` on a scalar, with or without `else`."""
        targets = self.carried()
        self.writer.line(f"if {self.scalar_condition()}:")
        self.writer.features.add("if")
        self.block(depth, targets)
        if self.chance(0.7):
            self.writer.line("else:")
            self.block(depth, targets)

    def pointer_loop(self) -> None:
        """A pointer that a loop moves along an input, and an accumulator."""
        steps, step = self.integer(1, 4), self.pick((1, 2, self.shape[-1]))
        dtype = self.pick(("int32", "float32", "int8", "float16"))
        argument = self.input(dtype, self.tile + step * 5)
        p, i, acc = (self.writer.name(letter) for letter in ("p", "i", "c"))
        w = self.writer
        wide = "float32" if dtype.startswith("f") else "int32"
        w.line(f"{p} = {argument.name} + {self.tile_index()}")
        w.line(f"{acc} = tl.zeros({self.shape_text()}, tl.{wide})")
        count = str(steps) if self.chance(0.5) else self.run_time_count()
        w.line(f"for {i} in range({count}):")
        with w.indented():
            mask = f"{self.tile_index()} + {i} * {step} < {self.integer(0, argument.count)}"
            text = f"tl.load({p}, mask={mask}, other=1)" if self.chance(0.6) else f"tl.load({p})"
            w.line(f"{acc} += {text}.to(tl.{wide})")
            w.line(f"{p} += {step}")
        w.features.add("pointer loop")
        self.define(Value(acc, wide, self.shape, 8.0 * 5 if wide == "float32" else 0.0))

    # Memory

    def store_and_reload(self) -> None:
        """A store to the program's own stretch of a buffer, and a load of it: later loads see earlier stores."""
        value = self.pick_value(lambda v: v.shape == self.shape and v.dtype != BOOL)
        if value is None:
            return
        buffer = self.output(value)
        self.write(buffer, value)
        if self.chance(0.6):
            self.writer.features.add("reload")
            base = self.own_stretch(buffer)
            self.remember(
                self.named(
                    f"tl.load({base} + {self.permuted_index()})",
                    value.dtype,
                    self.shape,
                    max(value.bound, FILL),
                    value.slack,
                )
            )

    def write(self, buffer: Argument, value: Value) -> None:
        """A store with or without a mask, in order or permuted."""
        index = self.permuted_index() if self.chance(0.4) else self.tile_index()
        mask = f", mask={self.lane_condition()}" if self.chance(0.5) else ""
        self.writer.line(f"tl.store({self.own_stretch(buffer)} + {index}, {value.text}{mask})")

    def atomic(self) -> None:
        """An atomic whose order does not matter; its result is not used."""
        value = self.pick_value(lambda v: v.dtype in ("int32", "uint32", "int64") and v.shape == self.shape)
        if value is None:
            return
        kind = self.pick(("add", "max", "min", "and", "or", "xor"))
        buffer = self.new_argument(value.dtype, self.tile, "zeros")
        index = self.pick((self.tile_index(), f"({self.tile_index()}) % {self.pick((1, 2, self.tile))}"))
        mask = f", mask={self.lane_condition()}" if self.chance(0.5) else ""
        self.writer.line(f"tl.atomic_{kind}({buffer.name} + {index}, {value.text}{mask})")
        self.writer.features.add("atomic")

    def epilogue(self) -> None:
        """Store the values that came last, and a few others."""
        values = [v for v in self.values if v.shape][-3:]
        values += [v for v in self.values if v.shape != self.shape and v.shape][-2:]
        for value in values:
            index, count = self.index_of(value.shape)
            buffer = self.new_argument(
                "int8" if value.dtype == "int1" else value.dtype,
                count * self.programs * self.programs_y + 2 * GUARD,
                "fill",
                value.slack,
            )
            text = f"{value.text}.to(tl.int8)" if value.dtype == "int1" else value.text
            base = f"{buffer.name} + {GUARD} + pid * {count}"
            self.writer.line(f"tl.store({base} + {index}, {text})")
        for value in [v for v in self.values if not v.shape][-2:]:
            count = self.programs * self.programs_y + 2 * GUARD
            buffer = self.new_argument("int8" if value.dtype == "int1" else value.dtype, count, "fill", value.slack)
            text = f"{value.text}.to(tl.int8)" if value.dtype == "int1" else value.text
            self.writer.line(f"tl.store({buffer.name} + {GUARD} + pid, {text})")

    def output(self, value: Value) -> Argument:
        """A buffer with a stretch for each program, of the value's type."""
        dtype = value.dtype if value.dtype != "int1" else "int8"
        for argument in self.buffers:
            if argument.dtype == dtype and argument.slack >= value.slack and self.chance(0.5):
                return argument
        count = self.tile * self.programs * self.programs_y + 2 * GUARD
        argument = self.new_argument(dtype, count, "fill", value.slack)
        self.buffers.append(argument)
        return argument

    def own_stretch(self, argument: Argument) -> str:
        return f"{argument.name} + {GUARD} + pid * {self.tile}"


GUARD = 16
"""Elements before and after what programs may touch; a store there is seen."""

LOOSE = 32.0
"""Bound of the floats that loops and branches carry."""

LOOSE_SLACK = 4096.0
"""Slack of inexact floats that loops carry, in units of the type's epsilon."""
