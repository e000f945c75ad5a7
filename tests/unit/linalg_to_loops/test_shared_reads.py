"""Many results of the same many tiles: one loop reads each tile once, as in the input transform of Winograd."""

from __future__ import annotations

import numpy as np

import tilewright as triton
import tilewright.language as tl

BT = np.array([
    [4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
    [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1],
], np.float64)  # fmt: skip
"""B transposed of F(4x4, 3x3), as Lavin and Gray (2015) give it."""


@triton.jit
def transformed(a, b, c, d, e, f):
    near, far = d - b, e - c
    return (
        4 * a - 5 * c + e,
        d - 4 * b + e - 4 * c,
        e - 4 * c - d + 4 * b,
        far + 2 * near,
        far - 2 * near,
        4 * b - 5 * d + f,
    )


@triton.jit
def pixels(src, y, x, H, W, C, c):
    at = src + (y * W + x) * C + c
    fits = (c < C) & (y >= 0) & (y < H)
    return (
        tl.load(at, fits & (x >= 0), other=0.0),
        tl.load(at + C, fits, other=0.0),
        tl.load(at + 2 * C, fits, other=0.0),
        tl.load(at + 3 * C, fits & (x < W - 3), other=0.0),
        tl.load(at + 4 * C, fits & (x < W - 4), other=0.0),
        tl.load(at + 5 * C, fits & (x < W - 5), other=0.0),
    )


@triton.jit
def winograd_input(src, dst, H, W, C, tiles, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    y, x = tile // (W // 4) * 4 - 1, tile % (W // 4) * 4 - 1
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    p0 = pixels(src, y, x, H, W, C, c)
    p1 = pixels(src, y + 1, x, H, W, C, c)
    p2 = pixels(src, y + 2, x, H, W, C, c)
    p3 = pixels(src, y + 3, x, H, W, C, c)
    p4 = pixels(src, y + 4, x, H, W, C, c)
    p5 = pixels(src, y + 5, x, H, W, C, c)
    c0 = transformed(p0[0], p1[0], p2[0], p3[0], p4[0], p5[0])
    c1 = transformed(p0[1], p1[1], p2[1], p3[1], p4[1], p5[1])
    c2 = transformed(p0[2], p1[2], p2[2], p3[2], p4[2], p5[2])
    c3 = transformed(p0[3], p1[3], p2[3], p3[3], p4[3], p5[3])
    c4 = transformed(p0[4], p1[4], p2[4], p3[4], p4[4], p5[4])
    c5 = transformed(p0[5], p1[5], p2[5], p3[5], p4[5], p5[5])
    for i in tl.static_range(6):
        row = transformed(c0[i], c1[i], c2[i], c3[i], c4[i], c5[i])
        for j in tl.static_range(6):
            tl.store(dst + ((6 * i + j) * tiles + tile) * C + c, row[j], mask=c < C)


def test_a_winograd_transform_reads_each_pixel_once() -> None:
    height, width, channels = 8, 12, 20
    x = np.random.default_rng(0).standard_normal((height, width, channels)).astype(np.float32)
    y = np.zeros((36, 6, channels), np.float32)
    kernel = winograd_input[(6, 2)](x, y, height, width, channels, 6, BLOCK=16)
    padded = np.zeros((height + 2, width + 2, channels))
    padded[1:-1, 1:-1] = x
    for tile in range(6):
        row, column = tile // 3 * 4, tile % 3 * 4
        patch = padded[row : row + 6, column : column + 6]
        expected = np.einsum("ij,jkc,lk->ilc", BT, patch, BT).reshape(36, channels)
        np.testing.assert_allclose(y[:, tile], expected, rtol=1e-4, atol=1e-4)
    # Of the three loops, over vectors that all tiles fill, that the rows fill, and the rest, two read under masks; the
    # results are copied to where they are stored, as those places may overlap.
    loops = kernel.asm["loops"]
    assert loops.count("vector.maskedload") <= 2 * 36 + 36
    assert loops.count("arith.mulf") <= 3 * 36 * 4


@triton.jit
def butterflies(re, im, N: tl.constexpr, HALF: tl.constexpr):
    """One step of a Fourier transform, in place (Cooley and Tukey, 1965)."""
    i = tl.arange(0, N // 2)
    k = i % HALF
    top = i // HALF * (2 * HALF) + k
    turn = -3.14159265358979 * k.to(tl.float32) / HALF
    wr, wi = tl.cos(turn), tl.sin(turn)
    ar, ai = tl.load(re + top), tl.load(im + top)
    br, bi = tl.load(re + top + HALF), tl.load(im + top + HALF)
    tr = br * wr - bi * wi
    ti = br * wi + bi * wr
    tl.store(re + top, ar + tr)
    tl.store(im + top, ai + ti)
    tl.store(re + top + HALF, ar - tr)
    tl.store(im + top + HALF, ai - ti)


def test_what_later_loops_read_is_computed_once() -> None:
    """The first products are parts of a difference, which keeps their factors for the loops after the first store."""
    values = np.random.default_rng(0).standard_normal((2, 256)).astype(np.float32)
    re, im = values.copy()
    kernel = butterflies[(1,)](re, im, N=256, HALF=4)
    z = (values[0].astype(np.float64) + 1j * values[1]).reshape(-1, 2, 4)
    turned = z[:, 1] * np.exp(-1j * np.pi * np.arange(4) / 4)
    wanted = np.stack([z[:, 0] + turned, z[:, 0] - turned], 1).reshape(-1)
    np.testing.assert_allclose(re + 1j * im.astype(np.float64), wanted, atol=1e-5)
    loops = kernel.asm["loops"]
    assert (loops.count("math.cos"), loops.count("math.sin"), loops.count("vector.gather")) == (1, 1, 4)
