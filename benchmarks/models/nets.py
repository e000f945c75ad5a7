"""Small models of each common kind in plain PyTorch modules, with random weights."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Made = tuple[nn.Module, tuple[torch.Tensor, ...]]


class Block(nn.Module):
    """A transformer's layer, norms first."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-1, -2) / math.sqrt(width // self.heads)
        if self.causal:
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        mixed = (scores.softmax(-1) @ parts[2]).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh" if self.causal else "none"))


class Language(nn.Module):
    """Embedded tokens through transformer layers to scores of the next token, or of each."""

    def __init__(self, *, causal: bool) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(1000, 128), nn.Parameter(torch.randn(64, 128) * 0.02)
        self.layers = nn.Sequential(*(Block(128, 4, causal=causal) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 1000)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.layers(self.tokens(tokens) + self.places)))


class Residual(nn.Module):
    """Two convolutions with norms beside the way around them."""

    def __init__(self, norm: Callable[[], nn.Module], act: nn.Module) -> None:
        super().__init__()
        conv = [nn.Conv2d(32, 32, 3, padding=1, bias=False) for _ in range(2)]
        self.body = nn.Sequential(conv[0], norm(), act, conv[1], norm())
        self.act = act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(x + self.body(x))


def images(norm: Callable[[], nn.Module], act: nn.Module) -> nn.Module:
    """A small network for images."""
    stem = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2, padding=1, bias=False), norm(), act)
    return nn.Sequential(
        stem, *(Residual(norm, act) for _ in range(3)), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
    )


class Graph(nn.Module):
    """Messages along edges, summed at the nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        for linear in self.messages:
            x = F.relu(x + torch.zeros_like(x).index_add(0, target, linear(x)[source]))
        return x


class Recommender(nn.Module):
    """Embeddings, their products and two small networks."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(500, 16) for _ in range(6))
        self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 16), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(49 + 16, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, dense: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense)
        rows = torch.stack([x, *(table(places[:, n]) for n, table in enumerate(self.tables))], 1)
        return self.top(torch.cat([x, (rows @ rows.transpose(1, 2)).flatten(1)], 1)).sigmoid()


