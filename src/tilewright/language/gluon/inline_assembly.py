"""Assembly that each thread runs once, on all of its registers of the operands."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

from tilewright.language.callables import ConstexprFunction
from tilewright.language.context import emit_many
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import dtype, pointer_type
from tilewright.language.gluon.buffers import shared_memory_descriptor
from tilewright.language.gluon.distributed_layouts import InferredLayout
from tilewright.language.gluon.types import check_threads, distributed_type
from tilewright.language.ir_modules import ttg
from tilewright.language.registry import builtin, unwrap_list, wrong_layout
from tilewright.language.values import describe, is_sequence, tensor, tuple, unwrap

Operand = tensor | shared_memory_descriptor
Result = dtype | distributed_type


@builtin
def inline_asm(asm: Any, constraints: Any = "", args: Any = (), result_types: Any = (), is_pure: Any = False) -> Any:
    """Run PTX once in every thread; for GPUs and the simulated GPU.

    A tensor among `args` is as many operands as a thread has registers of it, in the order of its layout; a scalar is
    one, the same in all threads; a buffer one, the 32-bit address of its first element. Small elements are not packed.

    `result_types` is a dtype, a `gl.distributed_type`, or a sequence of them: one type gives one tensor, a sequence a
    tuple, the empty one nothing. `asm` is the text, or a `@gluon.constexpr_function` that gets the operands' names,
    `(outputs, inputs)` with a tuple of `"$0"`, `"$1"`, ... for each result and argument, and returns the text.
    `constraints` are LLVM's, as one string with an entry for each register, or as a tuple with one for each result and
    argument. What the assembly does to memory is not known to the compiler: barriers, fences and waits are the user's.

    Raises ValueError for layouts that are not known yet, constraints that do not fit, and buffers with `is_pure`;
    TypeError for anything that is not an operand, type or text.
    """
    plain = unwrap(result_types)
    several = is_sequence(plain)
    types = [_result(ty) for ty in (plain if several else (plain,))]
    values = [_operand(value) for value in unwrap_list(args, "args")]
    counts = [_registers(ty) for ty in types] + [1 if _is_buffer(value) else _registers(value.type) for value in values]
    op = ttg.InlineAsmOp(
        [value.handle for value in values],
        [ty.to_ir() for ty in types],
        asm_string=_text(unwrap(asm), counts, len(types)),
        constraints=_constraints(unwrap(constraints), counts),
        pure=_purity(unwrap(is_pure), values),
    )
    results = [tensor(handle, ty) for handle, ty in zip(emit_many(op), types, strict=True)]
    return tuple(results) if several else results[0]


def _result(ty: Any) -> Result:
    plain = unwrap(ty)
    if isinstance(plain, distributed_type) and not isinstance(plain.element_ty, pointer_type):
        check_threads(plain.layout)
        return plain
    if type(plain) is not dtype:
        raise TypeError(f"inline_asm requires scalar or distributed result types, got {describe(ty)}")
    return plain


def _operand(value: Any) -> Operand:
    plain = unwrap(value)
    return plain if isinstance(plain, shared_memory_descriptor) else as_tensor(plain, "args")


def _is_buffer(value: Operand) -> bool:
    return isinstance(value, shared_memory_descriptor)


def _registers(ty: Any) -> int:
    """Return how many of them a thread has of a tensor of a type; 1 for a scalar."""
    from tilewright.layouts.distributed import REGISTER

    if not isinstance(ty, distributed_type):
        return 1
    if isinstance(ty.layout, InferredLayout):
        raise wrong_layout(ValueError(f"inline_asm requires explicit distributed tensor layouts, got {ty.layout}"))
    return ty.layout.plain().to_linear(ty.shape).in_dims[REGISTER]


def _text(asm: Any, counts: list[int], outputs: int) -> str:
    if isinstance(asm, ConstexprFunction | partial):
        names = [f"${index}" for index in range(sum(counts))]
        starts = [sum(counts[:group]) for group in range(len(counts))]
        groups = [builtins.tuple(names[start : start + count]) for start, count in zip(starts, counts, strict=True)]
        asm = unwrap(asm(builtins.tuple(groups[:outputs]), builtins.tuple(groups[outputs:])))
    if not isinstance(asm, str):
        raise TypeError(f"inline_asm expects a string or a constexpr function that returns one, got {describe(asm)}")
    return asm


def _constraints(constraints: Any, counts: list[int]) -> str:
    if isinstance(constraints, str):
        return constraints
    entries = [unwrap(entry) for entry in constraints]
    if len(entries) != len(counts):
        raise ValueError(
            f"inline_asm requires one constraint for each result and argument, {len(counts)}, got {len(entries)}"
        )
    return ",".join(entry for entry, count in zip(entries, counts, strict=True) for _ in range(count))


def _purity(is_pure: Any, values: list[Operand]) -> bool:
    if is_pure and any(map(_is_buffer, values)):
        raise ValueError("inline_asm with a buffer among its arguments requires is_pure=False")
    return bool(is_pure)


__all__ = ["inline_asm"]
