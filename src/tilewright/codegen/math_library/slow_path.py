"""Forms that hold in a range: a vector with a lane outside of it asks libm for every lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder


def emit_with_slow_path(
    b: FormBuilder, name: str, operands: Sequence[str], is_outside: str, emit: Callable[[], str]
) -> str:
    """Return what `emit` writes, or libm's function where `is_outside` holds in some lane."""
    from tilewright.codegen.math_library import call_libm

    fn = b.fn
    anywhere = (
        fn.call("i1", f"llvm.vector.reduce.or.v{b.lanes}i1", [(b.type("i1"), is_outside)]) if b.lanes else is_outside
    )
    slow, fast, done = (fn.new_label(hint) for hint in ("slow", "fast", "done"))
    fn.branch_if(anywhere, slow, fast)
    fn.start(slow)
    exact = call_libm(fn, name, b.scalar, b.lanes, operands)
    fn.branch(done)
    fn.start(fast)
    found, last = emit(), fn.label
    fn.branch(done)
    fn.start(done)
    result = fn.phi(b.type(b.scalar))
    result.add(exact, slow)
    result.add(found, last)
    return result.name
