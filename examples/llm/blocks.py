"""GGUF's blocks of quantised wgroupss on the host: random ones, what they mean, rows side by side for kernels."""
# pyright: basic

from pathlib import Path

import numpy as np

BYTES = {"q4_k": 144, "q6_k": 210, "q8_0": 34}
ELEMENTS = {"q4_k": 256, "q6_k": 256, "q8_0": 32}
LINE = 64


def lanes():
    """Rows side by side that fill a vector of words on this processor."""
    known = Path("/proc/cpuinfo")
    return 16 if known.exists() and "avx512bw" in known.read_text() else 8


ROWS = lanes()


def random_blocks(kind, rows, cols, rng):
    """A matrix as GGUF stores it, uint8 [rows, blocks, bytes], of numbers around 0 with a deviation of cols**-0.5."""
    blocks = rng.integers(0, 256, (rows, cols // ELEMENTS[kind], BYTES[kind]), dtype=np.uint8)
    step = cols**-0.5
    if kind == "q4_k":  # d s (q - 7.5), as the minima have the bits of the scales
        blocks[..., 4:8] |= 0x20
        blocks[..., 8:12] = blocks[..., 4:8]
        blocks[..., 12:16] = (blocks[..., 12:16] & 15) * 17
        _set_half(blocks, 0, step / 4.6 / 40)
        _set_half(blocks, 2, 7.5 * step / 4.6 / 40)
    elif kind == "q6_k":
        _set_half(blocks, 208, step / 18.5 / 74)
    else:
        _set_half(blocks, 0, step / 74)
    return blocks


def _set_half(blocks, at, value):
    blocks[..., at : at + 2] = np.array([value], np.float16).view(np.uint8)


def dequantised(kind, blocks):
    """The numbers of a matrix, float32 [rows, cols]."""
    rows = len(blocks)
    half = lambda at: np.ascontiguousarray(blocks[..., at : at + 2]).view(np.float16).astype(np.float32)  # noqa: E731
    if kind == "q8_0":
        return (blocks[..., 2:].view(np.int8) * half(0)).reshape(rows, -1)
    if kind == "q4_k":
        s, m, both = (blocks[..., at : at + 4].astype(np.int32) for at in (4, 8, 12))
        scale = np.concatenate([s & 63, (both & 15) | (s >> 6 << 4)], -1)
        least = np.concatenate([m & 63, (both >> 4) | (m >> 6 << 4)], -1)
        q = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 1, 32) >> np.array([0, 4], np.uint8)[:, None] & 15
        q = q.reshape(*blocks.shape[:2], 8, 32)
        return (half(0)[..., None] * scale[..., None] * q - half(2)[..., None] * least[..., None]).reshape(rows, -1)
    low = blocks[..., :128].reshape(*blocks.shape[:2], 2, 1, 2, 32) >> np.array([0, 4], np.uint8)[:, None, None] & 15
    high = blocks[..., 128:192].reshape(*blocks.shape[:2], 2, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None] & 3
    q = (low.reshape(*blocks.shape[:2], 16, 16) | high.reshape(*blocks.shape[:2], 16, 16) << 4).astype(np.float32) - 32
    return (q * blocks[..., 192:208].view(np.int8)[..., None] * half(208)[..., None]).reshape(rows, -1)


def side_by_side(kind, blocks, side=ROWS):
    """The bytes of a matrix with `side` rows side by side, as the kernels read them: uint8, and the same as float16."""
    rows, count, _ = blocks.shape
    groups = blocks.reshape(rows // side, side, count, -1).swapaxes(1, 2)  # [groups, blocks, rows, bytes]

    def rows_last(first, last, unit):
        part = groups[..., first:last].reshape(*groups.shape[:3], -1, unit)
        return part.swapaxes(2, 3).reshape(*groups.shape[:2], -1)

    if kind == "q4_k":
        # Scales of pairs of sub-blocks: first those of low nibbles, then those of high ones.
        order = [4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15]
        scales = groups[..., order].swapaxes(2, 3).reshape(*groups.shape[:2], -1)
        parts = [rows_last(0, 4, 2), scales, rows_last(16, 144, 4)]
    elif kind == "q6_k":
        parts = [rows_last(208, 210, 2), rows_last(192, 208, 1), rows_last(0, 128, 4), rows_last(128, 192, 4)]
    else:
        parts = [rows_last(0, 2, 2), rows_last(2, 34, 4)]
    # NumPy's memory begins 16 bytes after a line of the caches: each second vector would lie in two of them.
    size = sum(part.size for part in parts)
    room = np.empty(size + LINE, np.uint8)
    packed = room[-room.ctypes.data % LINE :][:size]
    np.concatenate(parts, -1, out=packed.reshape(*groups.shape[:2], -1))
    return packed, packed.view(np.float16)
