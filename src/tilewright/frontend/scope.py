"""Names in a kernel: locals, then what the function closes over, then globals, then the few Python builtins."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType
from typing import Any

from tilewright import language
from tilewright.frontend.advice import instead_of_builtin, instead_of_name, near_name
from tilewright.frontend.advice import is_builtin as is_python_builtin
from tilewright.language.callables import ConstexprFunction, JITCallable
from tilewright.language.dtypes import dtype
from tilewright.language.elementwise import PropagateNan, fold_extremum
from tilewright.language.registry import is_builtin, with_hint
from tilewright.language.values import base_value, constexpr, describe, tensor, tuple, unwrap

_LANGUAGE_PACKAGES = ("tilewright.", "triton.language")


def _python_float(value: Any) -> constexpr:
    return constexpr(float(_compile_time(value, "float")))


def _python_int(value: Any) -> constexpr:
    return constexpr(int(_compile_time(value, "int")))


def _compile_time(value: Any, function: str) -> Any:
    if isinstance(value, tensor):
        target = "tl.float32" if function == "float" else "tl.int32"
        raise with_hint(
            TypeError(f"{function}() needs a compile-time value, got {describe(value)}"),
            f"use `.to({target})` to convert it",
        )
    return unwrap(value)


def _python_len(value: Any) -> constexpr:
    if isinstance(value, tensor):
        raise with_hint(TypeError("a tensor has no len()"), "use `x.shape[0]`")
    return constexpr(len(value))


def _python_isinstance(value: Any, classes: Any) -> constexpr:
    classes = unwrap(classes)
    if isinstance(classes, tuple):
        classes = type(())(unwrap(c) for c in classes)
    return constexpr(isinstance(value, classes) or isinstance(unwrap(value), classes))


def _python_getattr(value: Any, name: Any, *default: Any) -> Any:
    name = unwrap(name)
    plain = value.value if isinstance(value, constexpr) and not hasattr(value, name) else value
    return getattr(plain, name, *default)


def _python_hasattr(value: Any, name: Any) -> constexpr:
    return constexpr(hasattr(value, unwrap(name)) or hasattr(unwrap(value), unwrap(name)))


def _python_list(values: Any = ()) -> tuple:
    return tuple(list(values))


def _python_bool(value: Any) -> Any:
    if isinstance(value, tensor):
        from tilewright.language.arithmetic import truth

        return truth(value)
    return constexpr(bool(unwrap(value)))


def _python_abs(value: Any) -> Any:
    return language.abs(value) if isinstance(value, tensor) else constexpr(abs(unwrap(value)))


def _python_min(*values: Any, propagate_nan: Any = PropagateNan.NONE) -> Any:
    return fold_extremum(values, propagate_nan, largest=False)


def _python_max(*values: Any, propagate_nan: Any = PropagateNan.NONE) -> Any:
    return fold_extremum(values, propagate_nan, largest=True)


PYTHON_BUILTINS: dict[str, Callable[..., Any] | type] = {
    "abs": _python_abs,
    "bool": _python_bool,
    "float": _python_float,
    "getattr": _python_getattr,
    "hasattr": _python_hasattr,
    "int": _python_int,
    "isinstance": _python_isinstance,
    "len": _python_len,
    "list": _python_list,
    "tuple": _python_list,
    "max": _python_max,
    "min": _python_min,
    "print": language.device_print,
    "range": language.range,
}
# Classes given to isinstance stand for themselves.
PYTHON_CLASSES: dict[Any, type | Any] = {
    _python_float: float,
    _python_int: int,
    _python_bool: bool,
    _python_list: tuple,
}


def is_usable_global(value: Any) -> bool:
    """May a kernel read a global with this value?"""
    if isinstance(value, ModuleType | JITCallable | ConstexprFunction | constexpr | dtype | base_value | None):
        return True
    if is_builtin(value) or getattr(value, "__triton_aggregate__", False):
        return True
    if str(getattr(value, "__module__", "") or "").startswith(_LANGUAGE_PACKAGES):
        return True
    return is_named_tuple(value) or is_named_tuple(value.__class__)


def is_named_tuple(cls: Any) -> bool:
    """Is `cls` a class made by `namedtuple` or `NamedTuple`?"""
    return type(()) in getattr(cls, "__mro__", ()) and hasattr(cls, "_fields")


def global_error(name: str, value: Any) -> Exception:
    """Return why a kernel may not read a global, with what to do."""
    if callable(value) and not isinstance(value, type | BuiltinFunctionType):
        return with_hint(
            NameError(f"Cannot call the plain Python function `{name}` from within @jit'ed function."),
            f"decorate `{name}` with @triton.jit to compile it, or with @triton.constexpr_function to run it at "
            f"compile time",
        )
    shown = repr(value) if isinstance(value, bool | int | float | str) else name if isinstance(value, type) else "..."
    return with_hint(
        NameError(
            f"Cannot access global variable {name} from within @jit'ed function. Kernels can only access global "
            f"variables "
            "that are instantiated as constexpr (annotating the variable as constexpr is not enough)."
        ),
        f"write `{name} = tl.constexpr({shown})`, pass it as an argument, "
        "or set TILEWRIGHT_ALLOW_NON_CONSTEXPR_GLOBALS=1",
    )


def unknown_name_error(name: str, known: list[str], reason: str | None) -> Exception:
    """A name that is not defined, with the nearest one that is, or why a local has no value here."""
    if reason is None and is_python_builtin(name):
        return with_hint(NameError(f"{name} cannot be used in a kernel"), instead_of_builtin(name))
    error = NameError(f"{name} is not defined")
    if reason is not None:
        return with_hint(error, reason)
    if advice := instead_of_name(name):
        return with_hint(error, advice)
    near = near_name(name, known)
    return with_hint(error, f"did you mean `{near}`?") if near else error
