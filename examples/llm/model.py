"""A model of Llama's shape with random quantised weights, and its decode loop: `tilewright run examples/llm/model.py`.

Kinds of matrices are those of llama.cpp's mixture Q4_K_M: Q6_K for the embedding, which is the output's matrix as well,
and in half of the layers for values and the last matrix of the MLP; Q4_K for all others.
"""
# pyright: basic, reportArgumentType=false, reportCallIssue=false

from dataclasses import dataclass

import numpy as np
import triton
from blocks import ROWS, dequantised, random_blocks, side_by_side

from kernels import (
    attend,
    gated,
    merged,
    normalised,
    q4k_times_vector,
    q6k_row,
    q6k_times_vector,
    q8_0_times_vector,
    rotate_and_cache,
    sample,
)

PRODUCTS = {"q4_k": q4k_times_vector, "q6_k": q6k_times_vector, "q8_0": q8_0_times_vector}
PAGE = 64
SPLITS = 2
GROUPS = 64 // ROWS
"""Groups of rows side by side that one program multiplies."""


@dataclass(frozen=True)
class Shape:
    """Extents of a model; widths are multiples of 256, heads of 64 rows."""

    width: int = 2048
    hidden: int = 8192
    layers: int = 16
    heads: int = 32
    kv_heads: int = 8
    head: int = 64
    vocabulary: int = 128256
    context: int = 512
    base: float = 500000.0
    eps: float = 1e-5

    def matrices(self, layer):
        """Name, kind, rows and columns of the matrices of a layer."""
        first, last = self.layers // 8, 7 * self.layers // 8
        more = "q6_k" if layer < first or layer >= last or (layer - first) % 3 == 2 else "q4_k"
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        yield from (("attn_q", "q4_k", queries, self.width), ("attn_k", "q4_k", keys, self.width))
        yield from (("attn_v", more, keys, self.width), ("attn_output", "q4_k", self.width, queries))
        yield from (("ffn_gate", "q4_k", self.hidden, self.width), ("ffn_up", "q4_k", self.hidden, self.width))
        yield "ffn_down", more, self.width, self.hidden


