"""A persistent product with host and device descriptors, a fused epilogue, launch metadata, a knob's hook, autotuned with pre_hook."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def set_blocks(nargs):
    m, n, k = nargs["BLOCK_M"], nargs["BLOCK_N"], nargs["BLOCK_K"]
    nargs["a"].block_shape = [m, k]
    nargs["b"].block_shape = [n, k]
    nargs["c"].block_shape = [m, n // 2 if nargs["SPLIT"] else n]


def about(grid, kernel, args):
    return {
        "name": f"{kernel.name} [{args['M']}x{args['N']}x{args['K']}]",
        "flops16": 2 * args["M"] * args["N"] * args["K"],
    }


configs = [
    triton.Config(
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32, "SPLIT": s, "GROUP": 4},
        num_stages=2,
        num_warps=4,
        pre_hook=set_blocks,
    )
    for m, n in ((32, 32), (64, 32))
    for s in (False, True)
]


@triton.jit
def tile_of(tile, per_group, num_m, GROUP: tl.constexpr):
    group = tile // per_group
    first = group * GROUP
    size = min(num_m - first, GROUP)
    return first + (tile % size), (tile % per_group) // size


@triton.autotune(configs=configs, key=["M", "N", "K"])
@triton.jit(launch_metadata=about)
def product(a, b, c, bias, M, N, K, PROGRAMS: tl.constexpr, ACT: tl.constexpr,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr, GROUP: tl.constexpr):  # fmt: skip
    num_m, num_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    per_group = GROUP * num_n
    for tile in tl.range(tl.program_id(0), num_m * num_n, PROGRAMS, flatten=True):
        pm, pn = tile_of(tile, per_group, num_m, GROUP)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            x = a.load([pm * BLOCK_M, k * BLOCK_K])
            y = b.load([pn * BLOCK_N, k * BLOCK_K])
            acc = tl.dot(x, y.T, acc)
        cols = pn * BLOCK_N + tl.arange(0, BLOCK_N)
        acc += tl.load(bias + cols, mask=cols < N, other=0.0)[None, :]
        acc = ACT(acc) if ACT is not None else acc
        if SPLIT:
            acc = tl.reshape(acc, (BLOCK_M, 2, BLOCK_N // 2))
            acc = tl.permute(acc, (0, 2, 1))
            left, right = tl.split(acc)
            c.store([pm * BLOCK_M, pn * BLOCK_N], left.to(c.dtype))
            c.store([pm * BLOCK_M, pn * BLOCK_N + BLOCK_N // 2], right.to(c.dtype))
        else:
            c.store([pm * BLOCK_M, pn * BLOCK_N], acc.to(c.dtype))


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.70710678))


@triton.jit
def column_sums(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [R, C])
    out = tl.make_tensor_descriptor(out_ptr, [1, columns], [columns, 1], [1, C])
    total = tl.zeros((C,), tl.float32)
    for r in range(0, rows, R):
        total += tl.sum(x.load([r, tl.program_id(0) * C]).to(tl.float32), 0)
    out.atomic_add([0, tl.program_id(0) * C], total[None, :])


triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=DEVICE))
torch.manual_seed(0)
seen = []
triton.knobs.runtime.launch_enter_hook = lambda metadata: seen.append(metadata.get())
for M, N, K, act in ((100, 72, 64, None), (130, 96, 40, gelu)):
    a, b = (torch.randn(n, K).to(torch.float16).to(DEVICE) for n in (M, N))
    bias = torch.randn(N, device=DEVICE)
    c = torch.empty(M, N, dtype=torch.float16, device=DEVICE)
    descs = [TensorDescriptor.from_tensor(t, [1, 8]) for t in (a, b, c)]
    product[(4,)](*descs, bias, M, N, K, PROGRAMS=4, ACT=act)
    right = a.float() @ b.float().T + bias
    if act is not None:
        right = torch.nn.functional.gelu(right)
    torch.testing.assert_close(c.float(), right, rtol=1e-2, atol=2e-2)
    sums = torch.zeros(N, device=DEVICE)
    column_sums[(triton.cdiv(N, 32),)](c, sums, M, N, R=16, C=32)
    torch.testing.assert_close(sums, c.float().sum(0), rtol=1e-3, atol=1e-2)
triton.knobs.runtime.launch_enter_hook = None
assert any(m["name"].startswith("product [100x72x64]") for m in seen), seen[:2]
print("right on", triton.runtime.driver.active.get_current_target().backend)
