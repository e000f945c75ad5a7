"""Random programs over integers and pointers, as text: elementwise arithmetic, changes of shape, loops, branches."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

BINARY = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "addi", "muli")
DIVISIONS = ("divsi", "divui", "remsi", "remui", "remsi", "divsi")
SHIFTS = ("shli", "shrsi", "shrui")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 64, 127, 128, -1, -8, -16)
DIVISORS = (1, 2, 3, 4, 6, 8, 16, 32, 48, 64)


@dataclass
class Writer:
    """One function body being written; `pool` has the names of values by their types."""

    rng: random.Random
    lines: list[str] = field(default_factory=list[str])
    pool: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    count: int = 0
    indent: str = "  "

    def emit(self, text: str, type: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{self.indent}{name} = {text}")
        self.pool.setdefault(type, []).append(name)
        return name

    def any_of(self, type: str) -> str:
        return self.rng.choice(self.pool[type]) if self.pool.get(type) else self.constant(type)

    def constant(self, type: str, number: int | None = None) -> str:
        value = self.rng.choice(NUMBERS) if number is None else number
        if element_of(type) == "i1":
            value &= 1
        elif element_of(type) == "i8":
            value = max(-128, min(127, value))
        return self.emit(f"arith.constant {f'dense<{value}>' if type.startswith('tensor') else value} : {type}", type)


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>" if shape else element


def element_of(type: str) -> str:
    return type.split("x")[-1].rstrip(">") if type.startswith("tensor") else type


def shape_of(type: str) -> tuple[int, ...]:
    return tuple(int(part) for part in type[7:].split("x") if part.isdigit()) if type.startswith("tensor") else ()


def integer_types(writer: Writer) -> list[str]:
    return [t for t in writer.pool if element_of(t) in ("i8", "i16", "i32", "i64")]


def write_step(writer: Writer) -> None:
    """One more value."""
    rng = writer.rng
    type = rng.choice(integer_types(writer))
    shape, element = shape_of(type), element_of(type)
    match rng.randrange(13):
        case 0 | 1 | 2 | 3:
            writer.emit(f"arith.{rng.choice(BINARY)} {writer.any_of(type)}, {writer.any_of(type)} : {type}", type)
        case 4 | 5:
            divisor = writer.constant(type, rng.choice(DIVISORS))
            if rng.random() < 0.3:
                divisor = writer.emit(f"arith.maxsi {writer.any_of(type)}, {divisor} : {type}", type)
            writer.emit(f"arith.{rng.choice(DIVISIONS)} {writer.any_of(type)}, {divisor} : {type}", type)
        case 6:
            amount = writer.constant(type, rng.randrange(6))
            writer.emit(f"arith.{rng.choice(SHIFTS)} {writer.any_of(type)}, {amount} : {type}", type)
        case 7:
            mask = writer.emit(
                f"arith.cmpi {rng.choice(PREDICATES)}, {writer.any_of(type)}, {writer.any_of(type)} : {type}",
                tensor(shape, "i1"),
            )
            sides = f"{writer.any_of(type)}, {writer.any_of(type)}"
            types = f"{tensor(shape, 'i1')}, {type}" if shape else type
            writer.emit(f"arith.select {mask}, {sides} : {types}", type)
        case 8:
            _write_cast(writer, type, shape, element)
        case 9:
            if not shape:
                target = tensor(rng.choice(((16,), (4, 8))), element)
                writer.emit(f"tt.splat {writer.any_of(type)} : {type} -> {target}", target)
            else:
                _write_reshape(writer, type, shape, element)
        case 10:
            _write_pointer(writer, type, shape, element)
        case 11:
            _write_loop(writer, type)
        case _:
            _write_branch(writer, type)


def _write_cast(writer: Writer, type: str, shape: tuple[int, ...], element: str) -> None:
    width = int(element[1:])
    other = writer.rng.choice([w for w in (8, 16, 32, 64) if w != width])
    cast = writer.rng.choice(("extsi", "extui")) if other > width else "trunci"
    target = tensor(shape, f"i{other}")
    writer.emit(f"arith.{cast} {writer.any_of(type)} : {type} to {target}", target)


def _write_reshape(writer: Writer, type: str, shape: tuple[int, ...], element: str) -> None:
    source, rng = writer.any_of(type), writer.rng
    kind = rng.randrange(5)
    if kind == 0 and len(shape) < 3:
        axis = rng.randrange(len(shape) + 1)
        target = tensor((*shape[:axis], 1, *shape[axis:]), element)
        view = writer.emit(f"tt.expand_dims {source} {{axis = {axis} : i32}} : {type} -> {target}", target)
        wide = tensor((*shape[:axis], rng.choice((2, 8)), *shape[axis:]), element)
        writer.emit(f"tt.broadcast {view} : {target} -> {wide}", wide)
    elif kind == 1 and len(shape) > 1:
        order = list(range(len(shape)))
        rng.shuffle(order)
        target = tensor(tuple(shape[dim] for dim in order), element)
        text = ", ".join(map(str, order))
        writer.emit(f"tt.trans {source} {{order = array<i32: {text}>}} : {type} -> {target}", target)
    elif kind == 2:
        total = 1
        for extent in shape:
            total *= extent
        rows = rng.choice([n for n in (1, 2, 4, 8, 16, 32, 64) if total % n == 0])
        target = tensor(rng.choice(((rows, total // rows), (total,))), element)
        writer.emit(f"tt.reshape {source} : {type} -> {target}", target)
    elif kind == 3 and len(shape) < 3:
        target = tensor((*shape, 2), element)
        joined = writer.emit(f"tt.join {source}, {writer.any_of(type)} : {type} -> {target}", target)
        writer.lines.append(f"{writer.indent}%s{writer.count}:2 = tt.split {joined} : {target} -> {type}")
        writer.pool[type] += [f"%s{writer.count}#0", f"%s{writer.count}#1"]
        writer.count += 1
    else:
        extent = rng.choice((16, 32, 64))
        start = rng.choice((0, 0, 16, 8, 3))
        target = f"tensor<{extent}xi32>"
        writer.emit(f"tt.make_range {{end = {start + extent} : i32, start = {start} : i32}} : {target}", target)


def _write_pointer(writer: Writer, type: str, shape: tuple[int, ...], element: str) -> None:
    if element not in ("i32", "i64"):
        return
    base, pointee = writer.rng.choice((("%p", "f32"), ("%q", "f16"), ("%b", "i8")))
    scalar, target = f"!tt.ptr<{pointee}>", tensor(shape, f"!tt.ptr<{pointee}>")
    pointers = writer.any_of(target) if writer.pool.get(target) and writer.rng.random() < 0.5 else base
    if pointers == base and shape:
        pointers = writer.emit(f"tt.splat {base} : {scalar} -> {target}", target)
    moved = writer.emit(f"tt.addptr {pointers}, {writer.any_of(type)} : {target}, {type}", target)
    address = tensor(shape, "i64")
    if writer.rng.random() < 0.3:
        writer.emit(f"tt.ptr_to_int {moved} : {target} -> {address}", address)


def _write_loop(writer: Writer, type: str) -> None:
    if writer.indent != "  ":
        return
    first, second = writer.any_of(type), writer.any_of(type)
    low, high, step = (writer.constant("i32", n) for n in (0, writer.rng.choice((0, 1, 3, 5)), 1))
    name = f"%l{writer.count}"
    carried = (f"{name}a", f"{name}b")
    writer.lines.append(
        f"  {name}:2 = scf.for {name}i = {low} to {high} step {step} "
        f"iter_args({carried[0]} = {first}, {carried[1]} = {second}) -> ({type}, {type})  : i32 {{"
    )
    yielded = _write_inner(writer, {type: list(carried), "i32": [f"{name}i"]}, type)
    writer.lines.append(f"    scf.yield {yielded[0]}, {yielded[1]} : {type}, {type}\n  }}")
    writer.pool[type] += [f"{name}#0", f"{name}#1"]


def _write_branch(writer: Writer, type: str) -> None:
    if writer.indent != "  ":
        return
    condition = writer.emit(f"arith.cmpi slt, {writer.any_of('i32')}, {writer.any_of('i32')} : i32", "i1")
    name = f"%f{writer.count}"
    writer.lines.append(f"  {name} = scf.if {condition} -> ({type}) {{")
    writer.lines.append(f"    scf.yield {_write_inner(writer, {}, type)[0]} : {type}\n  }} else {{")
    writer.lines.append(f"    scf.yield {_write_inner(writer, {}, type)[0]} : {type}\n  }}")
    writer.pool[type].append(name)


def _write_inner(writer: Writer, more: dict[str, list[str]], type: str) -> tuple[str, str]:
    """A few steps inside of a region; two values of a type for what ends it."""
    outside, indent = writer.pool, writer.indent
    writer.pool = {t: list(names) for t, names in outside.items()}
    for t, names in more.items():
        writer.pool.setdefault(t, []).extend(names * 3)
    writer.indent = indent + "  "
    for _ in range(writer.rng.randrange(4)):
        write_step(writer)
    yielded = writer.any_of(type), writer.any_of(type)
    writer.pool, writer.indent = outside, indent
    return yielded


def random_function(rng: random.Random, steps: int = 14) -> str:
    """A function `@f` of three pointers and two numbers."""
    writer = Writer(rng)
    writer.pool = {"i32": ["%n", "%m"]}
    writer.emit("tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>", "tensor<16xi32>")
    writer.emit("tt.make_range {end = 96 : i32, start = 32 : i32} : tensor<64xi32>", "tensor<64xi32>")
    writer.emit("tt.get_program_id x : i32", "i32")
    for _ in range(steps):
        write_step(writer)
    body = "\n".join(writer.lines)
    pointers = "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 32 : i32}"
    others = "%b: !tt.ptr<i8>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32"
    return f"tt.func public @f({pointers}, {others}) {{\n{body}\n  tt.return\n}}\n"
