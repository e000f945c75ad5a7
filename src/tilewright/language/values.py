"""Values that a kernel computes with: tensors, compile-time constants and tuples of them.

A value knows its type and flattens to the SSA values that it consists of, so that any of them can be carried by a loop,
come out of an `if`, or be passed to a device function.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tilewright.language.dtypes import base_type, block_type, dtype

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue


class base_value:
    """Anything that flattens to SSA values (constants flatten to none)."""

    type: Any

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        """Append the SSA values of this value."""
        raise NotImplementedError


class constexpr_type(base_type):
    """Type of one compile-time constant: equal only to the type of an equal constant."""

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def mangle(self) -> str:
        if hasattr(self.value, "mangle"):
            return f"c{self.value.mangle()}"
        return f"c{self.value!r}"

    def flatten_ir_types(self) -> list[Attribute]:
        return []

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> builtins.tuple[base_value, int]:
        return as_constant(self.value), cursor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash((constexpr_type, repr(self.value)))

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


def as_constant(value: Any) -> base_value:
    """A Python value as a constant; of a tuple the elements, so that it can be unpacked into variables."""
    if not isinstance(value, builtins.tuple):
        return value if isinstance(value, base_value) else constexpr(value)
    values = [as_constant(element) for element in cast("builtins.tuple[Any, ...]", value)]
    fields = getattr(value, "_fields", None)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(values, tuple_type([v.type for v in values], fields) if fields is not None else None)


def is_python_sequence(value: Any) -> bool:
    """Is `value` a Python list or tuple? A plain question: it tells a type checker nothing about the elements."""
    return isinstance(value, builtins.list | builtins.tuple)


def is_sequence(value: Any) -> bool:
    """Is `value` a list or tuple of Python's, or a tuple of the language?"""
    return isinstance(value, builtins.list | builtins.tuple | tuple)


def unwrap(value: Any) -> Any:
    """The Python value inside a constexpr; lists and tuples are unwrapped element by element; all else unchanged."""
    if isinstance(value, constexpr):
        return value.value
    if isinstance(value, tuple):
        return tuple([unwrap(v) for v in value.values], value.type if value.is_named else None)
    if type(value) in (builtins.list, builtins.tuple):
        return type(value)([unwrap(v) for v in value])
    return value


def _binary(name: str) -> Callable[[Any, Any], Any]:
    operation: Callable[[Any, Any], Any] = getattr(operator, name)

    def method(self: constexpr, other: Any) -> Any:
        if isinstance(other, base_value) and not isinstance(other, constexpr):
            return NotImplemented
        return constexpr(operation(self.value, unwrap(other)))

    return method


def _reflected(name: str) -> Callable[[Any, Any], Any]:
    operation: Callable[[Any, Any], Any] = getattr(operator, name)

    def method(self: constexpr, other: Any) -> Any:
        return constexpr(operation(unwrap(other), self.value))

    return method


def _unary(name: str) -> Callable[[Any], Any]:
    operation: Callable[[Any], Any] = getattr(operator, name)

    def method(self: constexpr) -> Any:
        return constexpr(operation(self.value))

    return method


