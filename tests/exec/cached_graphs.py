"""PyTorch's caches hold the code of graphs; another state of this compiler writes its own. A program for
`tilewright run`."""

import torch
from torch._dynamo.utils import counters
from torch._inductor.codegen import common
from torch._inductor.custom_graph_pass import CustomGraphModulePass

from tilewright.compat import inductor_wrapper
from tilewright.compat.torch_compile import compile_graph


class Another(CustomGraphModulePass):
    """A pass that another package has registered: it runs as before, and keys have its name, too."""

    name, seen = "another package's pass", 0

    def __call__(self, graph):
        self.seen += 1

    def uuid(self):
        return self.name


common.init_backend_registration()
common.custom_backend_passes["cpu"] = another = Another()


def scaled(x, y):
    return (x + y).exp().sum(0)


def is_from_cache():
    """Compile the function as a fresh process would; whether its graph came from a cache."""
    torch._dynamo.reset()
    counters.clear()
    x, y = torch.randn(2, 30, 7)
    compiled = torch.compile(scaled, backend=compile_graph, dynamic=False)
    torch.testing.assert_close(compiled(x, y), scaled(x, y), rtol=1e-4, atol=1e-4)
    found = counters["inductor"]
    assert found["fxgraph_cache_hit"] + found["fxgraph_cache_miss"] == 1, counters
    return found["fxgraph_cache_hit"] == 1


assert [is_from_cache() for _ in range(2)] == [False, True]
inductor_wrapper.toolchain_fingerprint = lambda: "another state"
assert [is_from_cache() for _ in range(2)] == [False, True]
assert another.seen == 2
another.name = "its next version"
assert [is_from_cache() for _ in range(2)] == [False, True]
print("right")
