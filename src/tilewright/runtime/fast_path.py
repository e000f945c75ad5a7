"""The fast path to a kernel that has been launched like this before: what `launching.py` measures.

A kernel keeps, for the switches that are set at present, one reader for each combination of argument classes (see
`runtime/reading.py`) and then one plan for each key that the reader has seen. Only the slow path (`Binder`) files
plans here, and whatever is unusual takes the slow path again.

It stays for what it buys: 4.4 us a launch where the slow path takes 92 (an empty kernel on a Zen 3, three arguments).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from operator import itemgetter
from typing import Any, cast

import numpy as np

from tilewright.compiler.kernel import CompiledKernel
from tilewright.language.callables import sources_replaced
from tilewright.runtime.reading import Read, Reader, make_reader
from tilewright.runtime.specialization import ParameterRule
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError
from tilewright.support.records import dataclass
from tilewright.targets.capabilities import Repeatable, Start, can

_ndarray: Any = np.ndarray


@dataclass(slots=True)
class Plan:
    """A launch that was made before, ready to be made again with other values."""

    kernel: CompiledKernel
    start: Start
    chosen: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    """Picks the slots that the kernel takes, where it does not take all that a reader finds."""
    written: tuple[tuple[int, int], ...]
    """NumPy arguments, and descriptors of such, that the kernel stores to: their slots, their parameters' numbers."""
    disjoint: bool = True
    """Whether no two pointers share memory, but for those of `only_read`, and for those that are the same."""
    only_read: frozenset[int] = frozenset()
    """Parameters."""
    same: Mapping[int, int] = field(default_factory=dict[int, int])
    """For parameters that are the same pointer as others the first of these."""
    place: Any = 0
    """The device that the data lies on."""
    is_repeatable: bool = True
    """Whether native code may come to recognise such launches; see `runtime/repeating.py`."""

    def launch(self, slots: tuple[Any, ...], values: Sequence[Any], grid: tuple[int, int, int]) -> bool:
        """Launch; an empty grid does nothing. False for a float that is too large for its slot: by the slow path it
        becomes infinite. Raises ArgumentValueError where the kernel stores to a read-only array."""
        for slot, index in self.written:
            if not _memory_of(values[index]).flags.writeable:
                raise read_only(self.kernel, self.kernel.parameters.names[slot])
        x, y, z = grid
        if x and y and z:
            try:
                self.start(slots if self.chosen is None else self.chosen(slots), x, y, z)
            except OverflowError:
                return False
        return True


Recognised = tuple[Plan, tuple[Any, ...], tuple[Any, ...], dict[str, Any]]
"""The plan of a launch, its slots, and the values and options that it was called with."""


def _unknown(*args: Any, **keywords: Any) -> Any:
    """Recognises nothing yet."""
    raise KeyError


