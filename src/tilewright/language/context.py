"""What a language function needs to know while a kernel is being compiled: where to put ops, and under which options.

The front end enters a `KernelContext` for each function that it compiles; `current()` finds it. Outside of a kernel
there is none, and every language function then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar

from tilewright.language.dtypes import block_of, block_type, dtype
from tilewright.support.errors import OutsideOfKernelError
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from tilewright.ir.builder import OpBuilder

    OpT = TypeVar("OpT", bound=Operation)


@dataclass(frozen=True)
class CodegenOptions:
    """Options that change what the front end emits. The defaults are those of Triton for an NVIDIA GPU."""

    target_name: str = "cuda"
    arch: int | str = 90
    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 32
    debug: bool = False
    sanitize_overflow: bool = True
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4b15", "fp8e4nv")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    max_num_imprecise_acc_default: int = 2**30
    enable_fp_fusion: bool = True
    min_dot_size: tuple[int, int, int] = (1, 1, 16)
    """Smallest M, N, K of a dot for 16-bit operands; K doubles for 8-bit ones."""
    allow_non_constexpr_globals: bool = False
    runs_in_python: bool = False
    """Whether `print` and `breakpoint` in a kernel are Python's own."""


@dataclass
class KernelContext:
    """State of the function being compiled, as far as the language functions see it."""

    builder: OpBuilder
    options: CodegenOptions
    call: Callable[..., Any]
    """`call(function, args, kwargs)` compiles a device function for these arguments and emits the call."""
    warn: Callable[[str], None]
    """Report something doubtful at the current source line."""
    num_warps: int = 4
    """Warps that run this function: the kernel's, or those of a partition in Gluon."""
    new_block: Callable[[dtype, tuple[int, ...]], block_type] = block_of
    """The type of a block that is made from nothing: `new_block(element_ty, shape)`."""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def insert(self, op: OpT) -> OpT:
        return self.builder.insert(op)


class _Active(local):
    stack: list[KernelContext]

    def __init__(self) -> None:
        self.stack = []


_active = _Active()


def current() -> KernelContext:
    """The context of the kernel being compiled in this thread."""
    stack = _active.stack
    if not stack:
        raise outside_of_kernel("a function of tilewright.language")
    return stack[-1]


def outside_of_kernel(name: str) -> OutsideOfKernelError:
    """The error of the function `name` of the language, which the host called."""
    return OutsideOfKernelError(
        f"{name} was called outside of a kernel; did you forget to decorate the caller with @jit?"
    )


def is_active() -> bool:
    """Is a kernel being compiled in this thread?"""
    return bool(_active.stack)


@contextmanager
def entered(context: KernelContext) -> Generator[KernelContext]:
    """Make `context` the current one for the length of a `with`."""
    _active.stack.append(context)
    try:
        yield context
    finally:
        _active.stack.pop()


def emit(op: Operation) -> SSAValue:
    """Insert an op with one result at the current place; returns the result."""
    return current().builder.result(op)


def emit_void(op: Operation) -> None:
    """Insert an op without results."""
    current().builder.insert(op)


def emit_many(op: Operation) -> Sequence[SSAValue]:
    """Insert an op with any number of results; returns them."""
    return current().builder.insert(op).results
