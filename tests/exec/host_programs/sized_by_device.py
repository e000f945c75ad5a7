"""Asks the device how many programs it has room for, and launches a kernel that was compiled before."""

import torch
import triton
import triton.language as tl
from triton.runtime import driver

DEVICE = triton.runtime.driver.active.get_active_torch_device()
PROPERTIES = driver.active.utils.get_device_properties(DEVICE.index)


@triton.jit
def normalize_rows(out, rows, stride, num_rows, width, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    """Each program takes every so many rows; `num_stages` is a parameter and a launch option at once."""
    lanes = tl.arange(0, BLOCK)
    inside = lanes < width
    for row in tl.range(tl.program_id(0), num_rows, tl.num_programs(0), num_stages=num_stages):
        x = tl.load(rows + row * stride + lanes, mask=inside, other=0.0)
        tl.store(out + row * stride + lanes, x / tl.sqrt(tl.sum(x * x, 0)), mask=inside)


def normalized(x):
    out = torch.empty_like(x)
    arguments = (out, x, x.stride(0), *x.shape)
    block = triton.next_power_of_2(x.shape[1])
    kernel = normalize_rows.warmup(*arguments, BLOCK=block, num_stages=2, num_warps=8, grid=(1,))
    kernel._init_handles()
    resident = PROPERTIES["max_num_regs"] // (kernel.n_regs * PROPERTIES["warpSize"] * 8)
    resident = min(resident, PROPERTIES["max_shared_mem"] // kernel.metadata.shared)
    programs = min(PROPERTIES["multiprocessor_count"] * resident, x.shape[0])
    assert programs > 0
    kernel[(programs, 1, 1)](*arguments, block, 2)
    return out


torch.manual_seed(0)
data = torch.randn(37, 78, device=DEVICE)
torch.testing.assert_close(normalized(data), torch.nn.functional.normalize(data))


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["width"],
        x_vals=[64],
        line_arg="library",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="rows",
        args={"rows": 8},
    )
)
def benchmark(rows, width, library):
    x = torch.randn(rows, width, device=DEVICE)
    run = {"triton": lambda: normalized(x), "torch": lambda: torch.nn.functional.normalize(x)}[library]
    return 2e-6 * x.nbytes / triton.testing.do_bench(run, warmup=1, rep=1)


benchmark.run(show_plots=False, print_data=True)
print("right on", driver.active.get_current_target().backend)
