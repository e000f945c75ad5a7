"""Imported for its imports: PyTorch's compiler with tilewright in the place of Triton, and the compiler of kernels."""

from __future__ import annotations

import importlib
import os

from suite import whole_compiler
from tilewright import compat

# PyTorch's compiler reads these while it is imported: it compiles in the process, headers that are used once are not
# compiled on their own, its C++ is not optimised, and no program compiles a file to learn whether vectors compile.
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
os.environ["AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL"] = "O0"
os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
compat.install()
for name in ("torch._inductor.compile_fx", "torch._inductor.utils"):
    importlib.import_module(name)
# So are the patterns that it looks for in graphs: traced once, at the first graph.
importlib.import_module("torch._inductor.fx_passes.joint_graph").lazy_init(
    importlib.import_module("torch").device("cpu")
)

__all__ = ["whole_compiler"]
