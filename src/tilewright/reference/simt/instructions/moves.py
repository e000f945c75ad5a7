"""Moves, choices, comparisons, changes of address space, and hints that mean nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.reference.simt.instructions.bits import B32, PREDICATE
from tilewright.reference.simt.layout import (
    LOCAL_WINDOW,
    MODULE_WINDOW,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
)
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.packed import joined, lanes, spread_all
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, unknown
from tilewright.reference.simt.rounding import flush
from tilewright.reference.simt.types import Values, choose, storage_of
from tilewright.support.ptx.syntax import Instruction, Operand, Pair, Register, Vector
from tilewright.support.ptx.types import Type, parse_type, types_in


@decodes("mov")
def move(instruction: Instruction, decoder: Decoder) -> Step:
    """`mov.b32 d, a;`, and `mov.b64 {lo, hi}, a;` and `mov.b64 d, {lo, hi};`, which split and join registers."""
    type_ = decoder.type_of(instruction)
    into, out_of = instruction.operands
    if isinstance(into, Vector):
        return _split(instruction, decoder, type_, into, out_of)
    if isinstance(out_of, Vector):
        return _join(instruction, decoder, type_, into, out_of)
    target, source = decoder.target(into, type_, instruction), decoder.source(out_of, type_, instruction)

    def run(machine: Machine) -> None:
        values = source(machine)
        target(machine, values.copy() if values.ndim else values)

    return run


def part_type(type_: Type, count: int) -> Type:
    """The type of one of several equal parts of a register."""
    found = parse_type(f"b{type_.bits // count}")
    assert found is not None
    return found


def _split(instruction: Instruction, decoder: Decoder, type_: Type, into: Vector, out_of: Operand) -> Step:
    part = part_type(type_, len(into.items))
    targets = [decoder.target(item, part, instruction) for item in into.items]
    source = decoder.source(out_of, type_, instruction)

    def run(machine: Machine) -> None:
        values = source(machine)
        rows = lanes(values, part.dtype)
        for position, target in enumerate(targets):
            target(machine, rows[:, position].copy() if values.ndim else rows[0, position])

    return run


def _join(instruction: Instruction, decoder: Decoder, type_: Type, into: Operand, out_of: Vector) -> Step:
    part = part_type(type_, len(out_of.items))
    target = decoder.target(into, type_, instruction)
    sources = decoder.sources(out_of.items, part, instruction)
    storage = storage_of(type_.bits)

    def run(machine: Machine) -> None:
        values = spread_all([source(machine) for source in sources])
        scalar = values[0].ndim == 0
        target(machine, joined(np.stack([np.atleast_1d(value) for value in values], 1), storage, scalar=scalar))

    return run


@decodes("selp")
def select(instruction: Instruction, decoder: Decoder) -> Step:
    """`selp.b32 d, a, b, p;`: a where p."""
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], type_, instruction)
    first, second = decoder.sources(instruction.operands[1:3], type_, instruction)
    choice = decoder.source(instruction.operands[3], PREDICATE, instruction)
    return lambda machine: target(machine, choose(choice(machine), first(machine), second(machine)))


@decodes("slct")
def select_by_sign(instruction: Instruction, decoder: Decoder) -> Step:
    """`slct.s32.f32 d, a, b, c;`: a where c is not negative."""
    type_, of_choice = types_in(instruction.modifiers)
    target = decoder.target(instruction.operands[0], type_, instruction)
    first, second = decoder.sources(instruction.operands[1:3], type_, instruction)
    choice = _compared(instruction, decoder, 3, of_choice)
    return lambda machine: target(machine, choose(choice(machine) >= 0, first(machine), second(machine)))


def _unordered(compare: Callable[[Values, Values], Values]) -> Callable[[Values, Values], Values]:
    return lambda a, b: compare(a, b) | np.isnan(a) | np.isnan(b)


ORDERED: dict[str, Callable[[Values, Values], Values]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
COMPARISONS: dict[str, Callable[[Values, Values], Values]] = {
    **ORDERED,
    **{f"{name}u": _unordered(compare) for name, compare in ORDERED.items()},
    "lo": ORDERED["lt"],
    "ls": ORDERED["le"],
    "hi": ORDERED["gt"],
    "hs": ORDERED["ge"],
    "num": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "nan": lambda a, b: np.isnan(a) | np.isnan(b),
}
COMBINATIONS: dict[str, Callable[[Values, Values], Values]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _compared(instruction: Instruction, decoder: Decoder, position: int, type_: Type) -> Source:
    """An operand of a comparison; under `.ftz` subnormal floats are zeros."""
    source = decoder.source(instruction.operands[position], type_, instruction)
    if "ftz" not in instruction.modifiers or type_.kind != "f" or type_.bits == 64:
        return source
    return lambda machine: flush(np.asarray(source(machine)))


def _comparison(instruction: Instruction, type_: Type) -> Callable[[Values, Values], Values]:
    compare = COMPARISONS.get(instruction.modifiers[0])
    if compare is None:
        raise unknown(instruction)
    if type_.is_float and instruction.modifiers[0] == "ne":
        return lambda a, b: (a != b) & ~np.isnan(a) & ~np.isnan(b)
    return compare


@decodes("setp")
def compare(instruction: Instruction, decoder: Decoder) -> Step:
    """`setp.lt.s32 p|q, a, b;`, and `setp.lt.and.s32 p, a, b, c;`, where q is the opposite of p's comparison."""
    type_, result = decoder.type_of(instruction), instruction.operands[0]
    if type_.lanes > 1:
        return _compare_pairs(instruction, decoder, type_)
    check = _comparison(instruction, type_)
    results = [result.first, result.second] if isinstance(result, Pair) else [result]
    targets = [decoder.target(each, PREDICATE, instruction) for each in results]
    first, second = (_compared(instruction, decoder, position, type_) for position in (1, 2))
    combine = next((COMBINATIONS[part] for part in instruction.modifiers[1:] if part in COMBINATIONS), None)
    if combine is None and len(targets) == 1:
        target = targets[0]
        return lambda machine: target(machine, np.asarray(check(first(machine), second(machine)), np.bool_))
    third = decoder.source(instruction.operands[3], PREDICATE, instruction) if combine is not None else None

    def run(machine: Machine) -> None:
        holds = np.asarray(check(first(machine), second(machine)), np.bool_)
        for target, value in zip(targets, (holds, ~holds), strict=False):
            target(machine, value if combine is None or third is None else combine(value, third(machine)))

    return run


