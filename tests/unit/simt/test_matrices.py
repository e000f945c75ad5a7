"""Matrix instructions against NumPy's products, with fragments as the layouts of the compiler place them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ptx_kernels import run

from suite.arrays import Array
from tilewright.layouts.shared import NvmmaSharedLayout
from tilewright.reference.simt import RaceError, UnknownInstruction

random = np.random.default_rng(5)
DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


def matrix(rows: int, columns: int, type_: str) -> Array:
    """Small numbers that every type has exactly."""
    low = 0 if type_ == "u8" else -4
    return random.integers(low, 5, (rows, columns)).astype(DTYPES[type_])


def packed(values: list[Any], dtype: Any, word: Any) -> list[Any]:
    return list(np.array(values, dtype).view(word))


def fragments_of(tile: Array, which: str) -> Array:
    """The registers of 32 lanes that hold a tile of A (16 rows), B (8 columns) or C: (lane, register).

    Written out lane by lane from the tables of the PTX manual: groups of four lanes share a row of A and C, and a
    column of B.
    """
    bits = 8 * tile.dtype.itemsize
    word = np.uint64 if bits == 64 else np.uint32
    per = max(1, 32 // bits)
    lanes: list[list[Any]] = []
    for lane in range(32):
        group, member = divmod(lane, 4)
        values: list[Any] = []
        if which == "c":
            for row in range(0, tile.shape[0], 8):
                values += [tile[row + group, 2 * member], tile[row + group, 2 * member + 1]]
        elif which == "a":
            for k in range(0, tile.shape[1], 4 * per):
                for row in range(0, tile.shape[0], 8):
                    values += [tile[row + group, k + per * member + j] for j in range(per)]
        else:
            for k in range(0, tile.shape[0], 4 * per):
                values += [tile[k + per * member + j, group] for j in range(per)]
        lanes.append(packed(values, tile.dtype, word))
    return np.array(lanes, word)


def load_registers(kind: str, first: int, count: int, pointer: str) -> str:
    size = 8 if kind == "d" else 4
    lines = [f"mad.wide.u32 %d1, %r150, {count * size}, {pointer};"]
    lines += [f"ld.global.b{8 * size} %{kind}{first + n}, [%d1+{n * size}];" for n in range(count)]
    return "\n".join(lines) + "\n"


def names(kind: str, first: int, count: int) -> str:
    return "{" + ", ".join(f"%{kind}{first + n}" for n in range(count)) + "}"


SHAPES = [
    ("m16n8k16", "f32", "f16", "f16"),
    ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k8", "f32", "f16", "f16"),
    ("m16n8k16", "f32", "bf16", "bf16"),
    ("m16n8k8", "f32", "bf16", "bf16"),
    ("m16n8k8", "f32", "tf32", "tf32"),
    ("m16n8k4", "f32", "tf32", "tf32"),
    ("m8n8k4", "f64", "f64", "f64"),
    ("m16n8k8", "f64", "f64", "f64"),
    ("m16n8k32", "s32", "s8", "s8"),
    ("m16n8k16", "s32", "s8", "u8"),
    ("m16n8k32", "s32", "u8", "s8"),
    ("m16n8k32", "f32", "e4m3", "e4m3"),
    ("m16n8k32", "f32", "e5m2", "e4m3"),
]


@pytest.mark.parametrize(("shape", "of_c", "of_a", "of_b"), SHAPES)
def test_products_of_a_warp(shape: str, of_c: str, of_a: str, of_b: str) -> None:
    m, k = int(shape[1 : shape.index("n")]), int(shape.partition("k")[2])
    a, b, c = matrix(m, k, of_a), matrix(k, 8, of_b), matrix(m, 8, of_c)
    fragments = [fragments_of(a, "a"), fragments_of(b, "b"), fragments_of(c, "c")]
    kinds = ["d" if f.dtype == np.uint64 else "r" for f in fragments]
    out = np.zeros_like(fragments[2])
    body = "mov.u32 %r150, %laneid;\n"
    firsts = (4, 10, 12) if kinds[0] == "d" else (10, 20, 30)
    for number, (kind, first, values) in enumerate(zip(kinds, firsts, fragments, strict=True)):
        body += load_registers(kind, first, values.shape[1], f"%d{17 + number}")
    operands = [names(kind, first, f.shape[1]) for kind, first, f in zip(kinds, firsts, fragments, strict=True)]
    body += f"mma.sync.aligned.{shape}.row.col.{of_c}.{of_a}.{of_b}.{of_c} {operands[2]}, {', '.join(operands)};\n"
    size = fragments[2].itemsize
    body += f"mad.wide.u32 %d1, %r150, {out.shape[1] * size}, %d16;\n"
    for n in range(out.shape[1]):
        body += f"st.global.b{8 * size} [%d1+{n * size}], %{kinds[2]}{firsts[2] + n};\n"
    run(body, out, *fragments)
    wide = np.int64 if of_c == "s32" else np.float64
    product = (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(c.dtype)
    np.testing.assert_array_equal(out, fragments_of(product, "c"))


def test_products_saturate() -> None:
    big = "mov.b32 %r1, 0x7F7F7F7F; mov.b32 %r2, 2147483600;"
    registers = "{%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r2,%r2,%r2,%r2}"
    out = np.zeros(1, np.int32)
    for modifier, expected in (("satfinite.", 2147483647), ("", (2147483600 + 127 * 127 * 32) - (1 << 32))):
        body = f"{big} mma.sync.aligned.m16n8k32.row.col.{modifier}s32.s8.s8.s32 {{%r3,%r4,%r5,%r6}}, {registers};"
        run(body + "st.global.b32 [%d16], %r5;", out)
        assert out[0] == expected


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_matrices_to_and_from_shared_memory(count: int, transposed: bool) -> None:
    """`ldmatrix` gives lane 4 r + t elements 2 t and 2 t + 1 of row r; `stmatrix` is its inverse."""
    tiles = random.integers(0, 1 << 16, (count, 8, 8)).astype(np.uint16)
    out, back = np.zeros((32, count), np.uint32), np.zeros_like(tiles)
    suffix = f"x{count}{'.trans' if transposed else ''}"
    body = (
        f"""
    mov.u32 %r150, %laneid; shl.b32 %r1, %r150, 4; mul.wide.u32 %d1, %r1, 1; add.u64 %d2, %d1, %d16;
    setp.lt.u32 %p1, %r150, {8 * count};
    @%p1 ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%d2];
    @%p1 st.shared.v4.b32 [%r1], {{%r2, %r3, %r4, %r5}}; bar.warp.sync -1;
    ldmatrix.sync.aligned.m8n8.{suffix}.shared.b16 {names("r", 10, count)}, [%r1];
    mad.wide.u32 %d3, %r150, {4 * count}, %d17;
    """
        + "".join(f"st.global.b32 [%d3+{4 * n}], %r{10 + n};\n" for n in range(count))
        + f"""
    bar.sync 0;
    stmatrix.sync.aligned.m8n8.{suffix}.shared.b16 [%r1+512], {names("r", 10, count)}; bar.warp.sync -1;
    add.u64 %d4, %d1, %d18;
    @%p1 ld.shared.v4.b32 {{%r2, %r3, %r4, %r5}}, [%r1+512]; @%p1 st.global.v4.b32 [%d4], {{%r2, %r3, %r4, %r5}};"""
    )
    run(body, tiles, out, back, shared=2048)
    shown = tiles.swapaxes(1, 2) if transposed else tiles
    expected = [
        [
            int(shown[n, lane // 4, 2 * (lane % 4)]) | int(shown[n, lane // 4, 2 * (lane % 4) + 1]) << 16
            for n in range(count)
        ]
        for lane in range(32)
    ]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(back, tiles)


SWIZZLES = {128: (1 << 62, 64), 64: (2 << 62, 32), 32: (3 << 62, 16)}


def in_shared_memory(values: Array, layout: NvmmaSharedLayout) -> Array:
    """The bytes of a buffer that holds a tensor."""
    offsets = layout.offsets(values.shape)
    flat = np.zeros(layout.num_elements(values.shape), values.dtype)
    flat[offsets] = values
    return flat.view(np.uint8)


def descriptor(start: int, swizzle: int, leading: int, stride: int) -> int:
    field = {128: 1, 64: 2, 32: 3, 0: 0}[swizzle]
    return start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | field << 62


COPY_IN = """
    mov.u32 %r150, %tid.x;
    mov.u32 %r151, %r150;
    COPY: mul.wide.u32 %d1, %r151, 16; add.u64 %d2, %d1, %d16; ld.global.v4.b32 {%r100, %r101, %r102, %r103}, [%d2];
    shl.b32 %r104, %r151, 4; st.shared.v4.b32 [%r104], {%r100, %r101, %r102, %r103};
    add.u32 %r151, %r151, 128; setp.lt.u32 %p1, %r151, COUNT; @%p1 bra COPY;
    FENCE bar.sync 0;
