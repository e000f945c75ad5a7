"""Functions of which PyTorch's compiler makes one kernel or a few, as they occur in models; float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

Case = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Callable[[], Case]] = {}
"""Name to a maker of the function and its arguments."""


def case(*shapes: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """File a function of normally distributed tensors of these shapes."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = lambda: (function, tuple(torch.randn(shape) for shape in shapes))
        return function

    return decorate


def channels_last(*shapes: tuple[int, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As `case`, with channels last in memory."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def make() -> Case:
            tensors = (torch.randn(shape) for shape in shapes)
            return function, tuple(t.to(memory_format=torch.channels_last) if t.ndim == 4 else t for t in tensors)

        CASES[function.__name__] = make
        return function

    return decorate


@case((16,))
def tiny(x):
    return x.sin() + 1


@case((256, 2048))
def softmax(x):
    return x.softmax(-1)


@case((8, 128, 128), (8, 128, 128))
def softmax_backward(y, g):
    return (g - (g * y).sum(-1, keepdim=True)) * y


@case((4, 128, 128))
def masked_softmax(x):
    mask = torch.ones(128, 128, dtype=torch.bool).triu(1)
    return (x * 0.125).masked_fill(mask, float("-inf")).softmax(-1)


@case((256, 768), (768,), (768,))
def layer_norm(x, w, b):
    return F.layer_norm(x, (768,), w, b)


@case((128, 768), (128, 768), (768,), (768,))
def add_layer_norm(x, y, w, b):
    z = x + y
    return z, F.layer_norm(z, (768,), w, b)


@case((128, 512), (128, 512), (512,))
def layer_norm_backward(x, g, w):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    r = (var + 1e-5).rsqrt()
    h, gw = (x - mean) * r, g * w
    dx = r * (gw - gw.mean(-1, keepdim=True) - h * (gw * h).mean(-1, keepdim=True))
    return dx, (g * h).sum(0), g.sum(0)


@case((128, 768), (768,))
def rms_norm(x, w):
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w


@case((2, 64, 32, 32), (64,), (64,))
def group_norm_silu(x, w, b):
    return F.silu(F.group_norm(x, 8, w, b))


@case((4, 64, 28, 28), (64,), (64,))
def batch_norm_training(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


@channels_last((4, 64, 28, 28), (64,), (64,), (64,), (64,), (4, 64, 28, 28))
def batch_norm_relu_add(x, m, v, w, b, y):
    return F.relu(F.batch_norm(x, m, v.abs(), w, b) + y)


@channels_last((2, 96, 28, 28), (96,), (96,))
def layer_norm_channels(x, w, b):
    return F.layer_norm(x.permute(0, 2, 3, 1), (96,), w, b).permute(0, 3, 1, 2)


@case((256, 1024), (1024,))
def bias_gelu(x, b):
    return F.gelu(x + b)


@case((256, 1024), (1024,))
def bias_gelu_tanh(x, b):
    return F.gelu(x + b, approximate="tanh")


@case((128, 1376), (128, 1376))
def swiglu(x, y):
    return F.silu(x) * y


@case((256, 768))
def bias_gradient(g):
    return g.sum(0)


@case((4096, 64))
def bias_gradient_tall(g):
    return g.sum(0)


@case((256, 2000))
def argmax(x):
    return x.argmax(-1)


@case((64, 1000))
def maximum_and_index(x):
    return x.max(-1)


@case((1 << 20,))
def sum_of_all(x):
    return (x * x).sum()


@case((4096, 3, 16))
def sum_of_middle(x):
    return (x.sin() * 2).sum(1)


@case((64, 2000))
def cumulative_sum(x):
    return (x + 1).cumsum(-1)


@case((2, 128, 2000))
def log_softmax_of_a_slice(x):
    return x[:, :-1].log_softmax(-1)


@case((2, 8, 128, 64), (128, 64), (128, 64))
def rotary(q, cos, sin):
    a, b = q.chunk(2, -1)
    return q * cos + torch.cat((-b, a), -1) * sin


@case((2, 28, 28, 96))
def window_partition(x):
    return x.view(2, 4, 7, 4, 7, 96).permute(0, 1, 3, 2, 4, 5).contiguous() + 1


@case((2, 28, 28, 96))
def roll(x):
    return x.roll((-3, -3), (1, 2)) * 2


@case((512, 512))
def transpose(x):
    return x.t().contiguous() + 1


@case((2, 128, 8, 64))
def heads_to_the_front(x):
    return x.transpose(1, 2).contiguous() * 0.5


@case((256, 128, 3, 3))
def weights_to_channels_last(w):
    return (w * 1.0).to(memory_format=torch.channels_last)


@channels_last((4, 512, 7, 7))
def average_channels_last(x):
    return x.mean((2, 3))


@case((4, 512, 7, 7))
def average_of_images(x):
    return x.mean((2, 3))


@case((1, 32, 56, 56))
def max_pool(x):
    return F.max_pool2d(F.relu(x), 3, 2, 1)


@case((1, 32, 28, 28))
def bilinear(x):
    return F.interpolate(x, scale_factor=2.0, mode="bilinear") + 1


@case((1, 32, 28, 28), (1, 32, 56, 56))
def nearest_and_cat(x, y):
    return torch.cat((F.interpolate(x, scale_factor=2.0), y), 1)


@case((128, 1024), (128, 256))
def lstm_cell(gates, c):
    i, f, g, o = gates.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


@case((2, 64, 256), (256, 16), (2, 64, 16), (2, 64, 256))
def mamba_discretise(dt, a, b, x):
    d = F.softplus(dt)[..., None]
    return torch.exp(d * -a.exp()), d * b[:, :, None] * x[..., None]


@case(*[(1 << 17,)] * 4)
def adamw(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v.abs() + 0.001 * g * g
    return p * 0.999 - 1e-3 * m / (v.sqrt() + 1e-8), m, v


@case((1 << 20,), (1 << 20,))
def axpy(x, y):
    return 2 * x + y


@case((1 << 18,))
def tanh(x):
    return x.tanh() * 2


def _indexed(function: Callable[..., Any], *shapes: tuple[int, ...], rows: int, below: int) -> None:
    CASES[function.__name__] = lambda: (
        function,
        (*(torch.randn(shape) for shape in shapes), torch.randint(0, below, (rows,))),
    )


def gather_rows(x, i):
    return x[i] * 2


def index_add(x, y, i):
    return x.index_add(0, i, y)


def embedding_layer_norm(table, w, b, i):
    return F.layer_norm(F.embedding(i, table), (256,), w, b)


def cross_entropy(x, i):
    return F.cross_entropy(x, i)


_indexed(gather_rows, (256, 256), rows=512, below=256)
_indexed(index_add, (256, 256), (512, 256), rows=512, below=256)
_indexed(embedding_layer_norm, (1000, 256), (256,), (256,), rows=256, below=1000)
_indexed(cross_entropy, (128, 2000), rows=128, below=2000)