def _compare_pairs(instruction: Instruction, decoder: Decoder, type_: Type) -> Step:
    """`setp.lt.f16x2 p|q, a, b;`: p of the lower elements, q of the upper ones."""
    result, check = instruction.operands[0], _comparison(instruction, type_)
    if not isinstance(result, Pair) or len(instruction.operands) > 3 or "ftz" in instruction.modifiers:
        raise unknown(instruction)
    targets = [decoder.target(each, PREDICATE, instruction) for each in (result.first, result.second)]
    first, second = decoder.sources(instruction.operands[1:3], type_, instruction)

    def run(machine: Machine) -> None:
        a, b = (lanes(value, type_.dtype) for value in spread_all([first(machine), second(machine)]))
        for lane, target in enumerate(targets):
            holds = np.asarray(check(a[:, lane], b[:, lane]), np.bool_)
            target(machine, holds if holds.size > 1 else holds[0])

    return run


@decodes("set")
def compare_to_number(instruction: Instruction, decoder: Decoder) -> Step:
    """`set.lt.u32.f32 d, a, b;`: all ones, or 1.0, where it holds."""
    into, type_ = types_in(instruction.modifiers)
    check = _comparison(instruction, type_)
    target = decoder.target(instruction.operands[0], into, instruction)
    first, second = (_compared(instruction, decoder, position, type_) for position in (1, 2))
    if type_.lanes > 1 or len(instruction.operands) > 3:
        raise unknown(instruction)
    yes: Any = into.dtype.type(1) if into.is_float else ~into.dtype.type(0)
    return lambda machine: target(machine, choose(check(first(machine), second(machine)), yes, into.dtype.type(0)))


