"""What serving libraries put around kernels: an entry with keys of its own, placeholders, monitors, cache managers, overrides, pruned configurations."""

import ast
import importlib
import importlib.util
import inspect
import itertools
import os
import sys
import tempfile
import textwrap
import types
from pathlib import Path

import torch

HAS_TRITON = (
    importlib.util.find_spec("triton") is not None or importlib.util.find_spec("pytorch-triton-xpu") is not None
)
assert HAS_TRITON
from triton.backends import backends  # noqa: E402

active = [b.driver for b in backends.values() if b.driver and b.driver.is_active()]
assert len(active) == 1, active
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
import triton.language.extra.libdevice as tldevice  # noqa: E402
from triton.runtime.cache import FileCacheManager  # noqa: E402

MAJOR, MINOR = map(int, triton.__version__.split(".")[:2])
assert (MAJOR, MINOR) >= (3, 6)
DEVICE = triton.runtime.driver.active.get_active_torch_device()


class PerProcess(FileCacheManager):
    def __init__(self, key, override=False, dump=False):
        self.key = key
        self.lock_path = None
        knobs = triton.knobs.cache
        base = knobs.dump_dir if dump else knobs.override_dir if override else f"{knobs.dir}_{os.getpid()}"
        self.cache_dir = os.path.join(base, key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)


class Entry(triton.KernelInterface):
    """Remembers compiled kernels by a key of its own and launches them with the arguments that are no constants."""

    def __init__(self, fn):
        self.fn = fn
        self.arg_names = fn.arg_names
        while not isinstance(fn, triton.runtime.JITFunction):
            fn = fn.fn
        self.jit = fn
        self.seen = {}
        self.compiled = 0

    def key_of(self, value):
        if hasattr(value, "data_ptr"):
            return value.dtype, value.data_ptr() % 16 == 0
        return type(value), value

    def run(self, *args, **kwargs):
        grid = kwargs["grid"]
        plain, constants = [], {}
        for p, value in itertools.zip_longest(self.jit.params, args, fillvalue=inspect._empty):
            if value is inspect._empty:
                value = kwargs.get(p.name, p.default)
                if value is inspect._empty:
                    continue
            if p.is_constexpr:
                constants[p.name] = value
            else:
                plain.append(value)
        key = tuple(map(self.key_of, plain)) + tuple(constants.items())
        if key not in self.seen:
            kernel = self.fn.run(*args, **kwargs)
            self.compiled += 1
            fn, found = self.fn, {}
            while not isinstance(fn, triton.runtime.JITFunction):
                if isinstance(fn, triton.runtime.Autotuner):
                    found.update(
                        fn.best_config.kwargs, num_warps=fn.best_config.num_warps, num_stages=fn.best_config.num_stages
                    )
                else:
                    assert isinstance(fn, triton.runtime.Heuristics)
                    for name, rule in fn.values.items():
                        found[name] = rule({**dict(zip(fn.arg_names, args, strict=False)), **kwargs, **found})
                fn = fn.fn
            self.seen[key] = kernel, {**constants, **found}
            return kernel
        kernel, found = self.seen[key]
        if callable(grid):
            grid = grid({**dict(zip(self.arg_names, args, strict=False)), **kwargs, **found})
        kernel[(*grid, 1, 1)[:3]](*plain)
        return kernel


def prune(configs, named_args, **kwargs):
    assert named_args["n"] and "x" in named_args
    small = [c for c in configs if c.kwargs["BLOCK"] * c.num_stages <= 512]
    return small or configs[:1]


@Entry
@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w, num_stages=s) for b, w, s in ((64, 1, 1), (256, 2, 2), (4096, 4, 3))],
    key=["n"], prune_configs_by={"early_config_prune": prune}, reset_to_zero=["total"], warmup=1, rep=1,
)  # fmt: skip
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit(do_not_specialize=["n"])
def silu_and_mul(x, out, total, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, LIMIT: tl.constexpr = 0.0):
    row = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        gate = tl.load(x + row * 2 * n + i).to(tl.float32)
        up = tl.load(x + row * 2 * n + n + i).to(tl.float32)
    else:
        gate = tl.load(x + row * 2 * n + i, mask=i < n, other=0.0).to(tl.float32)
        up = tl.load(x + row * 2 * n + n + i, mask=i < n, other=0.0).to(tl.float32)
    if LIMIT > 0:
        gate = tl.minimum(gate, LIMIT)
        up = tl.clamp(up, -LIMIT, LIMIT)
    r = gate / (1 + tldevice.exp(-gate)) * up
    tl.atomic_add(total + row, tl.sum(tl.where(i < n, r, 0.0)))
    tl.store(out + row * n + i, r.to(out.dtype.element_ty), mask=i < n)


