"""What a `for` or `while` in a kernel may run over. These objects exist at compile time only."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from tilewright.language.values import constexpr, describe, tensor, unwrap


class static_range:
    """`for i in tl.static_range(start, stop, step)`: unrolled while compiling; `i` is a compile-time constant."""

    def __init__(self, arg1: Any, arg2: Any = None, step: Any = None, _semantic: Any = None) -> None:
        start, stop = (0, arg1) if arg2 is None else (arg1, arg2)
        self.start, self.stop = unwrap(start), unwrap(stop)
        self.step = 1 if step is None else unwrap(step)
        for name, value in (("start", self.start), ("stop", self.stop), ("step", self.step)):
            if not isinstance(value, int):
                raise TypeError(f"static_range {name} must be a compile-time integer, got {describe(value)}")

    def __iter__(self) -> Iterator[constexpr]:
        return (constexpr(i) for i in builtins.range(self.start, self.stop, self.step))


class range:
    """`for i in tl.range(start, stop, step)`: a loop at run time, with hints for the compiler.

    `num_stages`: how many iterations to keep in flight when loads are pipelined. `loop_unroll_factor`: unroll that many
    iterations. `disallow_acc_multi_buffer`: do not double-buffer the accumulator of a dot. `flatten`: merge a nest of
    loops. `warp_specialize`: give loads and computation to different warps. `disable_licm`: do not move invariants out.
    The hints for pipelining concern GPU targets and change no result.
    """

    def __init__(
        self,
        arg1: Any,
        arg2: Any = None,
        step: Any = None,
        num_stages: Any = None,
        loop_unroll_factor: Any = None,
        disallow_acc_multi_buffer: Any = False,
        flatten: Any = False,
        warp_specialize: Any = False,
        disable_licm: Any = False,
        _semantic: Any = None,
    ) -> None:
        self.start, self.end = (constexpr(0), arg1) if arg2 is None else (arg1, arg2)
        self.step = constexpr(1) if step is None else step
        self.num_stages = _number("num_stages", num_stages)
        self.loop_unroll_factor = _number("loop_unroll_factor", loop_unroll_factor)
        self.disallow_acc_multi_buffer = _flag("disallow_acc_multi_buffer", disallow_acc_multi_buffer)
        self.flatten = _flag("flatten", flatten)
        self.warp_specialize = _flag("warp_specialize", warp_specialize)
        self.disable_licm = _flag("disable_licm", disable_licm)

    def __iter__(self) -> Iterator[tensor]:
        raise RuntimeError("tl.range can only be used in @jit functions")


def _number(name: str, value: Any) -> int | None:
    plain = unwrap(value)
    if plain is None or isinstance(plain, int):
        return plain
    raise TypeError(f"`{name}` must be a compile-time integer, got {describe(value)}")


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, tensor):
        raise TypeError(f"`{name}` must be known at compile time, got {describe(value)}")
    return builtins.bool(unwrap(value))


class condition:
    """`while tl.condition(c, disable_licm=True)`: the condition of a loop, with a hint."""

    def __init__(self, arg1: Any, disable_licm: Any = False, _semantic: Any = None) -> None:
        self.condition = arg1
        self.disable_licm = _flag("disable_licm", disable_licm)