class constexpr(base_value):
    """A value known while compiling: `BLOCK: tl.constexpr`, or `tl.constexpr(4)`.

    Arithmetic, comparison, indexing and calls between constants give constants. With a tensor as the other operand the
    constant becomes part of the run-time computation and adopts the tensor's element type (see `arithmetic`).
    """

    is_compile_time: ClassVar[bool] = True
    """How launches know a constant among their arguments, `kernel[grid](x, (n, tl.constexpr(4)))`."""

    def __init__(self, value: Any) -> None:
        while isinstance(value, constexpr):
            value = value.value
        self.value: Any = value
        self.type = constexpr_type(value)

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        return

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __hash__(self) -> int:
        return hash((constexpr, self.value))

    def __bool__(self) -> bool:
        return builtins.bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (constexpr(v) for v in self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return constexpr(self.value[unwrap(index)])

    def __contains__(self, item: Any) -> bool:
        return unwrap(item) in self.value

    def logical_and(self, other: Any) -> Any:
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> Any:
        return constexpr(self.value or unwrap(other))

    def __eq__(self, other: object) -> Any:
        return _eq(self, other)

    def __ne__(self, other: object) -> Any:
        return _ne(self, other)

    __not__ = _unary("not_")
    __neg__ = _unary("neg")
    __pos__ = _unary("pos")
    __invert__ = _unary("invert")
    __abs__ = _unary("abs")
    __lt__, __le__ = _binary("lt"), _binary("le")
    __gt__, __ge__ = _binary("gt"), _binary("ge")
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("truediv"), _reflected("truediv")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __and__, __rand__ = _binary("and_"), _reflected("and_")
    __or__, __ror__ = _binary("or_"), _reflected("or_")
    __xor__, __rxor__ = _binary("xor"), _reflected("xor")
    __lshift__, __rlshift__ = _binary("lshift"), _reflected("lshift")
    __rshift__, __rrshift__ = _binary("rshift"), _reflected("rshift")


_eq, _ne = _binary("eq"), _binary("ne")


class tensor(base_value):
    """A run-time value: a block of elements, or a scalar (a block of rank 0).

    `.shape` is a tuple of constants, `.dtype` the element type, `.type` the full type, `.numel` the element count.
    Operators follow Triton's promotion rules; functions marked "member" in `docs/language.md` are methods too.
    """

    # Operators and member functions are attached where they are defined: see `operators` and `registry`.
    __slots__ = ("handle", "type")

    def __init__(self, handle: SSAValue, type: dtype) -> None:
        self.handle = handle
        self.type = type

    @property
    def dtype(self) -> dtype:
        return self.type.scalar

    @property
    def shape(self) -> tuple:
        return tuple([constexpr(extent) for extent in self.extents])

    @property
    def extents(self) -> list[int]:
        """The shape as Python integers; empty for a scalar."""
        return self.type.shape if isinstance(self.type, block_type) else []

    @property
    def numel(self) -> constexpr:
        return constexpr(self.type.numel if isinstance(self.type, block_type) else 1)

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        handles.append(self.handle)

    def __str__(self) -> str:
        shape = "x".join(map(str, self.extents))
        return f"{self.dtype}[{shape}]" if shape else str(self.dtype)

    def __repr__(self) -> str:
        return f"tensor({self})"

    def __bool__(self) -> bool:
        raise TypeError("a run-time value has no truth value while the kernel is being compiled")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a tensor cannot be iterated over or unpacked")

    __hash__ = object.__hash__

    # The members below exist under these names for type checkers; their bodies come from the operator module.
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> tensor: ...
        def __add__(self, other: Any) -> tensor: ...
        def __radd__(self, other: Any) -> tensor: ...
        def __sub__(self, other: Any) -> tensor: ...
        def __rsub__(self, other: Any) -> tensor: ...
        def __mul__(self, other: Any) -> tensor: ...
        def __rmul__(self, other: Any) -> tensor: ...
        def __truediv__(self, other: Any) -> tensor: ...
        def __floordiv__(self, other: Any) -> tensor: ...
        def __mod__(self, other: Any) -> tensor: ...
        def __and__(self, other: Any) -> tensor: ...
        def __or__(self, other: Any) -> tensor: ...
        def __xor__(self, other: Any) -> tensor: ...
        def __lshift__(self, other: Any) -> tensor: ...
        def __rshift__(self, other: Any) -> tensor: ...
        def __lt__(self, other: Any) -> tensor: ...
        def __le__(self, other: Any) -> tensor: ...
        def __gt__(self, other: Any) -> tensor: ...
        def __ge__(self, other: Any) -> tensor: ...
        def __neg__(self) -> tensor: ...
        def __invert__(self) -> tensor: ...


class tuple_type(base_type):
    """Type of a tuple: the types of its elements, and their names for a named tuple."""

    def __init__(self, types: Sequence[Any], fields: Sequence[str] | None = None) -> None:
        self.types = list(types)
        self.fields = list(fields) if fields is not None else None

    @property
    def name(self) -> str:
        if self.fields is None:
            return f"[{','.join(map(str, self.types))}]"
        return f"[{','.join(f'{f}:{t}' for f, t in zip(self.fields, self.types, strict=True))}]"

    def mangle(self) -> str:
        return f"T{'_'.join(t.mangle() for t in self.types)}T"

    def flatten_ir_types(self) -> list[Attribute]:
        return [ir for t in self.types for ir in t.flatten_ir_types()]

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> builtins.tuple[base_value, int]:
        values: list[Any] = []
        for element in self.types:
            value, cursor = element.unflatten_ir(handles, cursor)
            values.append(value)
        return tuple(values, self), cursor

    def __iter__(self) -> Iterator[Any]:
        return iter(self.types)

    def __getitem__(self, index: int) -> Any:
        return self.types[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple_type) and self.types == other.types and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((tuple_type, builtins.tuple(map(str, self.types))))

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


def type_of(value: Any) -> base_type:
    """The type under which `value` lives in a tuple: its own, or the type of a constant for a plain Python value."""
    return value.type if isinstance(value, base_value) else constexpr_type(value)


class tuple(base_value):
    """A fixed sequence of values, possibly with field names: what `a, b` makes and what functions with several results
    return.

    Indexing by a constant, slicing by constants, `len`, `+`, `*`, `==` and iteration at compile time all work; elements
    may be of different types, including constants, `None`, dtypes and functions.
    """

    def __init__(self, args: Sequence[Any], type: tuple_type | None = None) -> None:
        self.values: list[Any] = list(args)
        self._type = type

    @property
    def type(self) -> tuple_type:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._type is None or len(self._type.types) != len(self.values):
            self._type = tuple_type([type_of(v) for v in self.values])
        return self._type

    @property
    def is_named(self) -> bool:
        return self._type is not None and self._type.fields is not None

    def with_values(self, values: Sequence[Any]) -> tuple:
        """The same fields with other values."""
        fields = self._type.fields if self._type is not None else None
        return tuple(values, tuple_type([type_of(v) for v in values], fields) if fields is not None else None)

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        for value in self.values:
            if isinstance(value, base_value):
                value.flatten_ir(handles)

    def __getitem__(self, index: Any) -> Any:
        index = unwrap(index)
        if isinstance(index, int):
            return self.values[index]
        if type(index) in (builtins.slice, slice):
            bounds = [unwrap(bound) for bound in (index.start, index.stop, index.step)]
            if not any(isinstance(bound, tensor) for bound in bounds):
                return tuple(self.values[builtins.slice(*bounds)])
        raise TypeError(f"a tuple is indexed by a compile-time integer or slice, not by {_describe(index)}")

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("_type") and self._type.fields  # pyright: ignore[reportOptionalMemberAccess]
        if not fields or name not in fields:
            raise AttributeError(f"'tuple' object has no attribute '{name}'")
        return self.values[fields.index(name)]

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __add__(self, other: Any) -> tuple:
        return tuple(self.values + list(other))

    def __mul__(self, times: Any) -> tuple:
        return tuple(self.values * unwrap(times))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, tuple | builtins.tuple | builtins.list):
            return NotImplemented
        return constexpr(unwrap(self.values) == unwrap(list(other)))  # pyright: ignore[reportUnknownArgumentType]

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.values))})"

    __repr__ = __str__


