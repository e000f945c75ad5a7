"""User-defined records: a class with annotated fields and device functions as methods.

```python
@aggregate
class Accumulator:
    value: tl.tensor
    scale: tl.constexpr

    @triton.jit
    def __init__(self, value, scale: tl.constexpr):
        self.value = value
        self.scale = scale
```

A class without `__init__` gets one that takes its fields in order, with the values in the class as defaults. Fields are
inherited from other aggregates; operators are the methods that Python calls them by. An instance is immutable once
made: `aggregate_replace` makes a changed copy. It flows through calls, branches and loops like a tuple of its fields.
"""

from __future__ import annotations

import builtins
import inspect
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.language.callables import JITCallable
from tilewright.language.context import current, is_active
from tilewright.language.dtypes import base_type
from tilewright.language.registry import builtin, of_kind, with_hint
from tilewright.language.values import base_value, constexpr, describe, is_python_sequence, tuple, tuple_type, type_of
from tilewright.language.versions import since
from tilewright.support.errors import MissingFieldError

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue


class aggregate_type(base_type):
    """Type of a record: its class, and the types of its fields."""

    def __init__(self, cls: type, fields: Sequence[builtins.tuple[str, Any]]) -> None:
        self.cls = cls
        self.fields = list(fields)

    def mangle(self) -> str:
        return f"{self.cls.__module__}.{self.cls.__qualname__}<{', '.join(ty.mangle() for _, ty in self.fields)}>"

    def flatten_ir_types(self) -> list[Attribute]:
        return [ir for _, ty in self.fields for ir in ty.flatten_ir_types()]

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> builtins.tuple[base_value, int]:
        instance = new_record(self.cls)
        for name, ty in self.fields:
            value, cursor = ty.unflatten_ir(handles, cursor)
            object.__setattr__(instance, name, value)
        return instance, cursor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, aggregate_type) and self.cls is other.cls and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((aggregate_type, self.cls))

    def __str__(self) -> str:
        return f"{self.cls.__name__}({', '.join(f'{name}: {ty}' for name, ty in self.fields)})"


def is_carried_as(start: Any, now: Any) -> bool:
    """May a loop carry a value of type `now` as one of type `start`: is it the same, or are both records of one class
    whose fields differ only in being a tensor or the result of a `wgmma` that is under way?"""
    if not (isinstance(start, aggregate_type) and isinstance(now, aggregate_type) and start.cls is now.cls):
        return start == now
    pairs = zip(start.fields, now.fields, strict=True)
    return all(is_carried_as(_arrived(one), _arrived(other)) for (_, one), (_, other) in pairs)


def _arrived(ty: Any) -> Any:
    """The type of what is there when an asynchronous result has come."""
    return getattr(ty, "tensor_type", ty)


def new_record(cls: Any) -> Any:
    """An instance without fields yet."""
    return object.__new__(cls)


class _AggregateClass(type):
    """What makes instances outside of a kernel: in functions that run while compiling."""

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return construct(cls, list(args), keywords, _refuse_device_function)


def class_of(instance: Any) -> Any:
    """The class of an instance, as a value of any type."""
    return instance.__class__


def _fields_of(cls: Any) -> dict[str, Any]:
    return cls.__aggregate_fields__


def _defaults_of(cls: Any) -> dict[str, Any]:
    return cls.__aggregate_defaults__


def find_fields(value: Any) -> builtins.tuple[str, ...] | None:
    """The names of an aggregate's fields; None for any other value."""
    cls = class_of(value)
    return builtins.tuple(_fields_of(cls)) if getattr(cls, "__triton_aggregate__", False) else None


def _refuse_device_function(function: Any, *_: Any) -> None:
    name = function.fn.__qualname__
    raise TypeError(f"`{name}` is a device function, so that only a kernel makes instances of its class")


class _Record(base_value, metaclass=_AggregateClass):
    """Base of every aggregate class."""

    __triton_aggregate__ = True
    __aggregate_fields__: dict[str, Any] = {}
    __aggregate_defaults__: dict[str, Any] = {}
    _is_under_construction = False

    @property
    def type(self) -> aggregate_type:  # pyright: ignore[reportIncompatibleVariableOverride]
        fields = _fields_of(type(self))
        return aggregate_type(type(self), [(name, type_of(getattr(self, name))) for name in fields])

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        for name in _fields_of(type(self)):
            value = getattr(self, name)
            if isinstance(value, base_value):
                value.flatten_ir(handles)

    def __setattr__(self, name: str, value: Any) -> None:
        cls: Any = type(self)
        if name not in _fields_of(cls):
            raise with_hint(
                of_kind(AttributeError(f"{cls.__name__} has no attribute '{name}'"), MissingFieldError),
                f"its fields are {', '.join(_fields_of(cls))}",
            )
        if not self._is_under_construction:
            raise AttributeError(
                f"cannot assign to field '{name}' on immutable aggregate {cls.__name__}; use aggregate_replace() to "
                "construct a modified copy"
            )
        _check_field(cls, name, _fields_of(cls)[name], value)
        object.__setattr__(self, name, value)


