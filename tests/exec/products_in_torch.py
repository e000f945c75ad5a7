"""Templates of products with what follows them, which `max_autotune` chooses among; a program for `tilewright run`."""

import torch
import torch._inductor.config as inductor
from torch._inductor.utils import run_and_get_code

from tilewright.compat.torch_compile import compile_graph

options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}


def multiply(a, b, bias):
    return (a @ b + bias).relu()


def multiply_exponentials(a, b, bias):
    return (a.exp() @ b + bias).relu()


a, b, bias = torch.randn(16, 16), torch.randn(16, 16), torch.randn(16)
inductor.cpu_backend = "triton"
for backend in compile_graph, "inductor":  # its own switch times no fusions either
    for function in multiply, multiply_exponentials:
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend, dynamic=False, options=options)
        result, codes = run_and_get_code(compiled, a, b, bias)
        torch.testing.assert_close(result, function(a, b, bias), rtol=1e-4, atol=1e-4)
        assert any("triton_tem_fused" in code and "relu" in code for code in codes)
print("right")
