"""Kernels in children: subprocess, forkserver, a DataLoader's worker, concurrent.futures; a kernel pickled by name."""

import concurrent.futures
import importlib.metadata
import importlib.util
import multiprocessing
import os
import subprocess
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def scaled(factor):
    x = torch.arange(100, dtype=torch.float32)
    out = torch.empty_like(x)
    scale[(triton.cdiv(100, 32),)](x, out, factor, 100, BLOCK=32)
    return (out / x.clamp(min=1)).max().item(), os.getpid()


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.tensor(scaled(float(i + 1))[0])


def main():
    assert importlib.util.find_spec("triton") is not None
    assert importlib.metadata.version("triton") == triton.__version__
    here = os.getpid()
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        got = pool.map(scaled, [2.0, 3.0])
    assert [g[0] for g in got] == [2.0, 3.0] and all(g[1] != here for g in got), got
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(scaled, 4.0).result()[0] == 4.0
    loader = torch.utils.data.DataLoader(Rows(), batch_size=2, num_workers=1, multiprocessing_context="spawn")
    assert torch.cat(list(loader)).tolist() == [1.0, 2.0, 3.0, 4.0]
    code = "import triton, triton.language as tl, json; print(json.dumps([triton.__version__, hasattr(tl, 'dot')]))"
    for env in (None, {**os.environ, "EXTRA": "1"}):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert triton.__version__ in done.stdout
    # a function for torch.compile's worker pool
    import torch._inductor.config as config

    config.cpu_backend = "triton"

    @torch.compile
    def f(x, y):
        return torch.softmax(x * y + 1, -1)

    x, y = torch.randn(8, 70), torch.randn(8, 70)
    torch.testing.assert_close(f(x, y), torch.softmax(x * y + 1, -1))
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
