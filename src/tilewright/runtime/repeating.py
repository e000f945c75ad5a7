"""Calls that are made again and again are recognised by native code, where the kernel's target has such.

    add_kernel[(64,)](x, y, out, n, BLOCK=1024)     the slow path: binds, compiles, files a plan
    add_kernel[(64,)](x, y, out, n, BLOCK=1024)     the fast path finds the plan, and describes the call
    add_kernel[(64,)](a, b, out, m, BLOCK=1024)     native: arguments of the same kinds as those

A description is at least as fine as the key of `reading.Reader`, so what it matches is a launch of the same kernel.

It stays for what it buys: 0.56 us a launch where the fast path takes 4.4 (an empty kernel on a Zen 3, three arguments).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.language.callables import CapturedNames
from tilewright.runtime.fast_path import Plan, Recognised, is_constant
from tilewright.runtime.reading import is_tensor_class
from tilewright.runtime.specialization import ParameterRule
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError
from tilewright.support.tracebacks import cut_traceback
from tilewright.targets.capabilities import NativeKernel, Recognisable
from tilewright.targets.launch_cache.calls import Call, CallTable, Item, Kind, is_plain_cell
from tilewright.targets.launch_cache.object_layouts import TensorLayout, find_tensor_layout, has_known_storages

Variables = Sequence[tuple[str, Any, Mapping[str, Any]]]
"""What a kernel was compiled with from outside: name, value, and namespace."""

_ndarray: Any = np.ndarray


class RepeatedCalls:
    """The calls of one kernel that native code recognises."""

    def __init__(self, hooks: list[Callable[..., Any]], slow_path: Callable[..., Any]) -> None:
        self.launch: Callable[..., Any] = self._launch_early
        """What `kernel[grid]` calls, with the grid before the arguments."""
        self._hooks = hooks
        self._slow_path = slow_path
        self._table: CallTable | None = None
        self._generation = -1
        self._learnt: set[Hashable] = set()

    @property
    def table(self) -> CallTable | None:
        """The calls, once there is one."""
        return self._table

    def _launch_early(self, grid: Any, /, *args: Any, **keywords: Any) -> Any:
        """Launches for whoever took a launcher, `launch = kernel[grid]`, before native code knew a call."""
        launch = self._slow_path if self._table is None else self._table.launch
        try:
            return launch(grid, *args, **keywords)
        except TilewrightError as error:
            cut_traceback(error)
            raise

    def learn(
        self,
        args: Sequence[Any],
        keywords: dict[str, Any],
        seen: Recognised,
        rules: Sequence[ParameterRule],
        variables: Variables,
    ) -> None:
        """Have native code recognise calls like this one, which took the fast path in Python."""
        plan = seen[0]
        table = self._table_for(plan.kernel.native)
        if table is None:
            plan.is_repeatable = False
            if self._table is None:
                self.launch = self._slow_path
            return
        if self._generation != knobs.generation:
            self._generation = knobs.generation
            self.forget()
        form = (id(plan), len(args), *keywords)
        if form not in self._learnt and not table.is_full:
            self._learnt.add(form)
            call = describe_call(args, keywords, seen, rules, variables)
            if call is None:
                plan.is_repeatable = False
            else:
                table.add(call)

    def _table_for(self, native: NativeKernel) -> CallTable | None:
        """The table of this kernel's calls; None for targets that have no such, and where arrays cannot be read."""
        if self._table is None and isinstance(native, Recognisable):
            recogniser = native.find_recogniser()
            if recogniser is not None:
                self._table = CallTable(recogniser, self._hooks, self._slow_path)
                self.launch = self._table.launch
        return self._table

    def forget(self) -> None:
        """Let no call be recognised but those that are learnt from now on."""
        if self._table is not None:
            self._table.clear()
            self._learnt.clear()


def describe_call(
    args: Sequence[Any],
    keywords: dict[str, Any],
    seen: Recognised,
    rules: Sequence[ParameterRule],
    variables: Variables,
) -> Call | None:
    """Return what a call that was recognised has been; None where native code cannot tell whether another one is like
    it.
    """
    plan, _, values, options = seen
    places = _places_of(variables)
    if places is None:
        return None
    native = plan.kernel.native
    launcher = native.find_launcher(plan.place) if isinstance(native, Recognisable) else None
    if launcher is None:
        return None
    numbers = {rule.name: number for number, rule in enumerate(rules)}
    given = {*range(len(args)), *(numbers[name] for name in keywords if name in numbers)}
    if any(not rule.is_constexpr for number, rule in enumerate(rules) if number not in given):
        return None
    slots = _slots_of(values, rules)
    stored = {number for _, number in plan.written}
    describe = _Describer(rules, slots, stored, _labels_of(plan, len(rules)))
    by_position = [describe.item(value, number) for number, value in enumerate(args)]
    by_keyword = [(name, describe.item(value, numbers.get(name))) for name, value in keywords.items()]
    call = Call(
        [item for item in by_position if item is not None],
        [(name, item) for name, item in by_keyword if item is not None],
        plan.disjoint,
        len(slots),
        places,
        launcher,
        plan.kernel,
        {rule.name: None if number in given else values[number] for number, rule in enumerate(rules)}
        | {name: None if name in keywords else value for name, value in options.items()},
        [*(rule.name for rule in rules[: len(args)]), *keywords],
        describe.layout,
    )
    return call if len(call.items) == len(args) + len(keywords) and call.fits else None


