"""Tensor maps that a kernel makes: in shared memory, field by field, and then copied to global memory."""

from __future__ import annotations

from functools import reduce

from tilewright.dialects import tt, ttng
from tilewright.lowering.ttg_to_llvm.debug_ops import fail_unless
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers

SHARED_SPACE = 3
MAP_ALIGNMENT = 16
"""Bytes that the base and the strides of a tensor map must be multiples of."""


@lowers(ttng.TensormapCreateOp)
def lower_tensormap_create(op: ttng.TensormapCreateOp, fn: GpuFunctionLowering) -> None:
    """The map is made in shared memory by one thread, copied to global memory by its warp."""
    text, emitter = fn.text, fn.emitter
    address = text.cast("ptrtoint", "ptr addrspace(1)", fn.scalar(op.global_address), "i64")
    _check_alignment(op, fn, address)
    scratch = fn.shared_pointer(op)
    first_warp = text.icmp("ult", "i32", fn.threads.id, 32)
    word = text.binary("shl", "i32", fn.threads.lane, 2)
    emitter.store_words(
        text,
        text.address("i8", scratch, word, index_type="i32", space=SHARED_SPACE),
        ["0"],
        32,
        space=SHARED_SPACE,
        predicate=first_warp,
    )
    emitter.warp_barrier(text)
    one = fn.threads.first()
    emitter.replace_field(text, scratch, "global_address", address, "i64", one)
    emitter.replace_field(text, scratch, "rank", str(len(op.box_dim) - 1), "", one)
    fields = (
        ("box_dim", op.box_dim, "i32"),
        ("global_dim", op.global_dim, "i32"),
        ("global_stride", op.global_stride, "i64"),
        ("element_stride", op.element_stride, "i32"),
    )
    for name, values, type in fields:
        for ordinal, value in enumerate(values):
            emitter.replace_field(text, scratch, name, fn.scalar(value), type, one, ordinal)
    enums = (
        ("elemtype", op.elem_type),
        ("interleave_layout", op.interleave_layout),
        ("swizzle_mode", op.swizzle_mode),
        ("fill_mode", op.fill_mode),
    )
    for name, value in enums:
        emitter.replace_field(text, scratch, name, str(value.value.data), "", one)
    emitter.warp_barrier(text)
    emitter.publish_map(text, fn.scalar(op.desc_ptr), scratch, first_warp)


def _check_alignment(op: ttng.TensormapCreateOp, fn: GpuFunctionLowering, address: str) -> None:
    """The copy engine would read and write other elements, or fault, where the base or a stride is not a multiple of 16
    bytes: what is not known to be one is tested.
    """
    text, info = fn.text, fn.module.axis_info
    parts = [(op.global_address, address), *((stride, fn.scalar(stride)) for stride in op.global_stride)]
    unproven = [operand for value, operand in parts if info.of(value).divisibility_at(0, 1) % MAP_ALIGNMENT]
    if not unproven:
        return
    union = reduce(lambda a, b: text.binary("or", "i64", a, b), unproven)
    rest = text.binary("and", "i64", union, MAP_ALIGNMENT - 1)
    message = "a tensor descriptor needs a base and strides that are multiples of 16 bytes"
    fail_unless(op, fn, text.icmp("eq", "i64", rest, 0), message)


@lowers(ttng.TensormapFenceproxyAcquireOp)
def lower_fenceproxy_acquire(op: ttng.TensormapFenceproxyAcquireOp, fn: GpuFunctionLowering) -> None:
    fn.barrier()
    fn.emitter.acquire_map(fn.text, fn.scalar(op.desc_ptr))


@lowers(ttng.ReinterpretTensorDescOp)
def lower_reinterpret_descriptor(op: ttng.ReinterpretTensorDescOp, fn: GpuFunctionLowering) -> None:
    assert isinstance(op.raw_desc.type, tt.PointerType)
    fn.set(op.result, fn.text.cast("addrspacecast", "ptr addrspace(1)", fn.scalar(op.raw_desc), "ptr"))
