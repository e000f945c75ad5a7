"""Types from their text in signatures: `*fp32`, `i32`, `u1`, `tensordesc<fp16[32, 64]>`, tuples of these."""

from __future__ import annotations

import ast
import re
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.descriptors import tensor_descriptor_type
from tilewright.language.values import constexpr, constexpr_type, is_python_sequence, tuple_type

SCALARS: dict[str, dt.dtype] = {
    "i1": dt.int1,
    "u1": dt.int1,
    "B": dt.int1,
    **{f"i{bits}": dt.get_int_dtype(bits, signed=True) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": dt.get_int_dtype(bits, signed=False) for bits in (8, 16, 32, 64)},
    **{name: dt.dtype(name) for name in (*dt.dtype.FP_TYPES, *dt.dtype.SINT_TYPES, *dt.dtype.UINT_TYPES)},
    **{dt.dtype(name).codegen_name(): dt.dtype(name) for name in dt.dtype.FP_TYPES},
    "f16": dt.float16,
    "f32": dt.float32,
    "f64": dt.float64,
}
_DESCRIPTOR = re.compile(
    r"tensordesc(?:_im2col)?<\s*(\w+)\s*\[([\d,\s]*)\](,tf32)?(?:,input_rank=(\d+))?"
    r"(?:,pixels=(\(\(.*?\)\)))?(?:,\s*(\w+Layout\(.*\)))?.*>$"
)


def scalar_type(text: str) -> dt.dtype:
    """Element type of a name such as `i32`, `fp32`, `bf16`, `fp8e4nv`. Raises ValueError for an unknown one."""
    found = SCALARS.get(text)
    if found is None:
        raise ValueError(f"unknown type {text!r}; expected one of {', '.join(SCALARS)}")
    return found


def parse_type(text: Any, constants: dict[tuple[int, ...], Any], path: tuple[int, ...]) -> Any:
    """Type of the argument at `path`; a part that is among the constants has the type of that constant."""
    if path in constants:
        return constexpr_type(constexpr(constants[path]).value)
    if is_python_sequence(text):
        parts = [parse_type(part, constants, (*path, position)) for position, part in enumerate(text)]
        return tuple_type(parts, getattr(text, "_fields", None))
    if isinstance(text, dt.dtype):
        return text
    if text == "constexpr" or text is None:
        return constexpr_type(None)
    if text.startswith("*"):
        const = text.startswith("*k")
        return dt.pointer_type(scalar_type(text[2:] if const else text[1:]), const=const)
    match = _DESCRIPTOR.match(text)
    if match:
        shape = tuple(int(extent) for extent in match[2].split(",") if extent.strip())
        block, rounds = dt.block_of(scalar_type(match[1]), shape), match[3] is not None
        if match[6]:
            from tilewright.language.gluon.nvidia.hopper import tma

            layout = layout_from_text(match[6])
            if match[5]:
                pixels = ast.literal_eval(match[5])
                return tma.tensor_descriptor_im2col_type.of_pixels(block, layout, pixels, rounds_to_tf32=rounds)
            return tma.tensor_descriptor_type.of_layout(block, layout, rounds_to_tf32=rounds)
        rank = int(match[4]) if match[4] else None
        return tensor_descriptor_type.of_block(block, rank, rounds_to_tf32=rounds)
    return scalar_type(text)


def layout_from_text(text: str) -> Any:
    """A layout from how it is printed: `NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16)`. Raises
    ValueError for anything else."""
    from tilewright.language import gluon
    from tilewright.language.gluon.layout_base import Layout

    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError(f"{text!r} is not a layout")
    named = getattr(gluon, call.func.id, None)
    if not isinstance(named, type) or not issubclass(named, Layout):
        raise ValueError(f"{text!r} is not a layout")
    fields = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    return named(*map(ast.literal_eval, call.args), **fields)


def str_to_ty(name: str, c: Any = None) -> Any:
    """The type that a signature text stands for; `c` is the value if the text is "constexpr"."""
    return constexpr_type(c) if name == "constexpr" else parse_type(name, {}, ())