@dataclass(slots=True)
class Shortcuts:
    """What a kernel was launched with under one state of the switches."""

    separate: Callable[..., tuple[tuple[Any, ...], tuple[type, ...], dict[str, Any]]] = _unknown
    """See `Binder.separate`."""
    switches: Hashable = None
    generation: int = -1
    """Of the switches when they were last these."""
    known: dict[tuple[type, ...], tuple[Read, dict[Hashable, Plan]]] = field(
        default_factory=dict[tuple[type, ...], tuple[Read, dict[Hashable, Plan]]]
    )
    readers: dict[tuple[type, ...], Reader] = field(default_factory=dict[tuple[type, ...], Reader])

    def recognise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Recognised | None:
        """The plan of a launch that was made before with arguments like these; None where there was none, and for what
        the slow path knows to refuse, such as tensors without an address."""
        try:
            values, classes, options = self.separate(*args, **keywords)
            read, plans = self.known[classes]
            seen: Any = read(*values)
            key, slots = seen
            return plans[(*key, *options.items()) if options else key], slots, values, options
        except (KeyError, TypeError, OverflowError, RuntimeError):
            return None

    def learn(
        self,
        values: tuple[Any, ...],
        classes: tuple[type, ...],
        rules: Sequence[ParameterRule],
        options: dict[str, Any],
        kernel: CompiledKernel,
        place: Any,
        written: frozenset[int],
    ) -> None:
        """File a launch that the slow path has prepared; `place` is the device that the data lies on. The kernels that
        are filed here store through no other parameters than `written`: those may share memory with each other."""
        only_read = frozenset(range(len(values))) - written
        reader = self.readers.get(classes) or make_reader(values, rules, only_read)
        if reader is None:
            return
        self.readers[classes] = reader
        read, plans = self.known.setdefault(classes, (reader.read, {}))
        seen = read(*values)
        if seen is None:
            return
        plan = make_plan(kernel, reader, values, rules, place)
        if plan is not None:
            shared = seen[0][-1] if len(reader.pointers) > 1 else True
            plan.disjoint, plan.only_read = shared is not False, only_read
            if isinstance(shared, tuple):
                firsts = [reader.pointers[index] for index in cast("tuple[int, ...]", shared)]
                pairs = dict(zip(reader.pointers, firsts, strict=True))
                plan.same = {number: first for number, first in pairs.items() if firsts.count(first) > 1}
            with suppress(TypeError):  # options without a hash, as dicts: such launches go the slow way
                plans[key_of(seen[0], options)] = plan


def key_of(key: tuple[Hashable, ...], options: dict[str, Any]) -> Hashable:
    """The key of a launch with options. Raises TypeError, once it is looked up, for options that have no hash."""
    return (*key, *options.items()) if options else key


def make_plan(
    kernel: CompiledKernel, reader: Reader, values: Sequence[Any], rules: Sequence[ParameterRule], place: Any
) -> Plan | None:
    """The plan of a launch with these values; None for kernels that are launched in other ways."""
    native: Any = kernel.native
    if not can(native.__class__, Repeatable) or kernel.sanitizer is not None:
        return None
    taken = [index for index, position in enumerate(reader.slots) if not is_constant(values[position], rules[position])]
    formats = [reader.formats[index] for index in taken]
    start = native.starter(formats, place)
    behind = [(slot, reader.slots[taken[slot]]) for slot in sorted(kernel.parameters.written)]
    written = tuple((slot, position) for slot, position in behind if _memory_of(values[position]).__class__ is _ndarray)
    return Plan(kernel, start, None if len(taken) == len(reader.slots) else _picker(taken), written, place=place)


def _memory_of(value: Any) -> Any:
    """The tensor or array itself, or the one that a descriptor describes."""
    return value.base if value.__class__ is TensorDescriptor else value


def is_constant(value: Any, rule: ParameterRule) -> bool:
    """Return whether an argument is compiled in as the constant 1."""
    forced = rule.forced_type or ("u1" if isinstance(value, bool | np.bool_) else "")
    is_integer = isinstance(value, int | np.integer | np.bool_)
    return bool(is_integer and value == 1 and rule.specialize and not forced.startswith(("fp", "bf", "u1", "i1")))


def _picker(taken: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    if len(taken) > 1:
        return itemgetter(*taken)
    if taken:
        (only,) = taken
        return lambda slots: (slots[only],)
    return lambda slots: ()


def present_switches() -> Hashable:
    """The switches that decide which kernel a launch runs."""
    return (knobs.code_key(), knobs.get("interpret"), sources_replaced())


def is_writable(value: Any) -> bool:
    """May a kernel store to this array, tensor or `Storage`? Tensors are always writable."""
    if value.__class__ is _ndarray:
        return value.flags.writeable
    return getattr(value, "writable", True)


def read_only(kernel: CompiledKernel, name: str) -> ArgumentValueError:
    """The error of a kernel that stores to an array that nobody may write."""
    return ArgumentValueError(name, "a read-only array", "a writable one: the kernel stores to it", kernel=kernel.name)
