"""Random well-typed kernels, as source text in the language.

A kernel works on tiles of one size, 1D or 2D. Each program reads inputs that all programs share, and writes to its own
part of every output, so that the result does not depend on the order of programs. What is undefined in the language
(division by zero, conversion of floats that do not fit, lanes that were masked off, two lanes that store to one
element) is not generated: whatever engines disagree about is a defect.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tilewright.tools.fuzzing import (
    arithmetic,
    deep,
    functions,
    library,
    loads,
    memory,
    products,
    reductions,
    shapes,
    sharing,
)
from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import GeneratedKernel, Value

MAX_DEPTH = 2

LOOSE = 32.0
"""Bound of the floats that loops and branches carry."""

LOOSE_SLACK = 4096.0
"""Slack of inexact floats that loops carry, in units of the type's epsilon."""

Maker = Callable[[Builder], Value | None]
Statement = Callable[[Builder], None]

EXPRESSIONS: tuple[tuple[int, Maker], ...] = (
    (6, arithmetic.binary),
    (2, arithmetic.unary),
    (2, arithmetic.comparison),
    (1, arithmetic.logic),
    (3, arithmetic.choice),
    (3, arithmetic.cast),
    (1, arithmetic.function),
    (1, arithmetic.bit_cast),
    (1, arithmetic.high_product),
    (1, arithmetic.index_value),
    (4, reductions.reduction),
    (2, reductions.scan),
    (1, reductions.histogram),
    (3, shapes.rearrangement),
    (1, shapes.lookup),
    (3, deep.chain),
    (1, library.draw),
    (1, library.largest),
    (1, library.softmax),
    (1, library.by_element),
    (1, library.swizzle),
    (5, products.product),
    (1, products.scaled),
    (2, functions.call),
    (1, loads.narrow_floats),
    (2, memory.own_atomic),
)
"""What makes a value of others, and how often."""

STATEMENTS: tuple[tuple[int, Statement], ...] = (
    (4, memory.store_and_reload),
    (3, memory.shared_atomic),
    (1, loads.descriptor_store),
    (1, deep.store),
    (1, arithmetic.store_narrow),
    (1, arithmetic.special),
    (3, products.product_loop),
    (1, products.attention),
    (1, functions.distant_call),
    (2, sharing.shared_memory),
)
"""Other lines without lines inside."""

RARE = {products.batch: 0.03}
"""Values that are too slow to be made often, with their chance for a kernel."""

RANGES = (
    "range(0, {n})",
    "range({n})",
    "range(1, {n} + 1)",
    "range(0, {n}, 2)",
    "range({n}, 0, -1)",
    "tl.static_range(0, {n})",
    "tl.range(0, {n}, num_stages=2)",
    "tl.range(0, {n}, loop_unroll_factor=2)",
)