class Matrix:
    """A quantised matrix, as its kernel reads it."""

    def __init__(self, kind, blocks):
        self.kind, self.rows, self.cols = kind, len(blocks), blocks.shape[1] * (32 if kind == "q8_0" else 256)
        self.bytes, self.halves = side_by_side(kind, blocks)

    def times(self, x, out, *, add=False):
        """out = W x, or out += W x, of a quantised vector."""
        grid = (self.rows // 64,)
        PRODUCTS[self.kind][grid](self.bytes, self.halves, *x, out, K=self.cols, GROUPS=GROUPS, ADD=add, ROWS=ROWS)


def quantised_vector(size):
    """Room for int8, scales of 256 elements, sums of 16 and of 32."""
    return np.empty(size, np.int8), *(np.empty(size // count, np.float32) for count in (256, 16, 32))


class Model:
    """Weights, cache, and the buffers of one step. `keep` holds what the weights mean, to test against."""

    def __init__(self, shape, seed=0, *, keep=False, on_blocks=None):
        self.shape, rng = shape, np.random.default_rng(seed)
        self.exact = {}

        def matrix(name, kind, rows, cols):
            blocks = random_blocks(kind, rows, cols, rng)
            if on_blocks is not None:
                on_blocks(f"{name}.weight", kind, blocks)
            if keep:
                self.exact[name] = dequantised(kind, blocks)
            return Matrix(kind, blocks)

        self.embedding = matrix("token_embd", "q6_k", shape.vocabulary, shape.width)
        self.layers = []
        for layer in range(shape.layers):
            named = {
                name: matrix(f"blk.{layer}.{name}", kind, rows, cols)
                for name, kind, rows, cols in shape.matrices(layer)
            }
            self.layers.append(named)
        self.ones = np.ones(shape.width, np.float32)  # weights of the norms
        pages = triton.cdiv(shape.context, PAGE)
        self.pages = rng.permutation(pages).astype(np.int32)
        self.cache = np.zeros((shape.layers, pages, 2, shape.kv_heads, PAGE, shape.head), np.float16)
        queries, keys = shape.heads * shape.head, shape.kv_heads * shape.head
        self.x, self.logits = np.empty(shape.width, np.float32), np.empty(shape.vocabulary, np.float32)
        self.q, self.k, self.v = np.empty(queries, np.float32), np.empty(keys, np.float32), np.empty(keys, np.float32)
        self.gate, self.up = np.empty((2, shape.hidden), np.float32)
        self.parts = np.empty((shape.heads, SPLITS, shape.head), np.float32)
        self.stats = np.empty((2, shape.heads, SPLITS), np.float32)
        self.narrow, self.mixed, self.wide = map(quantised_vector, (shape.width, queries, shape.hidden))
        self.kept, self.token = np.empty(64, np.int32), np.zeros(1, np.int32)

    def bytes(self):
        """Bytes of weights that a step reads."""
        return self.embedding.bytes.nbytes + sum(m.bytes.nbytes for layer in self.layers for m in layer.values())

    def step(self, position):
        """The logits after `token`, which is at `position`."""
        s, e = self.shape, self.embedding
        heads = {"KV": s.kv_heads, "GROUP": s.heads // s.kv_heads, "HEAD": s.head, "PAGE": PAGE}
        q6k_row[(s.width // 256,)](e.bytes, e.halves, self.token, self.x, K=s.width, ROWS=ROWS)
        for layer, cache in zip(self.layers, self.cache, strict=True):
            self._normalise()
            for name, out in (("attn_q", self.q), ("attn_k", self.k), ("attn_v", self.v)):
                layer[name].times(self.narrow, out)
            rotate_and_cache[(s.kv_heads,)](
                self.q, self.k, self.v, cache, self.pages, position, float(np.log2(s.base)), **heads
            )
            attend[(s.kv_heads, SPLITS)](
                self.q, cache, self.pages, self.parts, self.stats, position + 1, s.head**-0.5, **heads, SPLITS=SPLITS
            )
            merged[(len(self.q) // 256,)](
                self.parts, self.stats, *self.mixed, HEADS=s.heads, HEAD=s.head, SPLITS=SPLITS
            )
            layer["attn_output"].times(self.mixed, self.x, add=True)
            self._normalise()
            layer["ffn_gate"].times(self.narrow, self.gate)
            layer["ffn_up"].times(self.narrow, self.up)
            gated[(s.hidden // 256,)](self.gate, self.up, *self.wide)
            layer["ffn_down"].times(self.wide, self.x, add=True)
        self._normalise()
        e.times(self.narrow, self.logits)
        return self.logits

    def _normalise(self):
        s = self.shape
        normalised[(s.width // 256,)](self.x, self.ones, *self.narrow, s.eps, K=s.width)

    def choose(self, position, *, k=40, p=0.95, temperature=0.8, seed=0):
        """Sample the next token from the logits."""
        size = len(self.logits)
        sample[(1,)](self.logits, self.kept, self.token, size, k, p, temperature, seed, position, KEPT=64, BLOCK=1024)
        return int(self.token[0])

    def decode(self, tokens, count, **sampling):
        """Go on from `tokens` by `count` sampled ones."""
        made = []
        for position in range(len(tokens) + count - 1):
            if position < len(tokens):
                self.token[0] = tokens[position]
            self.step(position)
            if position >= len(tokens) - 1:
                made.append(self.choose(position, **sampling))
        return made


def rounded(x):
    """Vectors as int8 with a scale for 256 elements can say them."""
    blocks = x.reshape(len(x), -1, 256)
    scale = np.abs(blocks).max(-1, keepdims=True) / 127
    return (np.floor(blocks / scale + 0.5) * scale).reshape(x.shape)


def exact_logits(model, tokens, *, rounded=rounded, cached=np.float16):
    """The logits after the last of `tokens`, in float64 by NumPy, of a model that keeps what its weights mean. As in
    the kernels, what matrices are multiplied by is `rounded` to int8, and keys and values are `cached` as float16."""
    s, w = model.shape, {name: value.astype(np.float64) for name, value in model.exact.items()}
    x = w["token_embd"][tokens]
    angle = np.arange(len(tokens))[:, None] * s.base ** (-np.arange(0, s.head, 2) / s.head)
    turn = np.exp(1j * angle)[:, None]

    def norm(x):
        return rounded(x / np.sqrt((x**2).mean(-1, keepdims=True) + s.eps))

    def turned(x):
        pairs = np.ascontiguousarray(x).view(np.complex128) * turn
        return pairs.view(np.float64)

    for layer in range(s.layers):
        m = {name: w[f"blk.{layer}.{name}"] for name in model.layers[layer]}
        h = norm(x)
        q = turned((h @ m["attn_q"].T).reshape(len(x), s.heads, s.head))
        k = turned((h @ m["attn_k"].T).reshape(len(x), s.kv_heads, s.head))
        v = (h @ m["attn_v"].T).reshape(len(x), s.kv_heads, s.head)
        k, v = (cached(part).repeat(s.heads // s.kv_heads, 1).astype(np.float64) for part in (k, v))
        scores = np.einsum("ihd,jhd->hij", q, k) * s.head**-0.5
        scores = np.where(np.tri(len(x), dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v).reshape(len(x), -1)
        x = x + rounded(mixed) @ m["attn_output"].T
        h = norm(x)
        gate = h @ m["ffn_gate"].T
        x = x + rounded(gate / (1 + np.exp(-gate)) * (h @ m["ffn_up"].T)) @ m["ffn_down"].T
    return norm(x[-1:])[0] @ w["token_embd"].T


SMALL = Shape(width=256, hidden=512, layers=3, heads=4, kv_heads=2, head=64, vocabulary=512, context=64)

if __name__ == "__main__":  # tilewright run examples/llm/model.py
    import sys
    import time

    small = Model(SMALL, keep=True)
    prompt = [3, 141, 59, 26, 5, 358, 97, 93, 238, 46, 264, 338, 327, 95, 0, 288, 419, 71, 69, 399]
    for position, token in enumerate(prompt):
        small.token[0] = token
        logits = small.step(position).copy()
    exact = exact_logits(small, prompt)
    error = np.abs(logits - exact).max() / np.abs(exact).max()
    print(f"logits of a small model after {len(prompt)} tokens: {error:.1e} of the largest from float64")
    if "full" in sys.argv:
        model = Model(Shape())
        model.decode([1], 4)
        start, count = time.perf_counter(), 32
        model.decode([1], count)
        seconds = (time.perf_counter() - start) / count
        print(f"{1 / seconds:.1f} tokens/s, {model.bytes() / seconds / 1e9:.1f} GB/s of {model.bytes() / 1e9:.2f} GB")