def _places_of(variables: Variables) -> list[tuple[Any, str | None, Any]] | None:
    """Return where native code finds each variable, with its value; None for one that it cannot find."""
    places: list[tuple[Any, str | None, Any]] = []
    for name, value, scope in variables:
        if isinstance(scope, dict):
            places.append((scope, name, value))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(scope, CapturedNames) and is_plain_cell(cell := scope.cell(name), value):
            places.append((cell, None, value))
        else:
            return None
    return places


def _slots_of(values: Sequence[Any], rules: Sequence[ParameterRule]) -> dict[int, int]:
    """Parameter to slot, for arguments of one slot each."""
    taken = [
        number
        for number, (value, rule) in enumerate(zip(values, rules, strict=True))
        if not rule.is_constexpr and value is not None and not is_constant(value, rule)
    ]
    return {number: slot for slot, number in enumerate(taken)}


def _labels_of(plan: Plan, count: int) -> list[int]:
    """How each parameter's memory may be shared, as `calls.Item` has it."""
    firsts = sorted(set(plan.same.values()))
    labels = [int(number in plan.only_read) for number in range(count)]
    for number, first in plan.same.items():
        labels[number] |= 2 << firsts.index(first)
    return labels


class _Describer:
    """Describes the arguments of one call."""

    def __init__(
        self, rules: Sequence[ParameterRule], slots: dict[int, int], stored: set[int], labels: Sequence[int]
    ) -> None:
        self.rules = rules
        self.slots = slots
        self.stored = stored
        self.labels = labels
        self.layout: TensorLayout | None = None
        """Of tensors, if there are any."""

    def item(self, value: Any, number: int | None) -> Item | None:
        """One argument; a keyword that is not a parameter is an option, which is compiled in like a constant."""
        rule = None if number is None else self.rules[number]
        if rule is None or rule.is_constexpr or value is None:
            return self._constant(value)
        assert number is not None
        slot = self.slots.get(number, -1)
        kind = value.__class__
        if kind is int and rule.forced_type in (None, "i32", "i64") and -(2**63) <= value < 2**63:
            number = class_of_integer(value, rule)
            return Item(kind=Kind.INTEGER, type=int, number=number, detail=_detail(rule), slot=slot)
        if kind is float and rule.forced_type in (None, "fp32"):
            return Item(kind=Kind.FLOAT, type=float, slot=slot)
        if kind is _ndarray:
            facts = {"number": int(not value.ctypes.data & 15), "detail": int(number in self.stored), "slot": slot}
            return Item(kind=Kind.ARRAY, type=kind, target=value.dtype, sharing=self.labels[number], **facts)
        return self._tensor(value, slot, number) if is_tensor_class(kind) and (value.is_cpu or value.is_cuda) else None

    def _tensor(self, value: Any, slot: int, number: int) -> Item | None:
        if not has_known_storages(value.untyped_storage().__class__):
            return None
        self.layout = find_tensor_layout()
        if self.layout is None or not self.layout.fits(value):
            return None
        facts = {"number": int(not value.data_ptr() & 15), "detail": self.layout.description(value), "slot": slot}
        return Item(kind=Kind.TENSOR, type=value.__class__, sharing=self.labels[number], **facts)

    @staticmethod
    def _constant(value: Any) -> Item | None:
        if value.__class__ is not int:
            return Item(kind=Kind.OBJECT, type=value.__class__, target=value)
        return Item(kind=Kind.CONSTANT, type=int, number=value) if -(2**63) <= value < 2**63 else None


def _detail(rule: ParameterRule) -> int:
    """Return which integers have classes of their own: 1 for the number 1, plus 2 for the multiples of 16."""
    return rule.specialize + 2 * (rule.specialize and rule.specialize_alignment)


def class_of_integer(value: int, rule: ParameterRule) -> int:
    """As `Reader` tells integers apart: by range, and by what they are specialised on."""
    is_multiple = rule.specialize and rule.specialize_alignment and not value & 15
    if not -(2**31) <= value < 2**31:
        return 4 if is_multiple else 3
    if rule.specialize and value == 1:
        return 1
    return 2 if is_multiple else 0
