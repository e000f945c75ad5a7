"""What libraries do around kernels: aggregates, constexpr functions, stacked decorators, repr, warmup, kernel cache walks, libdevice, noinline, do_bench, JITFunction introspection, async compile."""

import functools
import inspect
import os

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

try:
    from triton.language.extra.libdevice import fast_dividef as divide
except ImportError:
    divide = None

DEVICE = triton.runtime.driver.active.get_active_torch_device()
AUTOTUNE = os.environ.get("MINE_AUTOTUNE", "1") == "1"


def maybe_autotune(configs, key):
    return triton.autotune(configs, key) if AUTOTUNE else lambda fn: functools.partial(fn, **configs[0].kwargs)


@triton.constexpr_function
def half(n):
    return n // 2


@tl.core._aggregate if hasattr(tl.core, "_aggregate") and not hasattr(triton, "aggregate") else triton.aggregate
class Running:
    high: tl.tensor
    total: tl.tensor

    @triton.constexpr_function
    def __init__(self, high, total):
        self.high = high
        self.total = total

    @triton.jit
    def add(self, x):
        new = tl.maximum(self.high, tl.max(x, 1))
        total = self.total * tl.exp2(self.high - new) + tl.sum(tl.exp2(x - new[:, None]), 1)
        return Running(new, total)


def name_of(specialization):
    c = specialization.constants
    return f"normalise_{c['ROWS']}x{c['BLOCK']}_{'log' if c['LOG'] else 'exp'}"


@triton.jit
def shifted(x, high):
    return x - high[:, None]


@triton.jit(noinline=True)
def in_base_two(scale):
    return scale * 1.44269504


@maybe_autotune([triton.Config({"ROWS": 2}), triton.Config({"ROWS": 4}, num_warps=2)], ["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit(repr=name_of, do_not_specialize=["scale"], debug=True)
def normalise(
    x,
    out,
    scale: tl.float32,
    m,
    n,
    stride: tl.int64,
    LOG: tl.constexpr,
    BLOCK: tl.constexpr,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr = 2,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, BLOCK)
    tl.device_assert(stride >= n, "rows overlap")
    state = Running(tl.full((ROWS,), -1e30, tl.float32), tl.zeros((ROWS,), tl.float32))
    for k in tl.range(0, n, BLOCK, num_stages=1):
        ok = (rows < m)[:, None] & (True if EVEN else (k + cols < n)[None, :])
        v = tl.load(x + rows[:, None] * stride + (k + cols)[None, :], mask=ok, other=-1e30) * in_base_two(scale)
        state = state.add(v)
    for k in range(0, n, BLOCK):
        ok = (rows < m)[:, None] & (True if EVEN else (k + cols < n)[None, :])
        v = tl.load(x + rows[:, None] * stride + (k + cols)[None, :], mask=ok, other=-1e30) * in_base_two(scale)
        v = shifted(v, state.high)
        r = tl.exp2(v) / state.total[:, None]
        if LOG:
            r = (v - libdevice.log2(state.total)[:, None]) * 0.69314718
        tl.store(out + rows[:, None] * stride + (k + cols)[None, :], r, mask=ok)


@triton.jit
def special(x, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    if KIND == "tanh":
        r = libdevice.tanh(v)
    elif KIND == "lgamma":
        r = libdevice.lgamma(tl.abs(v) + 1)
    elif KIND == "round":
        r = libdevice.nearbyint(v * 3)
    elif KIND == "pow":
        r = libdevice.pow(tl.abs(v), 1.5)
    else:
        tl.static_assert(KIND == "erfinv", "unknown kind")
        r = libdevice.erfinv(v / 4)
    tl.store(out + i, r, mask=i < n)


torch.manual_seed(1)
x = torch.randn(9, 50, device=DEVICE)


def grid(meta):
    return (triton.cdiv(9, meta["ROWS"]),)


for log, function in ((False, torch.softmax), (True, torch.log_softmax)):
    out = torch.empty_like(x)
    normalise[grid](x, out, 0.5, 9, 50, x.stride(0), LOG=log, BLOCK=16)
    torch.testing.assert_close(out, function(x * 0.5, -1), rtol=1e-4, atol=1e-5)
for kind, function in {
    "tanh": torch.tanh, "lgamma": lambda v: torch.lgamma(v.abs() + 1), "round": lambda v: torch.round(v * 3),
    "pow": lambda v: v.abs() ** 1.5, "erfinv": lambda v: torch.erfinv(v / 4),
}.items():  # fmt: skip
    v = torch.rand(100, device=DEVICE) * 3 - 1.5
    out = torch.empty_like(v)
    kernel = special[(4,)](v, out, 100, KIND=kind, BLOCK=32)
    torch.testing.assert_close(out, function(v), rtol=1e-4, atol=1e-5)
    assert kernel.metadata.num_warps == 4 and kernel.asm["ttir"]
warm = special.warmup(torch.float32, torch.float32, 100, KIND="tanh", BLOCK=64, grid=(1,))
assert warm.metadata.shared >= 0 and isinstance(warm.hash, str)
assert [p.name for p in special.params] == ["x", "out", "n", "KIND", "BLOCK"] and special.arg_names[0] == "x"
assert inspect.getsource(special.fn).startswith("@triton.jit") and special.src.startswith("def special")
assert special.device_caches[0][0] and special.__name__ == "special"
assert triton.testing.do_bench(lambda: special[(4,)](v, out, 100, KIND="pow", BLOCK=32), warmup=1, rep=2) > 0
try:
    special[(4,)](v, out, 100, KIND="nothing", BLOCK=32)
except triton.CompilationError as error:
    assert "unknown kind" in str(error)
else:
    raise AssertionError("a static_assert that fails must be an error")
try:
    normalise[grid](x, out, 0.5, 9, 50, 20, LOG=log, BLOCK=16)
except Exception as error:
    assert "rows overlap" in str(error), error
print("right on", triton.runtime.driver.active.get_current_target().backend)