@decodes("testp")
def test_property(instruction: Instruction, decoder: Decoder) -> Step:
    """`testp.infinite.f32 p, a;`"""
    type_, what = decoder.type_of(instruction), instruction.modifiers[0]
    smallest = np.finfo(type_.dtype).tiny
    tests: dict[str, Callable[[Values], Values]] = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda x: ~np.isnan(x),
        "notanumber": np.isnan,
        "normal": lambda x: np.isfinite(x) & (np.abs(x) >= smallest),
        "subnormal": lambda x: (x != 0) & (np.abs(x) < smallest),
    }
    if what not in tests:
        raise unknown(instruction)
    target = decoder.target(instruction.operands[0], PREDICATE, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    return lambda machine: target(machine, np.asarray(tests[what](source(machine)), np.bool_))


WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": 0, "global": 0, "const": 0}
"""What is added to the address in a space to make it generic: those of parameters and variables are so already."""


def space_of(modifiers: tuple[str, ...]) -> str:
    """The state space among modifiers; empty for a generic address."""
    for part in modifiers:
        name = part.partition("::")[0]
        if name in WINDOWS:
            return name
    return ""


@decodes("cvta")
def convert_address(instruction: Instruction, decoder: Decoder) -> Step:
    """`cvta.shared.u64 d, a;` makes an address generic, `cvta.to.shared.u64` the inverse."""
    type_ = decoder.type_of(instruction)
    base = np.uint64(WINDOWS[space_of(instruction.modifiers)])
    backwards = "to" in instruction.modifiers
    target = decoder.target(instruction.operands[0], type_, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)

    def run(machine: Machine) -> None:
        values = source(machine).astype(np.uint64)
        target(machine, (values - base if backwards else values + base).astype(type_.dtype))

    return run


@decodes("isspacep")
def is_in_space(instruction: Instruction, decoder: Decoder) -> Step:
    """`isspacep.global p, a;`"""
    space = space_of(instruction.modifiers)
    target = decoder.target(instruction.operands[0], PREDICATE, instruction)
    source = decoder.source(instruction.operands[1], parse_type("b64") or B32, instruction)
    window = {"param": PARAMETER_WINDOW, "const": MODULE_WINDOW}.get(space, WINDOWS[space])

    def run(machine: Machine) -> None:
        address = source(machine).astype(np.uint64)
        if space == "global":
            inside = (address < SHARED_WINDOW) | (address >= MODULE_WINDOW)
        else:
            inside = (address >= window) & (address < window + WINDOW_SIZE)
        target(machine, np.asarray(inside, np.bool_))

    return run


@decodes("mapa")
def map_to_cluster(instruction: Instruction, decoder: Decoder) -> Step:
    """`mapa.shared::cluster.u32 d, a, rank;`: the same address in another CTA of the cluster."""
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], type_, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    rank = decoder.source(instruction.operands[2], B32, instruction)

    def run(machine: Machine) -> None:
        addresses = source(machine)
        if machine.clusters is not None:
            ranks = machine.spread(rank(machine)).astype(np.int64)
            addresses = machine.clusters.map(machine.spread(addresses), ranks)
        target(machine, addresses + type_.dtype.type(0))

    return run


@decodes("getctarank")
def rank_of_address(instruction: Instruction, decoder: Decoder) -> Step:
    """`getctarank.shared::cluster.u32 d, a;`: the CTA of the cluster that an address lies in."""
    type_ = decoder.type_of(instruction)
    target = decoder.target(instruction.operands[0], B32, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)

    def run(machine: Machine) -> None:
        ranks: Values = np.uint32(0)
        if machine.clusters is not None:
            offsets = machine.spread(source(machine)).astype(np.int64) & np.int64((1 << 32) - 1)
            ranks = machine.clusters.ranks_of(machine.threads, offsets).astype(np.uint32)
        target(machine, ranks)

    return run


@decodes("createpolicy")
def zero(instruction: Instruction, decoder: Decoder) -> Step:
    """A cache policy, which nothing looks at."""
    operand = instruction.operands[0]
    type_ = parse_type(f"b{operand.bits if isinstance(operand, Register) else 32}")
    target = decoder.target(operand, type_ or B32, instruction)
    value = storage_of((type_ or B32).bits).type(0)
    return lambda machine: target(machine, value)


@decodes("fence.mbarrier_init")
def fence_barriers(instruction: Instruction, decoder: Decoder) -> Step:
    """`fence.mbarrier_init.release.cluster;`: mbarriers that the thread initialised are visible to the CTAs of the
    cluster, once they have met."""

    def run(machine: Machine) -> None:
        if machine.clusters is not None:
            machine.clusters.fence_inits(machine.threads)

    return run


@decodes(
    "fence",
    "membar",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "griddepcontrol",
    "setmaxnreg",
    "nanosleep",
    "pmevent",
)
def nothing(instruction: Instruction, decoder: Decoder) -> Step:
    """Threads see each other's writes to global memory at once; caches, registers and time are not modelled."""
    return lambda machine: None
