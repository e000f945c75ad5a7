"""Autotuned kernels in pools of processes and threads: spawned pools, a subprocess that prints JSON, results kept on disk, compilation ahead in threads, compiled kernels by their hash."""

import concurrent.futures
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import torch
import triton
import triton.language as tl
from triton.testing import do_bench


def configs():
    return [
        triton.Config({"M": m, "N": n}, num_warps=w, num_stages=s)
        for m, n, w, s in ((16, 16, 1, 1), (16, 32, 2, 2), (32, 32, 4, 3))
    ]


def keep_fitting(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["M"] <= max(16, named_args["m"])]


def guess(M, N, m, n, k, num_warps, num_stages, **kwargs):
    return triton.cdiv(m, M) * triton.cdiv(n, N) * k * (M + N)


@triton.autotune(
    configs=configs(), key=["m", "n", "k"], prune_configs_by={"early_config_prune": keep_fitting, "perf_model": guess, "top_k": 2},
    restore_value=["c"], reset_to_zero=["calls"], do_bench=lambda kernel, quantiles: do_bench(kernel, warmup=1, rep=1, quantiles=quantiles), cache_results=True,
)  # fmt: skip
@triton.jit
def multiply_add(a, b, c, calls, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr = 16):
    """c += a b, so that a run too many shows."""
    rows, cols = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inner = start + tl.arange(0, K)
        x = tl.load(a + rows[:, None] * k + inner[None, :], mask=(rows < m)[:, None] & (inner < k)[None, :], other=0.0)
        y = tl.load(b + inner[:, None] * n + cols[None, :], mask=(inner < k)[:, None] & (cols < n)[None, :], other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
    at, ok = c + rows[:, None] * n + cols[None, :], (rows < m)[:, None] & (cols < n)[None, :]
    tl.store(at, tl.load(at, mask=ok) + acc, mask=ok)
    tl.atomic_add(calls, 1)


def multiply(shape):
    m, n, k = shape
    torch.manual_seed(m * n + k)
    a, b, c = torch.randn(m, k), torch.randn(k, n), torch.ones(m, n)
    calls = torch.zeros(1, dtype=torch.int32)
    multiply_add[lambda meta: (triton.cdiv(m, meta["M"]), triton.cdiv(n, meta["N"]))](a, b, c, calls, m, n, k)
    best = multiply_add.best_config
    assert calls.item() == triton.cdiv(m, best.kwargs["M"]) * triton.cdiv(n, best.kwargs["N"]), calls
    return (c - 1 - a @ b).abs().max().item(), best.kwargs["M"], os.getpid()


def hashes(width):
    kernel = multiply_add.fn.warmup(
        torch.float32, torch.float32, torch.float32, torch.int32, 64, 64, 64, M=width, N=width, grid=(1,)
    )
    return kernel.hash, kernel.metadata.name


def main():
    if sys.argv[1:] == ["child"]:
        print(
            json.dumps(
                [multiply((40, 40, 40))[0], {k: str(v) for k, v in multiply_add.best_config.all_kwargs().items()}]
            )
        )
        return
    shapes = [(16, 16, 16), (40, 40, 40), (70, 33, 50)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as spawned:
            found = list(spawned.map(multiply, shapes))
            hashed = spawned.submit(hashes, 16).result(), spawned.submit(hashes, 32).result()
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as forked:
            found += [*forked.map(multiply, shapes), *map(multiply, shapes)]
        assert all(error < 1e-4 for error, *_ in found), found
        assert hashed == (hashes(16), hashes(32)), "a hash is the same in every process"
        environment = {**os.environ, "TRITON_PRINT_AUTOTUNING": "1"}
        done = subprocess.run(
            [sys.executable, __file__, "child"], capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        error, best = json.loads(done.stdout.splitlines()[-1])
        assert error < 1e-4 and set(best) >= {"M", "N", "num_warps"}, best
        with concurrent.futures.ThreadPoolExecutor(4) as threads, triton.AsyncCompileMode(threads):
            futures = [
                multiply_add.fn.warmup(
                    torch.float32, torch.float32, torch.float32, torch.int32, 64, 64, 64, M=w, N=w, grid=(1,)
                )
                for w in (16, 32)
            ]
        assert [f.result().metadata.name for f in futures] == ["multiply_add"] * 2
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
