"""Does each mistake that a GPU can report come out as its own class, and does the process go on with CPU work?

python errors.py            every case in a process of its own (a lost GPU stays lost); a table, exit status 1 on a miss
python errors.py NAME       one case in this process
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import numpy as np
import torch

import tilewright as tw
import tilewright.language as tl
from tilewright.support import errors, knobs

BLOCK = 1024


@tw.jit
def copy(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + shift + offsets, mask=offsets < n), mask=offsets < n)


@tw.jit
def copy_as_if_aligned(x_ptr, out_ptr, shift, BLOCK: tl.constexpr):
    offsets = tl.multiple_of(shift, 4) + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + offsets))


@tw.jit
def check_positive(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x > 0, "not positive")


@tw.jit
def square(x_ptr, out_ptr, SIZE: tl.constexpr):
    offsets = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.dot(x, tl.trans(x)))


def tensors(n: int = BLOCK) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.arange(n, device="cuda", dtype=torch.float32), torch.zeros(n, device="cuda")


def launch_and_wait(launch: Callable[[], Any]) -> None:
    """The error of a kernel shows at the next call of the driver: PyTorch's here, so the launch after it is asked."""
    launch()
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(f"PyTorch: {str(error).splitlines()[0]}")
    launch()


def illegal_address() -> None:
    x, out = tensors()
    launch_and_wait(lambda: copy[1,](x, out, BLOCK, 1 << 40, BLOCK=BLOCK))


def launches_after_a_loss() -> None:
    """The same clear error from every launch, of other kernels too, which names the first report."""
    x, out = tensors()
    for _ in range(3):
        try:
            launch_and_wait(lambda: copy[1,](x, out, BLOCK, 1 << 40, BLOCK=BLOCK))
        except errors.IllegalAddressError as error:
            print(str(error).partition(". ")[0])
    check_positive[1,](out, BLOCK=BLOCK)


def misaligned_address() -> None:
    x, out = tensors(2 * BLOCK)
    launch_and_wait(lambda: copy_as_if_aligned[1,](x, out, 5, BLOCK=BLOCK))


def device_assert() -> None:
    x, _ = tensors()
    check_positive[1,](x, BLOCK=BLOCK, debug=True)


def shared_memory() -> None:
    x = torch.zeros(512, 512, device="cuda", dtype=torch.float16)
    square[1,](x, torch.zeros(512, 512, device="cuda"), SIZE=512, num_warps=8)


def threads() -> None:
    x, out = tensors()
    copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK, num_warps=64)


def clusters_on_ampere() -> None:
    x, out = tensors()
    copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK, num_ctas=2, arch="sm80")


def other_architecture() -> None:
    x, out = tensors()
    copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK, arch="sm80")


def cooperative_grid() -> None:
    x, out = tensors()
    copy[1_000_000,](x, out, BLOCK, 0, BLOCK=BLOCK, launch_cooperative_grid=True)


def high_grid() -> None:
    x, out = tensors()
    copy[1, 70_000](x, out, BLOCK, 0, BLOCK=BLOCK)


def host_memory() -> None:
    x, _ = tensors()
    copy[1,](x, torch.zeros(BLOCK), BLOCK, 0, BLOCK=BLOCK)


def kept_kernel_misaligned() -> None:
    """A kernel that was kept from a launch with aligned pointers, launched with one that is not."""
    x, out = tensors(2 * BLOCK)
    kernel = copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)
    kernel[1,](x, out, BLOCK, 0, BLOCK)
    torch.testing.assert_close(out[:BLOCK], x[:BLOCK])
    kernel[1,](x[1:], out, BLOCK, 0, BLOCK)


def no_ptxas_path() -> None:
    x, out = tensors()
    with knobs.scope(ptxas_path="/nowhere/ptxas"):
        copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)


def no_ptxas() -> None:
    """Without ptxas the driver compiles the PTX; only the machine code is not there to be seen."""
    from tilewright.codegen.nvptx import ptxas

    ptxas.find_ptxas = lambda: None
    x, out = tensors()
    kernel = copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)
    torch.testing.assert_close(out, x)
    kernel.asm["cubin"]