"""


def group_product(
    a: Array, b: Array, desc_a: str, desc_b: int, types: str, flags: str, data: Array, *, fence: str = ""
) -> Array:
    """Twice ``a @ b`` of one warp group; `desc_a` is a descriptor, or registers."""
    n, k = b.shape[1], a.shape[1]
    out = np.zeros((128, n // 2), np.float32)
    registers = names("r", 0, n // 2)
    body = COPY_IN.replace("COUNT", str(data.size // 16)).replace("FENCE", fence or "fence.proxy.async.shared::cta;")
    body += "".join(f"mov.b32 %r{i}, 0f3F800000;\n" for i in range(n // 2))
    body += (
        f"mov.b64 %d5, {desc_b}; setp.eq.u32 %p2, 0, 0; setp.eq.u32 %p3, 0, 1; {desc_a}\nwgmma.fence.sync.aligned;\n"
    )
    source = "{%r90, %r91, %r92, %r93}" if "%r90" in desc_a else "%d6"
    for use in ("%p3", "%p2"):
        body += (
            f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.f32.{types} {registers}, {source}, %d5, {use}, 1, 1{flags};\n"
        )
    body += "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    body += f"mad.wide.u32 %d1, %r150, {2 * n}, %d17;\n"
    body += "".join(f"st.global.b32 [%d1+{4 * i}], %r{i};\n" for i in range(n // 2))
    run(body, data, out, threads=128, shared=data.size)
    return out


def expected_registers(product: Array) -> Array:
    """Register 4 j + 2 h + i of lane 4 g + t of warp w: row 16 w + 8 h + g, column 8 j + 2 t + i."""
    rows: list[list[Any]] = []
    for thread in range(128):
        warp, lane = divmod(thread, 32)
        row, column = 16 * warp + lane // 4, 2 * (lane % 4)
        rows.append(
            [
                product[row + 8 * h, 8 * j + column + i]
                for j in range(product.shape[1] // 8)
                for h in (0, 1)
                for i in (0, 1)
            ]
        )
    return np.array(rows, np.float32)


@pytest.mark.parametrize("swizzle", [128, 64, 32])
@pytest.mark.parametrize("type_", ["f16", "bf16", "tf32", "e4m3"])
def test_products_of_a_warp_group(type_: str, swizzle: int) -> None:
    """Both operands with K contiguous, as the compiler's shared layouts place them."""
    dtype = np.dtype(DTYPES[type_])
    k, n = 32 // dtype.itemsize, 32
    width = swizzle // dtype.itemsize
    a, b = matrix(64, width, type_), matrix(n, width, type_)
    layout = NvmmaSharedLayout(swizzle, False, 8 * dtype.itemsize)
    data = np.concatenate([in_shared_memory(a, layout), in_shared_memory(b, layout)])
    for step in range(width // k):
        part = slice(step * k, (step + 1) * k)
        desc_a = f"mov.b64 %d6, {descriptor(32 * step, swizzle, 0, 8 * swizzle)};"
        desc_b = descriptor(64 * swizzle + 32 * step, swizzle, 0, 8 * swizzle)
        flags = ", 0, 0" if type_ in ("f16", "bf16") else ""
        found = group_product(a[:, part], b[:, part].T, desc_a, desc_b, f"{type_}.{type_}", flags, data)
        product = a[:, part].astype(np.float32) @ b[:, part].astype(np.float32).T
        np.testing.assert_array_equal(found, expected_registers(2 * product))


@pytest.mark.parametrize("swizzle", [128, 64, 32])
def test_operands_with_m_and_n_contiguous(swizzle: int) -> None:
    """Two blocks of columns: the leading offset goes from one to the next."""
    width = swizzle // 2
    b = matrix(16, 2 * width, "f16")
    data = in_shared_memory(b, NvmmaSharedLayout(swizzle, False, 16))
    desc_b = descriptor(0, swizzle, 16 * swizzle, 8 * swizzle)
    a = matrix(64, 16, "f16")
    offset = data.size
    data = np.concatenate([data, in_shared_memory(a, NvmmaSharedLayout(32, False, 16))])
    start = -(-offset // 256) * 256
    assert start == offset
    desc_a = f"mov.b64 %d6, {descriptor(start, 32, 0, 256)};"
    found = group_product(a, b, desc_a, desc_b, "f16.f16", ", 0, 1", data)
    np.testing.assert_array_equal(found, expected_registers(2 * a.astype(np.float32) @ b.astype(np.float32)))


def test_a_in_registers() -> None:
    a, b = matrix(64, 16, "f16"), matrix(32, 16, "f16")
    data = in_shared_memory(b, NvmmaSharedLayout(32, False, 16))
    fragments = np.concatenate([fragments_of(a[16 * warp : 16 * warp + 16], "a") for warp in range(4)])
    start = data.size
    data = np.concatenate([data, fragments.reshape(-1).view(np.uint8)])
    load = f"shl.b32 %r105, %r150, 4; ld.shared.v4.b32 {{%r90, %r91, %r92, %r93}}, [%r105+{start}];"
    found = group_product(a, b.T, load, descriptor(0, 32, 0, 256), "f16.f16", ", 0", data)
    np.testing.assert_array_equal(found, expected_registers(2 * a.astype(np.float32) @ b.astype(np.float32).T))


def test_a_missing_fence_is_noticed() -> None:
    a = matrix(64, 16, "f16")
    data = in_shared_memory(a, NvmmaSharedLayout(32, False, 16))
    desc = descriptor(0, 32, 0, 256)
    with pytest.raises(RaceError, match=r"reads what threads wrote, with no fence\.proxy\.async in between"):
        group_product(a, a[:32].T, f"mov.b64 %d6, {desc};", desc, "f16.f16", ", 0, 0", data, fence="bar.sync 0;")


@pytest.mark.parametrize(("wait", "is_wrong"), [("wgmma.wait_group.sync.aligned 0;", False), ("", True)])
def test_operands_are_held_until_the_product_is_waited_for(wait: str, is_wrong: bool) -> None:
    data = in_shared_memory(matrix(64, 16, "f16"), NvmmaSharedLayout(32, False, 16))
    desc = descriptor(0, 32, 0, 256)
    body = COPY_IN.replace("COUNT", str(data.size // 16)).replace("FENCE", "fence.proxy.async;")
    body += f"""mov.b64 %d5, {desc}; setp.eq.u32 %p2, 0, 0; wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%r0, %r1, %r2, %r3}}, %d5, %d5, %p2, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned; {wait} bar.sync 0; shl.b32 %r105, %r150, 2; st.shared.b32 [%r105], 0;"""
    if not is_wrong:
        run(body, data, threads=128, shared=data.size)
        return
    with pytest.raises(RaceError, match="written while an asynchronous unit still reads it"):
        run(body, data, threads=128, shared=data.size)


def test_sparse_products_are_not_known() -> None:
    with pytest.raises(UnknownInstruction, match=r"mma\.sp"):
        run("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r1, 0;")
