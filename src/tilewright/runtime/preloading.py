"""What is told to the hooks of compilations, and compiling again, in another process, what such a hook was told of.

seen = []
tilewright.knobs.runtime.jit_cache_hook = lambda **told: seen.append(told["compile"]["specialization_data"])
kernel[grid](x, n, BLOCK=1024)
...
kernel.preload(seen[0])  # before the first launch, which then compiles nothing
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.sharing import Sharing
from tilewright.language.callables import JITCallable
from tilewright.language.dtypes import dtype
from tilewright.language.type_names import str_to_ty
from tilewright.language.values import constexpr
from tilewright.runtime.binding import Bound
from tilewright.runtime.interface import NamedKernel, named
from tilewright.runtime.request import kernel_source
from tilewright.runtime.specialization import Classified, Constant, Group, Pointer, Scalar
from tilewright.runtime.storage import Storage
from tilewright.support.errors import OptionError

if TYPE_CHECKING:
    from tilewright.runtime.jit import JITFunction

PLAIN = (bool, int, float, str, type(None))
"""Constants that JSON has."""


class JitFunctionInfo(NamedTuple):
    """Which function is compiled."""

    module: str
    name: str
    jit_function: Any


def call_hook(hook: Callable[..., Any], function: JITFunction, bound: Bound, target: str, *, is_warmup: bool) -> bool:
    """Tell a hook what is compiled, in Triton's words. Whether it says that this is not to be."""
    source, options = kernel_source(function, bound), CompileOptions.from_keywords(bound.options)
    types = ", ".join(f"{name}: {kind}" for name, kind in source.full_signature().items())
    key = f"{source.identity()}{sorted(bound.options.items())}"
    described = {
        "key": key,
        "signature": dict(source.signature),
        "device": target,
        "constants": dict(source.constexprs),
        "configs": [dict(source.attrs)],
        "is_warmup": is_warmup,
        "specialization_data": describe(function, bound, target),
        **asdict(options),
    }
    stop = hook(
        key=key,
        repr=f"{source.name}[num_warps={options.num_warps}, num_stages={options.num_stages}]({types})",
        fn=JitFunctionInfo(function.fn.__module__, function.fn.__qualname__, function),
        compile=described,
        is_manual_warmup=is_warmup,
        already_compiled=False,
    )
    return stop is True


def describe(function: JITFunction, bound: Bound, target: str) -> str | None:
    """A specialisation as text; None where a constant is an object, whose text would not say what it is."""
    try:
        return json.dumps(
            {
                "name": function.fn_name,
                "target": target,
                "arguments": [_write(item) for item in bound.items],
                "sharing": bound.sharing()._asdict(),
                "options": bound.options,
            }
        )
    except TypeError:
        return None


def read(function: JITFunction, text: str) -> tuple[Bound, str]:
    """The arguments that `describe` was given, without their values, and the target. Raises OptionError for those of
    another function."""
    data = json.loads(text)
    if data["name"] != function.fn_name:
        raise OptionError(f"Specialization data is for {data['name']} but trying to preload for {function.fn_name}")
    sharing = Sharing(**data["sharing"])
    places = {slot: group[0] for groups in sharing for group in groups for slot in group}
    addresses = {slot: group[0] for group in sharing.same for slot in group}
    slots = count()
    items = tuple(_read(item, slots, places, addresses) for item in data["arguments"])
    return Bound(function.binder.names, (), items, data["options"]), data["target"]


def _write(item: Classified) -> dict[str, Any]:
    match item:
        case Constant(value):
            return {"constant": _write_constant(value)}
        case Scalar(kind, _, divisible):
            return {"scalar": kind, "divisible": divisible}
        case Pointer(kind, _, divisible):
            return {"pointer": kind, "divisible": divisible}
        case Group(items, None):
            return {"group": [_write(inner) for inner in items]}
        case _:
            raise TypeError(f"{item} has no text")


def _write_constant(value: Any) -> Any:
    match value:
        case dtype():
            return {"dtype": value.mangle() if value.is_int() else value.name}
        case constexpr():
            return _write_constant(value.value)
        case _ if type(value) in PLAIN:
            return {"plain": value}
        case _ if type(value) is tuple:
            return {"tuple": [_write_constant(item) for item in value]}  # pyright: ignore[reportUnknownVariableType]
        case NamedKernel() if isinstance(value, JITCallable):
            module, name = _place(value)
            return {"function": [module, name, value.cache_key]}
        case _:
            raise TypeError(f"{value!r} has no text")


def _place(function: JITCallable) -> tuple[str, str]:
    """The module and the name that lead to a function. Raises TypeError where none do."""
    module, name = function.fn.__module__, function.fn.__qualname__
    try:
        found = named(module, name)
    except (ImportError, AttributeError):
        found = None
    if found is not function:
        raise TypeError(f"{name} is not what {module}.{name} names")
    return module, name


def _read_constant(item: dict[str, Any]) -> Any:
    match item:
        case {"dtype": name}:
            return str_to_ty(name)
        case {"tuple": items}:
            return tuple(map(_read_constant, items))
        case {"function": [module, name, key]}:
            function = named(module, name)
            if function.cache_key != key:
                raise OptionError(f"{module}.{name} is another function than the one that was compiled in")
            return function
        case _:
            return item["plain"]


def _read(
    item: dict[str, Any], slots: Iterator[int], places: Mapping[int, int], addresses: Mapping[int, int]
) -> Classified:
    """One argument, for the next slots. The memory of pointers that share some is at one place, the others' at their
    slots'; so are addresses."""
    match item:
        case {"constant": constant}:
            return Constant(_read_constant(constant))
        case {"scalar": kind, "divisible": divisible}:
            next(slots)
            return Scalar(kind, 0, divisible)
        case {"pointer": kind, "divisible": divisible}:
            slot = next(slots)
            place, address = places.get(slot, slot), addresses.get(slot, slot)
            return Pointer(kind, Storage(address, kind.removeprefix("*"), place, place + 1), divisible)
        case _:
            return Group(tuple(_read(inner, slots, places, addresses) for inner in item["group"]))