def rejected_ptx() -> None:
    """The driver's compiler speaks where the PTX is wrong."""
    from tilewright.targets.cuda.driver import cuda_driver

    driver = cuda_driver()
    with driver.entered(driver.device(0)):
        driver.load_module(b".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n", is_text=True)


def new_ptx() -> None:
    """PTX of a version that no driver knows yet."""
    from tilewright.targets.cuda.driver import cuda_driver

    driver = cuda_driver()
    with driver.entered(driver.device(0)):
        driver.load_module(b".version 99.0\n.target sm_90\n.address_size 64\n", is_text=True)


def no_device() -> None:
    from tilewright.targets.cuda.driver import cuda_driver

    cuda_driver().device(0)


def forked_child() -> None:
    x, out = tensors()
    copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)
    torch.cuda.synchronize()
    if os.fork():
        _, status = os.wait()
        raise SystemExit(os.waitstatus_to_exitcode(status))
    from tilewright.targets.cuda.driver import cuda_driver

    cuda_driver().call("cuMemAlloc", 16)


def two_devices() -> None:
    """The same launch on two GPUs: each gets its own copy of the code."""
    for ordinal in range(min(2, torch.cuda.device_count())):
        x = torch.arange(BLOCK, device=f"cuda:{ordinal}", dtype=torch.float32)
        out = torch.zeros_like(x)
        copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)
        torch.testing.assert_close(out, x)


CASES: dict[Callable[[], None], type[Exception] | None] = {
    illegal_address: errors.IllegalAddressError,
    launches_after_a_loss: errors.IllegalAddressError,
    misaligned_address: errors.MisalignedAddressError,
    device_assert: errors.LostToAssertionError,
    shared_memory: errors.OutOfSharedMemory,
    threads: errors.OutOfThreads,
    clusters_on_ampere: ValueError,
    other_architecture: errors.TargetError,
    cooperative_grid: errors.GridTooLarge,
    high_grid: errors.ArgumentValueError,
    host_memory: errors.ArgumentValueError,
    kept_kernel_misaligned: errors.MisalignedPointerError,
    no_ptxas_path: errors.NoAssemblerError,
    no_ptxas: errors.NoAssemblerError,
    rejected_ptx: errors.AssemblerError,
    new_ptx: errors.DriverTooOldError,
    no_device: errors.NoDriverError,
    forked_child: errors.ForkedProcessError,
    two_devices: None,
}
"""What each case must raise; nothing where it must work."""

ENVIRONMENTS = {"no_device": {"CUDA_VISIBLE_DEVICES": "-1"}}


def run_case(case: Callable[[], None], expected: type[Exception] | None) -> bool:
    """Run one case and CPU work after it; prints what was raised."""
    found: Exception | None = None
    try:
        case()
    except Exception as error:
        found = error
    print(f"{type(found).__name__}: {found}" if found is not None else "no error")
    x = np.arange(BLOCK, dtype=np.float32)
    out = np.zeros_like(x)
    copy[1,](x, out, BLOCK, 0, BLOCK=BLOCK)
    is_right = type(found) is expected if expected is not None else found is None
    return is_right and bool((out == x).all())


def main() -> int:
    names = {case.__name__: case for case in CASES}
    if len(sys.argv) > 1:
        case = names[sys.argv[1]]
        return 0 if run_case(case, CASES[case]) else 1
    missed = 0
    for name, case in names.items():
        environment = os.environ | {"TILEWRIGHT_ALWAYS_COMPILE": "1"} | ENVIRONMENTS.get(name, {})
        command = [sys.executable, __file__, name]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        expected = CASES[case]
        verdict = "ok    " if done.returncode == 0 else "MISSED"
        missed += done.returncode != 0
        print(f"{verdict} {name}: {expected.__name__ if expected else 'works'}")
        shown = done.stdout if done.returncode == 0 else done.stdout + done.stderr
        print("".join(f"         {line}\n" for line in shown.splitlines()), end="")
    print(f"{len(names) - missed} of {len(names)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