events = []
before = triton.knobs.runtime.jit_post_compile_hook


def monitor(**kwargs):
    events.append(getattr(kwargs.get("fn"), "name", "<unknown>"))
    return before(**kwargs) if before is not None else None


def act(x, limit=0.0):
    rows, n = x.shape[0], x.shape[1] // 2
    out, total = torch.empty(rows, n, dtype=x.dtype, device=x.device), torch.zeros(rows, device=x.device)
    silu_and_mul[lambda meta: (triton.cdiv(n, meta["BLOCK"]), rows)](x, out, total, n, LIMIT=limit)
    return out, total


def wanted(x, limit):
    gate, up = x.float().chunk(2, -1)
    if limit:
        gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return torch.nn.functional.silu(gate) * up


with tempfile.TemporaryDirectory() as folder:
    manager = PerProcess("key")
    manager.put("text", "a.txt", binary=False)
    assert manager.has_file("a.txt") and Path(manager.get_file("a.txt")).read_text() == "text"
    triton.knobs.runtime.jit_post_compile_hook = monitor
    triton.knobs.autotuning.print = False
    torch.manual_seed(0)
    for dtype, n, limit in itertools.product((torch.float32, torch.bfloat16), (300, 512), (0.0, 0.75)):
        x = torch.randn(5, 2 * n, device=DEVICE).to(dtype)
        for _ in range(3):
            out, total = act(x, limit)
            torch.testing.assert_close(out.float(), wanted(x, limit), rtol=1e-2, atol=1e-2)
            torch.testing.assert_close(total, wanted(x, limit).sum(-1), rtol=1e-3, atol=1e-2)
    assert silu_and_mul.compiled == 8, silu_and_mul.compiled
    names = set(events)
    assert any("silu_and_mul" in name for name in names), names
    compiled = len(events)
    act(x, limit)
    assert len(events) == compiled, "a shape that was seen compiles nothing"
    triton.knobs.runtime.jit_post_compile_hook = before

# what a warm-up finds out about a kernel without launching it
kernel = silu_and_mul.jit
function = ast.parse(textwrap.dedent(inspect.getsource(kernel.fn))).body[0]
assert isinstance(function, ast.FunctionDef) and function.name == "silu_and_mul"
assert [kernel.arg_names[i] for i in kernel.constexprs] == ["BLOCK", "EVEN", "LIMIT"]
assert list(kernel.do_not_specialize) == ["n"] and inspect.signature(kernel.fn).parameters["LIMIT"].default == 0.0
assert [p.num for p in kernel.params if not p.is_constexpr and not p.do_not_specialize] == [0, 1, 2]

# kernels that a platform replaces in every module that holds them
holder, user = types.ModuleType("holder"), types.ModuleType("user")
holder.kernel = user.kernel = silu_and_mul.jit
sys.modules.update(holder=holder, user=user)


class Override:
    def __init__(self, kernel, function):
        self.arg_names, self.function = tuple(kernel.arg_names), function

    def __getitem__(self, grid):
        return lambda *a, **k: self.function(**dict(zip(self.arg_names, a, strict=False)), **k)


original = holder.kernel
for module in list(sys.modules.values()):
    for name, value in list((getattr(module, "__dict__", None) or {}).items()):
        if value is original and module is not sys.modules["__main__"]:
            setattr(module, name, Override(original, lambda **k: k["n"]))
assert user.kernel[(1,)](1, 2, 3, 4) == 4 and importlib.import_module("holder").kernel is not original

# every autotuner after this takes its first configuration
tuned = triton.autotune
triton.autotune = lambda configs, key, **kwargs: tuned(configs=configs[:1], key=key, **kwargs)


@triton.autotune([triton.Config({"B": 8}), triton.Config({"B": 16})], key=[])
@triton.jit
def width(out, B: tl.constexpr):
    tl.store(out, B)


triton.autotune = tuned
out = torch.zeros(1, dtype=torch.int32, device=DEVICE)
width[(1,)](out)
assert out.item() == 8 and len(width.configs) == 1
print("right on", triton.runtime.driver.active.get_current_target().backend)
