"""Conversions between element types."""

import triton
import triton.language as tl


@triton.jit
def convert(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@triton.jit
def reinterpret_bits(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty, bitcast=True))


@triton.jit
def rounding(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(out_ptr + i, x.to(tl.float16, fp_downcast_rounding="rtne"))
    tl.store(out_ptr + i, x.to(x.dtype, fp_downcast_rounding="rtne"))
    tl.store(out_ptr + i, tl.cast(x, tl.float8e5, fp_downcast_rounding="rtne"))


@triton.jit
def pointers(x_ptr, address, out_ptr):
    as_int = x_ptr.to(tl.int64)
    p = address.to(tl.pointer_type(tl.float32))
    q = x_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(out_ptr, as_int)
    tl.store(out_ptr + 1, tl.load(p).to(tl.int64))
    tl.store(out_ptr + 2, tl.load(q).to(tl.int64))


@triton.jit
def booleans(x_ptr, flags_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    flags = tl.load(flags_ptr + i)
    x = tl.load(x_ptr + i)
    tl.store(flags_ptr + i, x.to(tl.int1))
    tl.store(out_ptr + i, flags.to(tl.float32) + flags)
    tl.store(out_ptr + i, flags & (x > 0))


CASES = [
    *[
        (convert, f"*{a} *{b} =64")
        for a in ("fp16", "bf16", "fp32", "fp64", "i32", "u8", "i64")
        for b in ("fp16", "bf16", "fp32", "fp64", "i8", "i32", "u32", "i64", "i1")
    ],
    *[(convert, f"*{a} *{b} =64") for a in ("fp8e5", "fp8e4nv") for b in ("fp16", "bf16", "fp32")],
    *[(convert, f"*{b} *{a} =64") for a in ("fp8e5", "fp8e4nv") for b in ("fp16", "bf16", "fp32")],
    (reinterpret_bits, "*fp32 *i32 =64"),
    (reinterpret_bits, "*fp16 *i16 =64"),
    (reinterpret_bits, "*fp8e5 *u8 =64"),
    (rounding, "*fp32 *fp32 =64"),
    (pointers, "*fp32 i64 *i64"),
    (booleans, "*i32 *i1 *fp32 =64"),
]
