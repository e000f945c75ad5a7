"""Printing and checking, while compiling and while running; barriers and assumptions."""

from __future__ import annotations

import builtins
import string
import sys
from typing import Any

from tilewright.language.arithmetic import compare, logical_not, or_
from tilewright.language.casts import cast_to
from tilewright.language.context import current, emit_void
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import int1
from tilewright.language.ir_modules import builtin as builtin_dialect
from tilewright.language.ir_modules import gpu, ir, llvm, tt
from tilewright.language.registry import builtin, with_hint
from tilewright.language.values import describe, is_sequence, tensor, unwrap
from tilewright.language.versions import since


@builtin
def static_print(*values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
    """Print compile-time values while the kernel is being compiled; of a run-time value its type."""
    print(
        *[unwrap(v) for v in values],
        sep=unwrap(sep),
        end=unwrap(end),
        file=file or sys.stdout,
        flush=bool(unwrap(flush)),
    )


class StaticAssertError(AssertionError):
    """A `static_assert` that does not hold; the front end turns it into CompileTimeAssertionFailure."""


@builtin
def static_assert(cond: Any, msg: Any = "") -> None:
    """Stop compiling with `CompileTimeAssertionFailure` unless the compile-time condition holds."""
    condition = unwrap(cond)
    if isinstance(condition, tensor):
        raise with_hint(
            NotImplementedError(f"static_assert needs a compile-time condition, got {describe(condition)}"),
            "use tl.device_assert",
        )
    if not condition:
        raise StaticAssertError(str(unwrap(msg)) or "static assertion failed")


@builtin
def device_print(prefix: Any, *args: Any, hex: Any = False) -> None:
    """Print values while the kernel runs, each with program id and index. `prefix` is a printable compile-time string.

    With `hex=True` values are printed as hexadecimal, as pointers always are.
    """
    text = unwrap(prefix)
    if not isinstance(text, str):
        raise with_hint(
            TypeError(f"device_print needs a string first, got {describe(prefix)}"),
            'say what is printed: `print("x", x)`',
        )
    if not set(text) <= set(string.printable):
        raise ValueError(f"{text!r} is not an ascii string of printable characters")
    values = [as_tensor(a, "args") for a in args]
    signed = [int(v.dtype.is_int_signed()) for v in values]
    text = _shown_prefix(text, has_values=bool(values))
    emit_void(tt.PrintOp([v.handle for v in values], prefix=text, hex=bool(unwrap(hex)), is_signed=signed))


def _shown_prefix(text: str, *, has_values: bool) -> str:
    """A prefix as Triton writes it: ` x: ` for `x`, `x:` and `x: `."""
    if has_values:
        text = text if text.endswith(" ") else text + " "
        text = text if text.endswith(": ") else text[:-1] + ": "
    return text if len(text) <= 2 or text.startswith(" ") else " " + text


@builtin
def device_assert(cond: Any, msg: Any = "", mask: Any = None) -> None:
    """Check a condition while the kernel runs, on all lanes where `mask` holds. Does nothing unless `debug` is on.

    A failure stops the kernel; the launch raises an error with `msg` and the source line.
    """
    if not current().options.debug:
        return
    message = unwrap(msg)
    if not isinstance(message, str):
        raise TypeError(f"the message of device_assert must be a string, got {describe(msg)}")
    condition = as_tensor(cond, "cond")
    if not condition.dtype.is_bool():
        condition = cast_to(condition, int1)
    mask = unwrap(mask)
    if mask is not None:
        condition = or_(condition, logical_not(mask))
    emit_void(tt.AssertOp(condition.handle, message))


@since("3.8")
@builtin
def expect_zero(x: Any, mask: Any) -> Any:
    """`x`, which is expected to be zero where `mask` holds (by underflow, say). With `debug` this is asserted."""
    value, lanes = as_tensor(x, "x"), as_tensor(mask, "mask")
    if current().options.debug:
        is_zero = or_(compare("eq", value, 0), logical_not(lanes))
        device_assert(is_zero, "expect_zero expected x == 0 where mask is true")
    return x


@builtin
def debug_barrier() -> None:
    """Wait until all threads of the program come here. Needed only to debug memory races within one program."""
    emit_void(gpu.BarrierOp())


@builtin
def assume(cond: Any) -> None:
    """Tell the compiler that a scalar condition holds; undefined behaviour if it does not."""
    value = as_tensor(cond, "cond")
    if value.extents:
        raise ValueError(f"tl.assume needs a scalar condition, got {value}")
    emit_void(llvm.AssumeOp(cast_to(value, int1).handle))


# -- hints ------------------------------------------------------------------------------------------------------------
def _hint(input: Any, values: Any, function: str, attribute: str) -> tensor:
    value = as_tensor(input, "input")
    numbers = unwrap(values)
    numbers = [numbers] if isinstance(numbers, int) else [unwrap(n) for n in _as_list(numbers, function)]
    for position, number in enumerate(numbers):
        if type(number) is not int:
            raise TypeError(f"values element {position} must have type `constexpr[int]`, got {describe(number)}")
    if builtins.max(1, len(value.extents)) != len(numbers):
        raise ValueError(
            f"Shape of input to {function} does not match the length of values: {value.extents}, {numbers}"
        )
    owner = value.handle.owner
    attr = _hint_attribute(numbers)
    if isinstance(owner, ir.Operation):
        owner.attributes[attribute] = attr
    else:
        _hint_argument(value, attribute, attr)
    return value


def _hint_argument(value: tensor, attribute: str, attr: Any) -> None:
    """Remember a hint for a function argument; the front end writes it into the function's argument attributes."""
    current().facts.setdefault("argument_hints", []).append((value.handle, attribute, attr))


def _hint_attribute(numbers: list[int]) -> Any:
    ty = builtin_dialect.TensorType(builtin_dialect.i32, [len(numbers)])
    return builtin_dialect.DenseIntOrFPElementsAttr.from_list(ty, numbers)


def _as_list(values: Any, function: str) -> list[Any]:
    if not is_sequence(values):
        raise TypeError(f"{function} needs a compile-time integer or a list of them, got {describe(values)}")
    return list(values)


@builtin
def multiple_of(input: Any, values: Any) -> tensor:
    """Promise that the first element of each run of `input` is a multiple of `values` (one per dimension); returns
    `input`."""
    return _hint(input, values, "multiple_of", "tt.divisibility")


@builtin
def max_contiguous(input: Any, values: Any) -> tensor:
    """Promise that the first `values` elements along each dimension are consecutive integers; returns `input`."""
    return _hint(input, values, "max_contiguous", "tt.contiguity")


@builtin
def max_constancy(input: Any, values: Any) -> tensor:
    """Promise that the first `values` elements along each dimension are equal; returns `input`."""
    return _hint(input, values, "max_constancy", "tt.constancy")
