"""Marks the functions that users may call in a kernel, and makes some of them methods of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, TypeVar, cast

from tilewright.language.context import is_active, outside_of_kernel
from tilewright.language.values import constexpr, is_sequence, tensor, tuple
from tilewright.support.errors import CompilationError, OutsideOfKernelError, WrongLayoutError
from tilewright.support.tracebacks import cut_traceback

BUILTIN_MARK = "__triton_builtin__"
MEMBER_MARK = "__tilewright_member__"
_HOST_KEYWORDS = ("_semantic", "_builder", "_generator")

_PyTuple = type(())

F = TypeVar("F", bound=Callable[..., Any])
ErrorT = TypeVar("ErrorT", bound=Exception)


def builtin(fn: F) -> F:
    """A function that emits ops directly. The keywords by which Triton passes its own state are accepted and
    ignored."""

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for keyword in _HOST_KEYWORDS:
                kwargs.pop(keyword, None)
        try:
            return fn(*args, **kwargs)
        except (OutsideOfKernelError, TypeError, AttributeError, ValueError) as error:
            # Whatever an array of the host's lacks is not what went wrong.
            if is_active() or not (isinstance(error, OutsideOfKernelError) or any(map(_is_array, args))):
                raise
            try:
                raise outside_of_kernel(fn.__name__) from None
            except OutsideOfKernelError as outside:
                cut_traceback(outside)
                raise

    setattr(call, BUILTIN_MARK, True)
    return call  # pyright: ignore[reportReturnType]


def _is_array(value: Any) -> bool:
    """Is a value an array or a tensor of the host's?"""
    return hasattr(value, "__array_interface__") or hasattr(value, "data_ptr")


def is_builtin(fn: Any) -> bool:
    """Does `fn` emit ops itself when called in a kernel?"""
    return getattr(fn, BUILTIN_MARK, False)


def member(fn: F) -> F:
    """Make a language function a method too: `x.sum(0)` is `tl.sum(x, 0)`. Apply it outside of `builtin`."""
    name = getattr(fn, "__name__", "")
    setattr(tensor, name, fn)
    setattr(fn, MEMBER_MARK, True)
    return fn


def with_hint(error: ErrorT, hint: str) -> ErrorT:
    """Attach advice to an error; the front end shows it on a line of its own."""
    error.hint = hint  # pyright: ignore[reportAttributeAccessIssue]
    return error


def of_kind(error: ErrorT, kind: type[CompilationError]) -> ErrorT:
    """Say which class of compilation error an error becomes at the line of the user's."""
    error.kind = kind  # pyright: ignore[reportAttributeAccessIssue]
    return error


def wrong_layout(error: ErrorT) -> ErrorT:
    """An error about a layout in Gluon that does not fit."""
    return of_kind(error, WrongLayoutError)


def must_use_result(advice: Any) -> Any:
    """Mark a function whose result must be used: a call of it as a statement is an error. Takes an optional text
    first."""
    if isinstance(advice, str):
        return partial(_mark_must_use, advice=advice)
    return _mark_must_use(advice, True)


def _mark_must_use(fn: Any, advice: str | bool) -> Any:
    fn._must_use_result = advice
    return fn


def unwrap_list(items: Any, what: str) -> list[Any]:
    """A list, tuple or language tuple as a Python list, with its constants unwrapped one level."""
    if isinstance(items, constexpr):
        items = items.value
    if isinstance(items, tuple):
        items = items.values
    if not isinstance(items, list | _PyTuple):
        error = TypeError(f"{what} must be a list or tuple, got {items!r}")
        raise with_hint(error, f"one dimension is written `({items},)`") if isinstance(items, int) else error
    return [item.value if isinstance(item, constexpr) else item for item in cast("Sequence[Any]", items)]


def unwrap_shape(shape: Any, what: str = "shape") -> list[int]:
    """A shape given as a list of constants; run-time extents are refused."""
    extents = unwrap_list(shape, what)
    for axis, extent in enumerate(extents):
        if isinstance(extent, tensor):
            raise with_hint(
                TypeError(f"Shape element {axis} must have type `constexpr[int]`, got a run-time value"),
                "a block's shape is fixed while compiling: annotate the parameter or variable with tl.constexpr",
            )
    return extents


def varargs(items: Any) -> Any:
    """`f(x, 1, 2)` and `f(x, (1, 2))` alike: the dimensions given one by one or as one sequence."""
    if len(items) == 1:
        only = items[0].value if isinstance(items[0], constexpr) else items[0]
        if is_sequence(only):
            return only
    return items
