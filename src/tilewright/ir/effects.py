"""What an op does to memory, as far as its traits say: the questions that dead code elimination, CSE and motion ask.

Answers for ops without regions are kept by class; they follow from the traits alone, unless a trait looks at the op
itself, in which case it is asked each time. An op without any memory trait may do anything.

Ops with regions have the effects of what they hold. Who asks for all of a function's keeps the answers
(`EffectTable`): otherwise the innermost of a thousand conditionals in one another is looked at a thousand times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

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
    RecursiveMemoryEffect,
    SymbolOpInterface,
    get_effects,
    is_speculatable,
)

_FIXED_EFFECT_TRAITS = (NoMemoryEffect, MemoryReadEffect, MemoryWriteEffect, MemoryAllocEffect, MemoryFreeEffect)

TraitT = TypeVar("TraitT", bound=MemoryEffect)

Effects = frozenset[MemoryEffectKind]
"""Kinds of effects an op may have."""

_ALL: Effects = frozenset(MemoryEffectKind)
_NONE: Effects = frozenset()
WRITES: Effects = frozenset({MemoryEffectKind.WRITE, MemoryEffectKind.FREE})
"""What the world can see: memory is written, or is no longer there."""
_by_class: dict[type[Operation], Effects | None] = {}
_of_contents: set[type[Operation]] = set()
"""Classes whose ops have the effects of what their regions hold, and no others."""


def memory_effects(op: Operation) -> Effects:
    """The kinds of memory effects that an op, with what its regions hold, may have; all of them if it does not say."""
    return _effects(op, memory_effects)


def own_effects(op: Operation) -> Effects:
    """The kinds of memory effects of an op by itself, without what its regions hold; all of them if it does not say."""
    return _effects(op, None)


def fixed_effects(cls: type[Operation]) -> Effects | None:
    """The effects that each op of a class has, where they are the same and an op of it was asked about."""
    return _by_class.get(cls)


def _effects(op: Operation, of_inner: Callable[[Operation], Effects] | None) -> Effects:
    """The effects of an op, by those of the ops that its regions hold; without them where nothing tells of these."""
    cls = type(op)
    try:
        known = _by_class[cls]
    except KeyError:
        known = _by_class[cls] = _effects_of_class(op)
    if known is not None:
        return known
    if cls in _of_contents:
        return _NONE if of_inner is None else _effects_of_contents(op, of_inner)
    instances = get_effects(op)
    return _ALL if instances is None else frozenset(instance.kind for instance in instances)


def _effects_of_contents(op: Operation, of_inner: Callable[[Operation], Effects]) -> Effects:
    found = _NONE
    for region in op.regions:
        block = region.first_block
        while block is not None:
            inner = block.first_op
            while inner is not None:
                cls = type(inner)
                known = _by_class.get(cls)
                found |= of_inner(inner) if known is None else known
                if found == _ALL:
                    return found
                inner = inner.next_op
            block = block.next_block
    return found


def _effects_of_class(op: Operation) -> Effects | None:
    """Effects that hold for every op of a class, or None when each op has to be asked."""
    traits = op.get_traits_of_type(MemoryEffect)
    if not traits:
        return _ALL
    if all(type(trait) is RecursiveMemoryEffect for trait in traits):
        _of_contents.add(type(op))
        return None
    if any(trait.get_effects.__func__ not in _FIXED_FUNCTIONS for trait in traits):
        return None
    instances = get_effects(op)
    return _ALL if instances is None else frozenset(instance.kind for instance in instances)


_FIXED_FUNCTIONS = {trait.get_effects.__func__ for trait in _FIXED_EFFECT_TRAITS}


def has_fixed_effects(trait: type[TraitT]) -> type[TraitT]:
    """Class decorator: a trait whose effects are the same for all ops, so that they are asked for once a class."""
    method: Any = trait.get_effects
    _FIXED_FUNCTIONS.add(method.__func__)
    return trait


class EffectTable:
    """Effects of the ops of a function, each looked at once: those of ops with regions are kept."""

    def __init__(self) -> None:
        self._kept: dict[Operation, Effects] = {}

    def effects(self, op: Operation) -> Effects:
        """`memory_effects`, as of the first question about an op, or the first since `forget`."""
        if not op.regions:
            return memory_effects(op)
        found = self._kept.get(op)
        if found is None:
            found = self._kept[op] = _effects(op, self.effects)
        return found

    def forget(self, op: Operation) -> None:
        """Look at an op again, as its regions have changed; the ops around it keep their answers."""
        self._kept.pop(op, None)


def is_memory_free(op: Operation) -> bool:
    """Return whether an op, with what it holds, surely touches no memory: its results depend on its operands alone."""
    return not memory_effects(op)


def is_pure(op: Operation) -> bool:
    """Return whether an op touches no memory and cannot trap, so that it may be dropped, repeated and moved freely."""
    return not memory_effects(op) and may_be_speculated(op)


def may_write(op: Operation) -> bool:
    """Return whether an op may change or free memory, or do anything the world can see."""
    return _is_write(memory_effects(op))


def _is_write(effects: Effects) -> bool:
    """Sets know the hashes of what they hold, which an enumeration's member computes in Python."""
    return not WRITES.isdisjoint(effects)


def may_be_speculated(op: Operation) -> bool:
    """Return whether an op can run where the program would not have run it: never traps, never loops for ever."""
    return op.get_trait(ConditionallySpeculatable) is not None and is_speculatable(op)


def is_trivially_dead(op: Operation, effects: Callable[[Operation], Effects] = memory_effects) -> bool:
    """Return whether nothing would miss the op: no result used, nothing written, no terminator, no symbol.

    Reads and fresh allocations do not count as use: an unused load may go. `effects` tells of an op's.
    """
    for result in op.results:
        if result.first_use is not None:
            return False
    cls = type(op)
    if _stays_unused(cls):
        return False
    known = _by_class.get(cls)
    return WRITES.isdisjoint(effects(op) if known is None else known)


@cache
def _stays_unused(cls: type[Operation]) -> bool:
    """Return whether the ops of a class are there for more than their results and effects."""
    return cls.has_trait(IsTerminator, value_if_unregistered=True) or cls.has_trait(
        SymbolOpInterface, value_if_unregistered=True
    )
