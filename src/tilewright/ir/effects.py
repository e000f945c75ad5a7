"""What an op does to memory, as far as its traits say: the questions that dead code elimination, CSE and motion ask.

Answers for ops without regions are kept by class; they follow from the traits alone, unless a trait looks at the op
itself, in which case it is asked each time. An op without any memory trait may do anything.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.traits import (
    ConditionallySpeculatable,
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    MemoryFreeEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoMemoryEffect,
    SymbolOpInterface,
    get_effects,
    is_speculatable,
)

_FIXED_EFFECT_TRAITS = (NoMemoryEffect, MemoryReadEffect, MemoryWriteEffect, MemoryAllocEffect, MemoryFreeEffect)

Effects = frozenset[MemoryEffectKind]
"""Kinds of effects an op may have."""

_ALL: Effects = frozenset(MemoryEffectKind)
_by_class: dict[type[Operation], Effects | None] = {}


def memory_effects(op: Operation) -> Effects:
    """The kinds of memory effects that an op, with what its regions hold, may have; all of them if it does not say."""
    cls = type(op)
    try:
        known = _by_class[cls]
    except KeyError:
        known = _by_class[cls] = _effects_of_class(op)
    if known is not None:
        return known
    instances = get_effects(op)
    return _ALL if instances is None else frozenset(instance.kind for instance in instances)


def _effects_of_class(op: Operation) -> Effects | None:
    """Effects that hold for every op of a class, or None when each op has to be asked."""
    traits = op.get_traits_of_type(MemoryEffect)
    if not traits:
        return _ALL
    if any(trait.get_effects.__func__ not in _FIXED_FUNCTIONS for trait in traits):
        return None
    instances = get_effects(op)
    return _ALL if instances is None else frozenset(instance.kind for instance in instances)


_FIXED_FUNCTIONS = frozenset(trait.get_effects.__func__ for trait in _FIXED_EFFECT_TRAITS)


def is_memory_free(op: Operation) -> bool:
    """Whether an op, with what it holds, surely touches no memory: its results depend on its operands alone."""
    return not memory_effects(op)


def is_pure(op: Operation) -> bool:
    """Whether an op touches no memory and cannot trap, so that it may be dropped, repeated and moved freely."""
    return not memory_effects(op) and may_be_speculated(op)


def may_read(op: Operation) -> bool:
    """Whether an op may read memory."""
    return MemoryEffectKind.READ in memory_effects(op)


def may_write(op: Operation) -> bool:
    """Whether an op may change or free memory, or do anything the world can see."""
    effects = memory_effects(op)
    return MemoryEffectKind.WRITE in effects or MemoryEffectKind.FREE in effects


def may_be_speculated(op: Operation) -> bool:
    """Whether an op can run where the program would not have run it: never traps, never loops for ever."""
    return op.get_trait(ConditionallySpeculatable) is not None and is_speculatable(op)


def is_trivially_dead(op: Operation) -> bool:
    """Whether nobody would miss the op: no result used, nothing written, no terminator, no symbol.

    Reads and fresh allocations do not count as use: an unused load may go.
    """
    if any(result.first_use is not None for result in op.results):
        return False
    if may_write(op):
        return False
    return not (
        op.has_trait(IsTerminator, value_if_unregistered=True)
        or op.has_trait(SymbolOpInterface, value_if_unregistered=True)
    )
