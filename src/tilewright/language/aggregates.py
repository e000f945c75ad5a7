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

An instance is immutable once made; it flows through calls, branches and loops like a tuple of its fields.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.language.callables import JITCallable
from tilewright.language.dtypes import base_type
from tilewright.language.values import base_value, constexpr, describe, type_of

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue


class aggregate_type(base_type):
    """Type of a record: its class, and the types of its fields."""

    def __init__(self, cls: type, fields: Sequence[builtins.tuple[str, Any]]) -> None:
        self.cls = cls
        self.fields = list(fields)

    def mangle(self) -> str:
        return f"{self.cls.__name__}<{', '.join(f'{name}={ty.mangle()}' for name, ty in self.fields)}>"

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


def new_record(cls: Any) -> Any:
    """An instance without fields yet."""
    return object.__new__(cls)


class _Record(base_value):
    """Base of every aggregate class."""

    __triton_aggregate__ = True
    __aggregate_fields__: dict[str, Any] = {}
    _is_under_construction = False

    @property
    def type(self) -> aggregate_type:  # pyright: ignore[reportIncompatibleVariableOverride]
        fields = type(self).__aggregate_fields__
        return aggregate_type(type(self), [(name, type_of(getattr(self, name))) for name in fields])

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        for name in type(self).__aggregate_fields__:
            value = getattr(self, name)
            if isinstance(value, base_value):
                value.flatten_ir(handles)

    def __setattr__(self, name: str, value: Any) -> None:
        if not self._is_under_construction:
            raise AttributeError(f"{type(self).__name__} is immutable: `{name}` can be set only in __init__")
        if name not in type(self).__aggregate_fields__:
            raise AttributeError(f"{type(self).__name__} declares no field `{name}`")
        object.__setattr__(self, name, value)


def aggregate(cls: type) -> type:
    """Class decorator: make a class with annotated fields a value that kernels can hold."""
    fields = inspect.get_annotations(cls)
    namespace = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    namespace["__aggregate_fields__"] = fields
    record = type(cls.__name__, (_Record,), namespace)
    record.__module__, record.__qualname__, record.__doc__ = cls.__module__, cls.__qualname__, cls.__doc__
    return record


def construct(cls: Any, args: list[Any], keywords: dict[str, Any], inline: Callable[..., Any]) -> Any:
    """Make an instance: run `__init__`, whose assignments to `self` set the fields, and check each field's annotation.

    A device function as `__init__` is compiled in place, not called: what it assigns must be visible to the caller.
    """
    instance = new_record(cls)
    object.__setattr__(instance, "_is_under_construction", True)
    init = inspect.getattr_static(cls, "__init__", None)
    if isinstance(init, JITCallable):
        inline(init, [instance, *args], keywords)
    else:
        target = getattr(init, "fn", init)
        target(instance, *args, **keywords)
    object.__delattr__(instance, "_is_under_construction")
    for name, declared in cls.__aggregate_fields__.items():
        if not hasattr(instance, name):
            raise AttributeError(f"{cls.__name__}.__init__ does not set the field `{name}`")
        _check_field(cls, name, declared, getattr(instance, name))
    return instance


def _check_field(cls: Any, name: str, declared: Any, value: Any) -> None:
    text = declared if isinstance(declared, str) else getattr(declared, "__name__", str(declared))
    is_constant = isinstance(value, constexpr) or not isinstance(value, base_value)
    if text.endswith("constexpr"):
        if not is_constant:
            raise TypeError(f"Expected constexpr for attribute '{name}' of {cls.__name__}, got {describe(value)}")
    elif isinstance(declared, type) and issubclass(declared, base_value) and not isinstance(value, declared):
        raise TypeError(f"Expected {text} for attribute '{name}' of {cls.__name__}, got {describe(value)}")