class RootNorm(nn.Module):
    """A norm by the root of the mean square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.weight


class Gated(nn.Module):
    """SwiGLU."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(width, inner), nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """A mixture of four gated networks, all computed, weighted by the best two scores of each token."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, 4)
        self.experts = nn.ModuleList(Gated(width, 2 * width) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.router(x).softmax(-1)
        best, places = scores.topk(2, -1)
        weights = torch.zeros_like(scores).scatter(-1, places, best / best.sum(-1, keepdim=True))
        return sum((expert(x) * weights[..., n : n + 1] for n, expert in enumerate(self.experts)), torch.zeros_like(x))


class Rotated(nn.Module):
    """A layer of Llama: root norms, rotated queries and keys of grouped heads, and a network after them."""

    def __init__(self, width: int, heads: int, network: nn.Module) -> None:
        super().__init__()
        self.size, self.network = width // heads, network
        self.norms = nn.ModuleList(RootNorm(width) for _ in range(2))
        self.queries, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.keys, self.values = (nn.Linear(width, width // 2, bias=False) for _ in range(2))

    def _rotate(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        places = torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
        rates = 10000.0 ** (-torch.arange(self.size // 2, dtype=x.dtype) * 2 / self.size)
        angles = torch.cat((places * rates, places * rates), -1)
        return x * angles.cos() + torch.cat((-b, a), -1) * angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        y = self.norms[0](x)
        q, k, v = (part(y).view(batch, length, -1, self.size) for part in (self.queries, self.keys, self.values))
        q, k = (self._rotate(part.transpose(1, 2)) for part in (q, k))
        k, v = (part.repeat_interleave(2, 1) for part in (k, v.transpose(1, 2)))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        x = x + self.out(mixed.reshape(batch, length, width))
        return x + self.network(self.norms[1](x))


class Rotary(nn.Module):
    """Tokens through layers of Llama to scores."""

    def __init__(self, network: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.tokens = nn.Embedding(1000, 128)
        self.layers = nn.Sequential(*(Rotated(128, 4, network()) for _ in range(2)))
        self.norm, self.head = RootNorm(128), nn.Linear(128, 1000, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.layers(self.tokens(tokens))))


class Patches(nn.Module):
    """A vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.places = nn.Conv2d(3, 128, 8, stride=8), nn.Parameter(torch.randn(50, 128) * 0.02)
        self.first = nn.Parameter(torch.zeros(1, 1, 128))
        self.layers = nn.Sequential(*(Block(128, 4, causal=False) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(len(x), -1, -1), x), 1) + self.places
        return self.head(self.norm(self.layers(x))[:, 0])


class Windows(nn.Module):
    """A layer of Swin: attention in windows of 7 by 7, which may be shifted."""

    def __init__(self, width: int, shift: int) -> None:
        super().__init__()
        self.shift, self.block = shift, Block(width, 4, causal=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, height, width, channels = x.shape
        x = x.roll((-self.shift, -self.shift), (1, 2))
        tiles = x.view(batch, height // 7, 7, width // 7, 7, channels).transpose(2, 3)
        tiles = self.block(tiles.reshape(-1, 49, channels))
        x = tiles.view(batch, height // 7, width // 7, 7, 7, channels).transpose(2, 3).reshape(x.shape)
        return x.roll((self.shift, self.shift), (1, 2))


class Swin(nn.Module):
    """Two layers of windows, patches merged, two more."""

    def __init__(self) -> None:
        super().__init__()
        self.patch, self.merge = nn.Conv2d(3, 32, 2, stride=2), nn.Linear(128, 64)
        self.low = nn.Sequential(Windows(32, 0), Windows(32, 3))
        self.high = nn.Sequential(Windows(64, 0), Windows(64, 3))
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.low(self.patch(x).permute(0, 2, 3, 1))
        x = torch.cat((x[:, ::2, ::2], x[:, 1::2, ::2], x[:, ::2, 1::2], x[:, 1::2, 1::2]), -1)
        return self.head(self.high(self.merge(x)).mean((1, 2)))


class Mixer(nn.Module):
    """A layer of MLP-Mixer."""

    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.across = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.within = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.across(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norms[1](x))


class ChannelNorm(nn.LayerNorm):
    """A norm over the channels of images."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNext(nn.Module):
    """A layer of ConvNeXt."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 7, padding=3, groups=width),
            ChannelNorm(width),
            nn.Conv2d(width, 4 * width, 1),
            nn.GELU(),
            nn.Conv2d(4 * width, width, 1),
        )
        self.scale = nn.Parameter(torch.full((width, 1, 1), 0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.body(x)


class Squeezed(nn.Module):
    """A layer of MobileNetV3 and EfficientNet: wide, one filter a channel, channels weighted, narrow."""

    def __init__(self, width: int, act: Callable[[], nn.Module]) -> None:
        super().__init__()
        wide = 4 * width
        self.widen = nn.Sequential(nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), act())
        each = nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False)
        self.each = nn.Sequential(each, nn.BatchNorm2d(wide), act())
        self.weigh = nn.Sequential(nn.Linear(wide, width), act(), nn.Linear(width, wide), nn.Hardsigmoid())
        self.narrow = nn.Sequential(nn.Conv2d(wide, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.each(self.widen(x))
        return x + self.narrow(y * self.weigh(y.mean((2, 3)))[..., None, None])


class UNet(nn.Module):
    """Down twice and up again, with what was on the way down beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.middle = self._convolve(3, 16), self._convolve(16, 32)
        self.up, self.last = self._convolve(48, 16), nn.Conv2d(16, 1, 1)

    @staticmethod
    def _convolve(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fine = self.down(x)
        coarse = F.interpolate(self.middle(F.max_pool2d(fine, 2)), scale_factor=2.0, mode="bilinear")
        return self.last(self.up(torch.cat((fine, coarse), 1)))


class Diffusion(nn.Module):
    """A layer of a diffusion transformer: norms scaled and shifted by what the time says."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 6 * 128))
        self.block = Block(128, 4, causal=False)
        self.norms = nn.ModuleList(nn.LayerNorm(128, elementwise_affine=False) for _ in range(2))

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        angles = time[:, None] * torch.exp(-math.log(10000.0) * torch.arange(32, dtype=x.dtype) / 32)
        parts = self.time(torch.cat((angles.cos(), angles.sin()), -1))[:, None].chunk(6, -1)
        x = x + parts[2] * self.block(self.norms[0](x) * (1 + parts[1]) + parts[0])
        return x + parts[5] * self.block(self.norms[1](x) * (1 + parts[4]) + parts[3])


class Recurrent(nn.Module):
    """An LSTM of eight steps."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs, self.states = nn.Linear(64, 512), nn.Linear(128, 512)
        self.head = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = x.new_zeros(x.shape[0], 128)
        for row in self.inputs(x).unbind(1):
            i, f, g, o = (row + self.states(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


class StateSpace(nn.Module):
    """A layer of Mamba: a convolution along time, then states of each channel that what is read selects."""

    def __init__(self, width: int, states: int) -> None:
        super().__init__()
        self.enter, self.leave = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.filters = nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.select, self.rates = nn.Linear(width, 2 * states), nn.Linear(width, width)
        self.logs, self.states = nn.Parameter(torch.randn(width, states)), states

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, gate = self.enter(x).chunk(2, -1)
        y = F.silu(self.filters(y.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        rates = F.softplus(self.rates(y))[..., None]
        write, read = self.select(y).chunk(2, -1)
        decay, added = torch.exp(-rates * self.logs.exp()), rates * write[:, :, None] * y[..., None]
        state, rows = torch.zeros_like(added[:, 0]), []
        for n in range(x.shape[1]):
            state = state * decay[:, n] + added[:, n]
            rows.append((state * read[:, n, None]).sum(-1))
        return x + self.leave(torch.stack(rows, 1) * F.silu(gate))


class Waves(nn.Module):
    """WaveNet: gated convolutions along time, wider each."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, 32, 1)
        self.layers = nn.ModuleList(nn.Conv1d(32, 64, 2, dilation=2**n) for n in range(4))
        self.leave = nn.Conv1d(32, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.enter(x)
        for n, layer in enumerate(self.layers):
            a, b = layer(F.pad(x, (2**n, 0))).chunk(2, 1)
            x = x + a.tanh() * b.sigmoid()
        return self.leave(x)


class Speech(nn.Module):
    """An encoder of Whisper: convolutions along time, then a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv1d(40, 128, 3, padding=1), nn.Conv1d(128, 128, 3, stride=2, padding=1)
        self.layers, self.norm = nn.Sequential(*(Block(128, 4, causal=False) for _ in range(2))), nn.LayerNorm(128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.gelu(self.second(F.gelu(self.first(x))))
        return self.norm(self.layers(x.transpose(1, 2)))


class Points(nn.Module):
    """PointNet: every point by itself, the greatest of each channel, a small network."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(nn.Linear(3, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 256))
        self.all = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.all(self.each(x).amax(1)).log_softmax(-1)


class Variational(nn.Module):
    """A variational autoencoder of flat images; the noise is an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(784, 256), nn.ELU(), nn.Linear(256, 64))
        self.decode = nn.Sequential(nn.Linear(32, 256), nn.ELU(), nn.Linear(256, 784))

    def forward(self, x: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        mean, spread = self.encode(x).chunk(2, -1)
        again = self.decode(mean + (spread * 0.5).exp() * noise)
        apart = F.binary_cross_entropy_with_logits(again, x.sigmoid(), reduction="none").sum(-1)
        return apart - 0.5 * (1 + spread - mean.square() - spread.exp()).sum(-1)


class Attending(nn.Module):
    """A graph attention layer: edges weighted by a softmax over those of each target."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.ends = nn.Linear(64, 64, bias=False), nn.Linear(64, 2, bias=False)

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        a, b = self.ends(y).unbind(-1)
        weights = F.leaky_relu(a[source] + b[target], 0.2).clamp(max=20).exp()
        total = torch.zeros_like(a).index_add(0, target, weights)
        mixed = torch.zeros_like(y).index_add(0, target, y[source] * weights[:, None])
        return F.elu(mixed / (total[:, None] + 1e-9))


def _edges() -> tuple[torch.Tensor, ...]:
    return (torch.randn(512, 64), *torch.randint(0, 512, (2, 2048)))


def _image(size: int = 56) -> tuple[torch.Tensor, ...]:
    return (torch.randn(2, 3, size, size),)


def _stem(width: int, *layers: nn.Module) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 4, stride=4), *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10)
    )


def _tokens() -> tuple[torch.Tensor, ...]:
    return (torch.randint(0, 1000, (4, 64)),)


MODELS: dict[str, Callable[[], Made]] = {
    "gpt": lambda: (Language(causal=True), _tokens()),
    "bert": lambda: (Language(causal=False), _tokens()),
    "llama": lambda: (Rotary(lambda: Gated(128, 384)), _tokens()),
    "mixtral": lambda: (Rotary(lambda: Experts(128)), _tokens()),
    "vit": lambda: (Patches(), _image()),
    "swin": lambda: (Swin(), _image()),
    "mixer": lambda: (nn.Sequential(*(Mixer(49, 128) for _ in range(4))), (torch.randn(4, 49, 128),)),
    "diffusion_transformer": lambda: (Diffusion(), (torch.randn(4, 64, 128), torch.rand(4))),
    "whisper_encoder": lambda: (Speech(), (torch.randn(2, 40, 128),)),
    "resnet": lambda: (images(lambda: nn.BatchNorm2d(32), nn.ReLU()), _image()),
    "group_norm_net": lambda: (images(lambda: nn.GroupNorm(8, 32), nn.SiLU()), _image()),
    "convnext": lambda: (_stem(48, *(ConvNext(48) for _ in range(3))), _image()),
    "mobilenet": lambda: (_stem(24, *(Squeezed(24, nn.Hardswish) for _ in range(3))), _image()),
    "efficientnet": lambda: (_stem(24, *(Squeezed(24, nn.SiLU) for _ in range(3))), _image()),
    "unet": lambda: (UNet(), _image(64)),
    "lstm": lambda: (Recurrent(), (torch.randn(32, 8, 64),)),
    "mamba": lambda: (StateSpace(64, 8), (torch.randn(2, 16, 64),)),
    "wavenet": lambda: (Waves(), (torch.randn(2, 1, 1024),)),
    "pointnet": lambda: (Points(), (torch.randn(8, 256, 3),)),
    "autoencoder": lambda: (Variational(), (torch.rand(64, 784), torch.randn(64, 32))),
    "graph": lambda: (Graph(), _edges()),
    "graph_attention": lambda: (Attending(), _edges()),
    "recommender": lambda: (Recommender(), (torch.randn(64, 13), torch.randint(0, 500, (64, 6)))),
}
"""Name to a maker of a model and its arguments."""