class slice_type(base_type):
    """Type of a slice object; it holds only compile-time bounds."""

    def mangle(self) -> str:
        return "S"

    def flatten_ir_types(self) -> list[Attribute]:
        return []

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> builtins.tuple[base_value, int]:
        raise NotImplementedError("a slice is not carried between blocks")


class slice(base_value):
    """`start:stop:step` with compile-time bounds, as it stands in an index."""

    def __init__(self, start: Any, stop: Any = None, step: Any = None) -> None:
        self.start, self.stop, self.step = start, stop, step
        self.type = slice_type()

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        return


def _describe(value: Any) -> str:
    return f"a run-time {value}" if isinstance(value, tensor) else f"`{type(value).__name__}`"


def is_block(value: Any) -> bool:
    """Is `value` a tensor of rank 1 or more?"""
    return isinstance(value, tensor) and bool(value.extents)


LONGEST_SHOWN = 40
"""Characters that a value may take in an error message."""


def describe(value: Any) -> str:
    """Words for a value in an error message: `a tensor fp32[16]`, `the constant 4`, `a tuple`, ..."""
    if isinstance(value, tensor):
        return f"a tensor {value}" if value.extents else f"a run-time scalar {value}"
    if isinstance(value, constexpr):
        return f"the constant {value.value!r}"
    if isinstance(value, tuple):
        return f"the tuple {value}"
    if value is None or isinstance(value, bool | int | float | str):
        return f"the constant {value!r}"
    if isinstance(value, type):
        return f"the class `{value.__module__}.{value.__qualname__}`"
    kind: Any = value.__class__
    if kind.__module__ == "builtins":
        return f"`{kind.__name__}`"
    shown = repr(value)
    is_short = len(shown) <= LONGEST_SHOWN and "\n" not in shown
    return f"{shown}, of class `{kind.__module__}.{kind.__qualname__}`" if is_short else f"`{kind.__qualname__}`"


def describe_type(value: Any) -> str:
    """The type of a tensor; what anything else is."""
    return str(value.type) if isinstance(value, tensor) else describe(value)