class KernelGenerator:
    """Writes one kernel. `random` may be Hypothesis's, which then shrinks what it chose."""

    def __init__(self, random: Random, statements: int = 12) -> None:
        self.builder = Builder(random)
        self.statements = statements

    def generate(self) -> GeneratedKernel:
        """The whole kernel."""
        b = self.builder
        self.prologue()
        for _ in range(b.integer(2, 4)):
            b.remember(loads.load(b))
        leaves_early = b.chance(0.05)
        for index in range(b.integer(3, self.statements)):
            if leaves_early and index == 2:
                b.writer.line(f"if {b.scalar_condition()}:")
                b.writer.line("    return")
                b.writer.features.add("early return")
            self.statement(0)
        for maker, chance in RARE.items():
            if b.chance(chance):
                b.remember(maker(b))
                b.writer.features.add(maker.__name__)
        memory.leave(b)
        return self.finished()

    def prologue(self) -> None:
        """Index tiles and a few run-time scalars."""
        b = self.builder
        y = " + tl.program_id(1) * tl.num_programs(0)" if b.programs_y > 1 else ""
        b.writer.line(f"pid = tl.program_id(0){y}")
        for dim, extent in enumerate(b.shape):
            b.writer.line(f"r{dim} = tl.arange(0, {extent})")
        if len(b.shape) == 2:
            b.writer.line("x0 = r0[:, None]")
            b.writer.line("x1 = r1[None, :]")
        else:
            b.writer.line("x0 = r0")
        for index in range(2):
            b.writer.scalars[f"n{index}"] = b.integer(0, 2 * b.tile)
        b.scalars += [Value("pid", "int32"), Value("n0", "int32"), Value("n1", "int32")]

    def finished(self) -> GeneratedKernel:
        b, w = self.builder, self.builder.writer
        parameters = [*(a.name for a in w.arguments), *w.scalars]
        body = "\n".join(f"    {line}" for line in w.lines)
        kernel = f"@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n"
        return GeneratedKernel(
            "\n\n".join([*w.functions, kernel]),
            tuple(w.arguments),
            dict(w.scalars),
            (b.programs,) if b.programs_y == 1 else (b.programs, b.programs_y),
            {"enable_fp_fusion": b.fp_fusion, **b.options},
            b.random.randrange(1 << 30),
            frozenset(w.features),
        )

    # Statements

    def statement(self, depth: int) -> None:
        """One statement; compound ones only to a small depth."""
        b = self.builder
        simple: list[tuple[int, Callable[[], None]]] = [
            (20, self.expression),
            (6, lambda: b.remember(loads.load(b))),
            (2, self.assign),
            *((weight, lambda make=make: make(b)) for weight, make in STATEMENTS),
        ]
        compound: list[tuple[int, Callable[[], None]]] = [
            (4, lambda: self.loop(depth)),
            (4, lambda: self.branch(depth)),
            (2, self.pointer_loop),
            (2, lambda: self.conditional_loop(depth)),
        ]
        b.weighted(simple + compound if depth < MAX_DEPTH else simple)()

    def expression(self) -> None:
        """A new value."""
        self.builder.remember(self.made())

    def made(self) -> Value | None:
        make = self.builder.weighted(EXPRESSIONS)
        value = make(self.builder)
        if value is not None:
            self.builder.writer.features.add(make.__name__)
        return value

    def mixed(self) -> Value:
        """A value of the tile's shape."""
        for _ in range(4):
            value = self.made()
            if value is not None and value.shape == self.builder.shape:
                return value
        return loads.load(self.builder)

    def assign(self) -> None:
        """A variable takes another value of its kind."""
        b = self.builder
        target = b.pick_value(lambda v: v.text in b.writer.variables and v.shape == b.shape)
        if target is not None:
            self.reassign(target)

    def reassign(self, target: Value) -> None:
        """`x = ...` for an existing variable, which keeps its type, its bound, and its exactness."""
        b = self.builder
        value = b.convert(self.mixed(), target.dtype)
        if value is None or value.shape != target.shape or (target.is_exact and not value.is_exact):
            return
        if value.is_float:
            value = b.clamped(value, max(target.bound, 1.0))
            if value.slack > target.slack and not target.is_exact:
                return
        b.writer.line(f"{target.text} = {value.text}")

    # Compound statements

    def carried(self) -> list[Value]:
        """Fresh variables for a loop or branch to change."""
        b = self.builder
        found: list[Value] = []
        for _ in range(b.integer(1, 3)):
            value = b.pick_value(lambda v: v.shape == b.shape)
            if value is None:
                continue
            bound = LOOSE if value.is_float else 0.0
            # What a loop adds up may be off by the slack of everything that it adds.
            slack = 0.0 if value.is_exact else value.slack + LOOSE_SLACK * b.epsilon(value.dtype)
            name = b.writer.name("c")
            b.writer.line(f"{name} = {b.clamped(value, LOOSE).text if value.is_float else value.text}")
            found.append(Value(name, value.dtype, value.shape, bound, slack))
            b.define(found[-1])
        return found

    def block(self, depth: int, targets: list[Value]) -> None:
        """An indented body that changes some of `targets`."""
        b = self.builder
        with b.writer.indented():
            marks = b.mark()
            for _ in range(b.integer(0, 2)):
                self.statement(depth + 1)
            for target in targets:
                if b.chance(0.8):
                    self.reassign(target)
            b.writer.line("pass")
            b.forget(marks)

    def loop(self, depth: int) -> None:
        """`for i in range(...)` with constant or run-time bounds."""
        b = self.builder
        targets = self.carried()
        name = b.writer.name("i")
        kind = b.pick(RANGES)
        count = str(b.integer(0, 4)) if "static" in kind or b.chance(0.5) else b.run_time_count()
        b.writer.line(f"for {name} in {kind.format(n=count)}:")
        b.writer.features.add("static_range" if "static" in kind else "for")
        counter = Value(name, "int32")
        if "static" not in kind:
            b.scalars.append(counter)
        self.block(depth, targets)
        if counter in b.scalars:
            b.scalars.remove(counter)

    def conditional_loop(self, depth: int) -> None:
        """`while`, counted by a variable so that it ends."""
        b = self.builder
        targets = self.carried()
        name = b.writer.name("i")
        b.writer.line(f"{name} = 0")
        b.writer.line(f"while {name} < {b.run_time_count()}:")
        b.writer.features.add("while")
        with b.writer.indented():
            b.writer.line(f"{name} += 1")
        self.block(depth, targets)

    def branch(self, depth: int) -> None:
        """`if` on a scalar, with or without `else`."""
        b = self.builder
        targets = self.carried()
        b.writer.line(f"if {b.scalar_condition()}:")
        b.writer.features.add("if")
        self.block(depth, targets)
        if b.chance(0.7):
            b.writer.line("else:")
            self.block(depth, targets)

    def pointer_loop(self) -> None:
        """A pointer that a loop moves along an input, and an accumulator."""
        b, w = self.builder, self.builder.writer
        steps, step = b.integer(1, 4), b.pick((1, 2, b.shape[-1]))
        dtype = b.pick(("int32", "float32", "int8", "float16"))
        argument = b.new_argument(dtype, b.tile + step * 6)
        p, i, acc = (w.name(letter) for letter in ("p", "i", "c"))
        wide = "float32" if dtype.startswith("f") else "int32"
        w.line(f"{p} = {argument.name} + {b.tile_index()}")
        w.line(f"{acc} = tl.zeros({b.shape_text()}, tl.{wide})")
        count = str(steps) if b.chance(0.5) else b.run_time_count()
        w.line(f"for {i} in {b.pick(('range({n})', 'tl.range({n}, num_stages=3)')).format(n=count)}:")
        with w.indented():
            mask = f"{b.tile_index()} + {i} * {step} < {b.integer(0, argument.count)}"
            text = f"tl.load({p}, mask={mask}, other=1)" if b.chance(0.6) else f"tl.load({p})"
            w.line(f"{acc} += {text}.to(tl.{wide})")
            w.line(f"{p} += {step}")
        w.features.add("pointer loop")
        b.define(Value(acc, wide, b.shape, 8.0 * 7 if wide == "float32" else 0.0))