def aggregate(cls: type) -> type:
    """Class decorator, `@triton.aggregate`: make a class with annotated fields a value that kernels can hold.

    Raises TypeError where a base class is not an aggregate.
    """
    fields, defaults = _inherited_fields(cls)
    declared = inspect.get_annotations(cls)
    namespace = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    for name, annotation in _resolved(cls, declared).items():
        fields[name] = annotation
        value = namespace.get(name, fields)
        if value is not fields and (not callable(value) or isinstance(value, base_value)):
            defaults[name] = namespace.pop(name)
    namespace.update(__aggregate_fields__=fields, __aggregate_defaults__=defaults)
    namespace["__aggregate_init__"] = namespace.pop("__init__", None)
    bases = builtins.tuple(base for base in cls.__bases__ if base is not object) or (_Record,)
    record = _AggregateClass(cls.__name__, bases, namespace)
    record.__module__, record.__qualname__, record.__doc__ = cls.__module__, cls.__qualname__, cls.__doc__
    return record


def _inherited_fields(cls: type) -> builtins.tuple[dict[str, Any], dict[str, Any]]:
    """Fields and defaults of the base classes, the oldest first, so that younger ones override."""
    fields: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        if base in (object, base_value, _Record):
            continue
        if not getattr(base, "__triton_aggregate__", False):
            raise TypeError(f"Aggregates can only inherit from other aggregates, but got non-aggregate base: {base}")
        fields.update(_fields_of(base))
        defaults.update(_defaults_of(base))
    return fields, defaults


def _resolved(cls: type, declared: dict[str, Any]) -> dict[str, Any]:
    """Annotations that are written as text, as what they name; all as they are where a name is not there yet."""
    if not any(isinstance(annotation, str) for annotation in declared.values()):
        return declared
    try:
        hints = typing.get_type_hints(cls)
    except NameError:
        return declared
    return {name: hints[name] for name in declared}


@since("3.8")
@builtin
def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """A copy of an aggregate with some fields changed: its `__init__` is called with all of them, by name.

    Raises TypeError for other values, and for names that are no fields.
    """
    cls = class_of(instance)
    if not getattr(cls, "__triton_aggregate__", False):
        raise TypeError(f"aggregate_replace() expects an aggregate instance, got {describe(instance)}")
    for name in changes:
        if name not in _fields_of(cls):
            raise with_hint(
                of_kind(TypeError(f"{cls.__name__} has no field '{name}'"), MissingFieldError),
                f"its fields are {', '.join(_fields_of(cls))}",
            )
    fields = {name: getattr(instance, name) for name in _fields_of(cls)}
    return current().call(cls, [], {**fields, **changes}) if is_active() else cls(**{**fields, **changes})


def construct(cls: Any, args: list[Any], keywords: dict[str, Any], inline: Callable[..., Any]) -> Any:
    """Make an instance: run `__init__`, whose assignments to `self` set the fields, and check each field's annotation.

    A device function as `__init__` is compiled in place, not called: what it assigns must be visible to the caller.
    """
    instance = new_record(cls)
    object.__setattr__(instance, "_is_under_construction", True)
    init = cls.__aggregate_init__
    if init is None:
        _set_fields(instance, args, dict(keywords))
    elif isinstance(init, JITCallable):
        inline(init, [instance, *args], keywords)
    else:
        getattr(init, "fn", init)(instance, *args, **keywords)
    object.__delattr__(instance, "_is_under_construction")
    for name in _fields_of(cls):
        if not hasattr(instance, name):
            raise AttributeError(f"constructor for {cls.__name__} did not initialize attribute '{name}'")
    return instance


def _set_fields(instance: Any, args: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Set the fields in order, by name, or by default: the `__init__` of a class that has none of its own."""
    cls = class_of(instance)
    names = list(_fields_of(cls))
    called = f"{cls.__name__}.__init__()"
    if len(args) > len(names):
        counts = f"takes {len(names) + 1} positional arguments but {len(args) + 1} were given"
        raise with_hint(TypeError(f"{called} {counts}"), f"its fields are {', '.join(names)}")
    given = dict(zip(names, args, strict=False))
    for name in names:
        if name in given and name in keywords:
            raise TypeError(f"{called} got multiple values for argument '{name}'")
        if name not in given and name not in keywords and name not in _defaults_of(cls):
            raise TypeError(f"{called} missing required argument: '{name}'")
        value = given[name] if name in given else keywords.pop(name, _defaults_of(cls).get(name))
        setattr(instance, name, _as_field(value))
    for name in keywords:
        raise with_hint(
            TypeError(f"{called} got an unexpected keyword argument '{name}'"),
            f"its fields are {', '.join(names)}",
        )


def _as_field(value: Any) -> Any:
    """A value as a field holds it: anything that is not a value of the language becomes a constant."""
    if isinstance(value, tuple):
        return value.with_values([_as_field(part) for part in value.values])
    if is_python_sequence(value):
        fields, parts = getattr(value, "_fields", None), [_as_field(part) for part in value]
        return tuple(parts, tuple_type([type_of(part) for part in parts], fields) if fields else None)
    return value if isinstance(value, base_value) else constexpr(value)


def _check_field(cls: Any, name: str, declared: Any, value: Any) -> None:
    text = declared if isinstance(declared, str) else getattr(declared, "__name__", str(declared))
    is_constant = isinstance(value, constexpr) or not isinstance(value, base_value)
    if text.endswith("constexpr"):
        if not is_constant:
            raise TypeError(f"Expected constexpr for attribute '{name}' of {cls.__name__}, got {describe(value)}")
    elif isinstance(declared, type) and issubclass(declared, base_value) and not isinstance(value, declared):
        raise TypeError(f"Expected {text} for attribute '{name}' of {cls.__name__}, got {describe(value)}")
