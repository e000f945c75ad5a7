"""Templates of products with what follows them, which `max_autotune` chooses among; a program for `tilewright run`."""

import torch
from torch._inductor.utils import run_and_get_code

from tilewright.compat.torch_compile import compile_graph

options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}


def multiply(a, b, bias):
    return (a @ b + bias).relu()


a, b, bias = torch.randn(16, 16), torch.randn(16, 16), torch.randn(16)
compiled = torch.compile(multiply, backend=compile_graph, dynamic=False, options=options)
result, codes = run_and_get_code(compiled, a, b, bias)
torch.testing.assert_close(result, multiply(a, b, bias), rtol=1e-4, atol=1e-4)
assert any("triton_tem_fused" in code and "relu" in code for code in codes)
print("right")
