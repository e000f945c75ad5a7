"""From call arguments to a launch: match them to the kernel's parameters, classify them, find the key of the kernel."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from tilewright.compiler.options import OPTION_NAMES
from tilewright.compiler.sharing import Sharing
from tilewright.runtime.specialization import (
    Classified,
    Constant,
    Descriptor,
    Group,
    ParameterRule,
    Pointer,
    Scalar,
    classify,
    key_of,
)
from tilewright.runtime.storage import Storage, find_sharing
from tilewright.support.errors import ArgumentError, ArgumentTypeError
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one launch by parameter, raw and classified, and the launch options."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    items: tuple[Classified, ...]
    options: dict[str, Any]

    def key(self) -> Hashable:
        """Equal for launches that one compiled kernel serves."""
        options = tuple(sorted((name, repr(value)) for name, value in self.options.items())) if self.options else ()
        return (tuple(map(key_of, self.items)), options, self.sharing())

    def leaves(self) -> Iterator[tuple[str, Scalar | Pointer]]:
        """The run-time arguments in slot order, with the parameter that each belongs to."""
        for name, item in zip(self.names, self.items, strict=True):
            for leaf in _leaves(item):
                yield name, leaf

    def slots(self) -> tuple[list[int], dict[int, Storage]]:
        """The launch slots without the grid, and the storage that each slot with an address points to."""
        slots: list[int] = []
        storages: dict[int, Storage] = {}
        for index, (_, leaf) in enumerate(self.leaves()):
            match leaf:
                case Pointer(_, storage, _):
                    slots.append(storage.address)
                    storages[index] = storage
                case Scalar(_, bits, _):
                    slots.append(bits)
        return slots, storages

    def storages(self) -> dict[int, Storage]:
        """The storage behind each slot that is a pointer."""
        return {slot: leaf.storage for slot, (_, leaf) in enumerate(self.leaves()) if isinstance(leaf, Pointer)}

    def sharing(self) -> Sharing:
        """The slots of pointers that may share memory."""
        return find_sharing(self.storages())


def _leaves(item: Classified) -> Iterable[Scalar | Pointer]:
    match item:
        case Constant():
            return ()
        case Group(items, _):
            return (leaf for inner in items for leaf in _leaves(inner))
        case Descriptor(_, leaves):
            return leaves
        case _:
            return (item,)


class Binder:
    """Binds the arguments of one kernel. Raises ArgumentError classes that name kernel and parameter."""

    def __init__(self, kernel_name: str, signature: inspect.Signature, rules: tuple[ParameterRule, ...]) -> None:
        self.kernel_name = kernel_name
        self.signature = signature
        self.rules = rules
        self.names = tuple(rule.name for rule in rules)
        self.separate = _make_binder(signature)
        """Call arguments as (one value per parameter, their classes, the other keywords)."""
        self.shared_names = OPTION_NAMES.intersection(self.names)
        """Parameters that bear names of options, which they then set."""
        self.options_vary = any(rule.name in self.shared_names and not rule.is_constexpr for rule in rules)
        """Whether arguments that are not compiled in set options."""

    def for_compiled(self, items: tuple[Classified, ...]) -> Binder:
        """The binder of a kernel that was compiled for these arguments: constants after the last other parameter may be
        left out, as Triton's launchers skip them."""
        parameters = list(self.signature.parameters.values())
        for position in range(len(parameters) - 1, -1, -1):
            item = items[position]
            if not self.rules[position].is_constexpr or not isinstance(item, Constant):
                break
            parameters[position] = parameters[position].replace(default=item.value)
        return Binder(self.kernel_name, self.signature.replace(parameters=parameters), self.rules)

    def match(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Call arguments as one value per parameter, and the launch options among the keywords."""
        try:
            values, _, options = self.separate(*args, **keywords)
        except TypeError as error:
            raise self._explain(args, keywords, error) from None
        for name in self.shared_names:
            options[name] = values[self.names.index(name)]
        return values, options

    def bind(self, values: tuple[Any, ...], options: dict[str, Any]) -> Bound:
        """Classify matched values. Raises ArgumentTypeError or ArgumentValueError naming the parameter."""
        try:
            items = tuple(map(classify, values, self.rules))
        except ArgumentError as error:
            raise type(error)(error.name, error.what, error.expected, kernel=self.kernel_name) from None
        return Bound(self.names, values, items, options)

    def meta(self, values: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """Return what a grid function sees: arguments by name, and options."""
        return dict(zip(self.names, values, strict=True)) | options

    def _explain(self, args: tuple[Any, ...], keywords: dict[str, Any], error: TypeError) -> Exception:
        """Return why the arguments do not fit the parameters."""
        own = {name: value for name, value in keywords.items() if name in self.signature.parameters}
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                what = "takes any number of values, which only functions called by kernels can"
                return ArgumentTypeError(
                    name, what, "a parameter for each, or one for a tuple", kernel=self.kernel_name
                )
        if len(args) > len(self.names):
            return ArgumentTypeError(
                "", f"{len(args)} positional arguments", f"at most {len(self.names)}", kernel=self.kernel_name
            )
        given = {*self.names[: len(args)], *own}
        for rule, parameter in zip(self.rules, self.signature.parameters.values(), strict=True):
            if rule.name not in given and parameter.default is inspect.Parameter.empty:
                kind = "a constexpr value by keyword" if rule.is_constexpr else "a value"
                kind += self._advice(rule.name, keywords)
                return ArgumentTypeError(rule.name, "missing", kind, kernel=self.kernel_name)
        return ArgumentTypeError("", str(error).partition(") ")[2] or str(error), kernel=self.kernel_name)

    def _advice(self, missing: str, keywords: dict[str, Any]) -> str:
        """Return what may have gone wrong where an argument is missing."""
        unknown = [name for name in keywords if name not in self.signature.parameters and name not in OPTION_NAMES]
        if unknown:
            near = difflib.get_close_matches(missing, unknown, n=1, cutoff=0.4) or unknown[:1]
            return f"; `{near[0]}` is neither a parameter nor a launch option: did you mean `{missing}`?"
        if self.names[0] in ("self", "cls"):
            return (
                f"; a kernel that is looked up on an object gets no `{self.names[0]}`: define it outside of the class"
            )
        return ""


def _make_binder(signature: inspect.Signature) -> Any:
    """A Python function with the kernel's own signature, which returns (values in order, their classes, remaining
    keywords).

    Letting the interpreter match arguments is several times faster than `Signature.bind`.
    """
    names = list(signature.parameters)
    parts: list[str] = []
    defaults: dict[str, Any] = {}
    keyword_only = False
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        if parameter.default is inspect.Parameter.empty:
            parts.append(name)
        else:
            defaults[f"_default_{name}"] = parameter.default
            parts.append(f"{name}=_default_{name}")
    values, classes = ("(" + "".join(f"{name}{what}, " for name in names) + ")" for what in ("", ".__class__"))
    code = f"def bind({', '.join([*parts, '**_options'])}):\n    return {values}, {classes}, _options\n"
    scope: dict[str, Any] = dict(defaults)
    exec(code, scope)
    return scope["bind"]
