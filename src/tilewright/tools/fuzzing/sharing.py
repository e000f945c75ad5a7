"""Arguments that point into the same memory: stores through one of them are seen by loads through the others."""

from __future__ import annotations

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.memory import synchronise
from tilewright.tools.fuzzing.values import BITS, INTS, LARGE, Argument, Value

SHARED_FLOATS = ("float16", "float32", "float64")
WORD = 8
"""Bytes of the widest element: what each program has to itself is a multiple of it for all types."""
NEAR = 4
"""How far accesses of one round, and rounds of a loop, move, in elements."""
ROUNDS = 3


@dataclass(frozen=True)
class SharedPointer:
    """A pointer, and how many elements further on the next program's part of the memory starts."""

    argument: Argument
    pitch: int

    @property
    def pointer(self) -> str:
        return f"{self.argument.name} + pid * {self.pitch}"


def shared_memory(b: Builder) -> None:
    """Loads and stores through pointers into one memory, some of them in a loop that reads what it wrote."""
    pointers = _make_arguments(b)
    b.writer.features.add("shared memory")
    if b.chance(0.4):
        _loop(b, pointers)
    for _ in range(b.integer(2, 4)):
        shared = b.pick(pointers)
        synchronise(b)
        if b.chance(0.5):
            b.remember(_load(b, shared, str(b.integer(0, NEAR))))
        else:
            _store(b, shared, str(b.integer(0, NEAR)))
    if b.chance(0.3):
        _loop(b, pointers)


def _make_arguments(b: Builder) -> list[SharedPointer]:
    """Two or three pointers, each a little further on than the one that they all count from. Integers may lie in the
    memory of integers of another width."""
    dtype = b.pick((*INTS, *SHARED_FLOATS))
    programs = b.programs * b.programs_y
    part = (b.tile + 3 * (ROUNDS + 2) * NEAR) * 2 * WORD  # bytes: further than any access of a program reaches
    whole = b.new_argument(dtype, part * programs // _size(dtype))
    pointers = [SharedPointer(whole, part // _size(dtype))]
    for _ in range(b.integer(1, 2)):
        own = b.pick(INTS) if dtype in INTS and b.chance(0.3) else dtype
        start = b.pick((0, 1, b.integer(0, NEAR), b.tile // 2, b.tile)) * _size(own)
        view = b.new_argument(own, (part * programs - start) // _size(own), within=whole.name, start=start)
        pointers.append(SharedPointer(view, part // _size(own)))
    return pointers


def _size(dtype: str) -> int:
    return BITS[dtype] // 8


def _load(b: Builder, shared: SharedPointer, place: str) -> Value:
    dtype = shared.argument.dtype
    mask = f", mask={b.lane_condition()}, other=1" if b.chance(0.3) else ""
    return b.named(f"tl.load({shared.pointer} + {place} + {b.permuted_index()}{mask})", dtype, b.shape, LARGE)


def _store(b: Builder, shared: SharedPointer, place: str, value: Value | None = None) -> None:
    value = value or b.pick_value(lambda v: v.shape == b.shape and v.is_exact)
    converted = None if value is None else b.convert(value, shared.argument.dtype)
    if converted is None or not converted.is_exact:
        return
    mask = f", mask={b.lane_condition()}" if b.chance(0.3) else ""
    index = b.permuted_index() if b.chance(0.3) else b.tile_index()
    b.writer.line(f"tl.store({shared.pointer} + {place} + {index}, {b.clamped(converted, LARGE).text}{mask})")


def _loop(b: Builder, pointers: list[SharedPointer]) -> None:
    """Each iteration reads through some of the pointers and writes through one of them, a little further on each
    time."""
    counter, step = b.writer.name("i"), b.integer(0, NEAR)
    count = str(b.integer(1, ROUNDS)) if b.chance(0.5) else b.run_time_count()
    b.writer.line(f"for {counter} in range({count}):")
    with b.writer.indented():
        marks = b.mark()
        synchronise(b)
        source, target = b.pick(pointers), b.pick(pointers)
        place = f"{counter} * {step}"
        loaded = _load(b, source, place)
        if b.chance(0.5):
            _store(b, b.pick(pointers), f"{b.integer(0, NEAR)} + {place}", loaded)
        synchronise(b)
        again = _load(b, b.pick(pointers), f"{b.integer(0, NEAR)} + {place}")
        _store(b, target, f"{b.integer(0, NEAR)} + {place}", _mixed(b, loaded, again))
        b.forget(marks)


def _mixed(b: Builder, loaded: Value, again: Value) -> Value:
    """Something of both that is exact: integers are added, of floats the larger one counts."""
    if not loaded.same_kind(again):
        return b.pick((loaded, again))
    if loaded.is_float:
        text = f"tl.maximum({loaded.text}, -{again.text}).to(tl.{loaded.dtype})"
    else:
        text = f"({loaded.text} + {again.text}).to(tl.{loaded.dtype})"
    return b.named(text, loaded.dtype, b.shape, LARGE)
