"""`dataclass`, made in a tenth of the time: the standard library's decorator took a fifth of a first launch.

Python's own compiles six functions for a frozen class, a millisecond in all, whether anybody calls them or not,
and a compilation imports 430 such classes. Here a class has shared functions and closures in their stead, and its
constructor is compiled when the first object is made. Otherwise it is a dataclass as any other: `fields`, `replace`,
`asdict`, patterns, pickles, signatures and inheritance both ways work as they do there, and hashes and texts are the
same. Left out is what is not used here: `order` and `InitVar`. xDSL's 120 classes are made so, too: it is imported
within `quick_dataclasses` (`tilewright.ir`).

```python
@dataclass(frozen=True, slots=True)
class Span:
    first: int
    last: int = 0
```
"""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABCMeta, update_abstractmethods
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass` with some of its options: those of `_make`."""
        return partial(_make, **options) if cls is None else _make(cls, **options)


@contextmanager
def quick_dataclasses() -> Generator[None]:
    """Have the modules that are imported in a `with` make their dataclasses in this way, where it can."""
    dataclasses.dataclass = _quick_where_possible
    try:
        yield
    finally:
        dataclasses.dataclass = _by_library


def _quick_where_possible(cls: type[Any] | None = None, /, **options: Any) -> Any:
    if cls is None:
        return partial(_quick_where_possible, **options)
    known = {name: value for name, value in options.items() if name != "unsafe_hash" or value}
    can = known.keys() <= OPTIONS and not _has_later_values(cls)
    return _make(cls, **known) if can else _by_library(cls, **options)


_by_library: Any = dataclasses.dataclass
OPTIONS = {"init", "repr", "eq", "frozen", "slots", "kw_only"}


def _make(
    cls: type[Any],
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
) -> type[Any]:
    own = _declare(cls, frozen=frozen, eq=eq, kw_only=kw_only)
    if slots:
        cls = _with_slots(cls, own)
    fields = dataclasses.fields(cls)
    names = [field.name for field in fields]
    methods: dict[str, Any] = {}
    if init:
        methods |= {"__init__": _constructor_on_demand(cls), "__signature__": SIGNATURE}
    if repr:
        methods["__repr__"] = _represent
    if eq:
        methods["__eq__"] = _equality([field.name for field in fields if field.compare])
    if eq and not _has_hash(cls):
        hashed = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
        setattr(cls, "__hash__", _hash(hashed) if frozen else None)  # noqa: B010 (None is one, too)
    if frozen:
        methods |= {"__setattr__": _frozen_setattr(cls, names), "__delattr__": _frozen_delattr(cls, names)}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name in methods.keys() - vars(cls).keys():
        setattr(cls, name, methods[name])
    if isinstance(cls, ABCMeta):
        update_abstractmethods(cls)
    return cls


def _declare(cls: type[Any], *, frozen: bool, eq: bool, kw_only: bool) -> list[str]:
    """Give a class what makes it a dataclass, and return the names of its own fields: the standard library finds
    them, in a class that has nothing else."""
    own = inspect.get_annotations(cls)
    if _has_later_values(cls):
        raise TypeError(f"{cls.__name__}: these dataclasses have no InitVar")
    values = {name: vars(cls)[name] for name in own if name in vars(cls)}
    namespace = {"__annotations__": own, "__module__": cls.__module__, "__doc__": "Fields alone.", **values}
    bare: Any = type(cls.__name__, (), namespace)
    declared: Any = _by_library(bare, init=False, repr=False, eq=False, kw_only=kw_only)
    fields: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        params: Any = vars(base).get("__dataclass_params__")
        if params is not None and params.frozen is not frozen:
            raise TypeError(f"{cls.__name__}: of a dataclass and its bases all are frozen, or none")
        fields |= vars(base).get("__dataclass_fields__", {})
    cls.__dataclass_fields__ = fields | declared.__dataclass_fields__
    cls.__dataclass_params__ = declared.__dataclass_params__
    cls.__dataclass_params__.frozen, cls.__dataclass_params__.eq = frozen, eq
    for name, value in values.items():
        if isinstance(value, Field):
            _set_default(cls, name, value)  # pyright: ignore[reportUnknownArgumentType]
    if "__match_args__" not in vars(cls):
        positional = (field for field in dataclasses.fields(cls) if field.init and not field.kw_only)
        cls.__match_args__ = tuple(field.name for field in positional)
    return [field.name for field in dataclasses.fields(declared)]


def _has_later_values(cls: type[Any]) -> bool:
    return any("InitVar" in str(annotation) for annotation in inspect.get_annotations(cls).values())


def _set_default(cls: type[Any], name: str, field: Field[Any]) -> None:
    """Put the default of a field where the field stands in the class."""
    if field.default is MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, field.default)


def _with_slots(cls: type[Any], own: Sequence[str]) -> type[Any]:
    """Make a class again, its fields in slots: those that no base has."""
    inherited = {name for base in cls.__mro__[1:] for name in vars(base).get("__slots__", ())}
    if "__slots__" in vars(cls):
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    left_out = {*own, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in vars(cls).items() if name not in left_out}
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    metaclass: Any = type(cls)
    made: type[Any] = metaclass(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


class _Absent:
    """What a parameter is by default whose value is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


class _Signature:
    """Has a constructor compiled when its signature is asked for."""

    def __get__(self, instance: object, owner: type[Any]) -> None:
        """Return None, which says that a class has the signature of its constructor."""
        defining = next(base for base in owner.__mro__ if "__init__" in vars(base))
        if hasattr(defining.__init__, "is_on_demand"):
            _write_constructor(defining)


SIGNATURE = _Signature()


def _constructor_on_demand(cls: type[Any]) -> Callable[..., None]:
    """Return a constructor that compiles the one that takes its place, and calls it."""

    def __init__(self: Any, /, *arguments: Any, **named: Any) -> None:
        _write_constructor(cls)(self, *arguments, **named)

    setattr(__init__, "is_on_demand", True)  # noqa: B010
    return __init__


def _write_constructor(cls: type[Any]) -> Callable[..., None]:
    """Give a class the constructor of its fields, and return it."""
    frozen: bool = cls.__dataclass_params__.frozen
    names: dict[str, Any] = {"__name__": cls.__module__, "_set": object.__setattr__, "_absent": _Absent()}
    positional, keyword, body = ["self"], list[str](), list[str]()
    for field in dataclasses.fields(cls):
        name, value, parameter = field.name, field.name, field.name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameter += "=_absent"
            value = f"_make_{name}()" + f" if {name} is _absent else {name}" * field.init
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            parameter += f"=_default_{name}"
        if field.init:
            (keyword if field.kw_only else positional).append(parameter)
        elif field.default_factory is MISSING:
            continue
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*positional, "*", *keyword] if keyword else positional)
    text = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(compile(text, f"<constructor of {cls.__qualname__}>", "exec"), names)
    constructor: Callable[..., None] = names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    constructor.__annotations__ = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
    constructor.__annotations__["return"] = None
    cls.__init__ = constructor
    return constructor


def _equality(names: Sequence[str]) -> Callable[[Any, object], bool]:
    values, is_one = _getter(names), len(names) == 1

    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        if is_one:  # equal as what tuples hold: also where it is the same and not equal to itself
            return (values(self),) == (values(other),)
        return values(self) == values(other)

    return __eq__


def _hash(names: Sequence[str]) -> Callable[[Any], int]:
    values, is_one = _getter(names), len(names) == 1

    def __hash__(self: Any) -> int:
        return hash((values(self),) if is_one else values(self))

    return __hash__


def _getter(names: Sequence[str]) -> Callable[[Any], Any]:
    """Return what gives an attribute, or a tuple of more or fewer."""
    return attrgetter(*names) if names else lambda self: ()


def _has_hash(cls: type[Any]) -> bool:
    """Return whether a class says itself how its objects are hashed; Python says "not at all" of one with `__eq__`."""
    present = vars(cls).get("__hash__", MISSING)
    return not (present is MISSING or (present is None and "__eq__" in vars(cls)))


def _frozen_setattr(cls: type[Any], names: Sequence[str]) -> Callable[[Any, str, Any], None]:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _frozen_delattr(cls: type[Any], names: Sequence[str]) -> Callable[[Any, str], None]:
    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__


@recursive_repr()
def _represent(self: Any) -> str:
    shown = (field.name for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
