"""Imported for its imports: PyTorch's compiler with tilewright in the place of Triton, and the compiler of kernels."""

from __future__ import annotations

import importlib
import os

from suite import whole_compiler
from tilewright import compat

# PyTorch's compiler reads these while it is imported: it compiles in the process, headers that are used once are not
# compiled on their own, and its C++ not optimised.
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
os.environ["TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"] = "0"
os.environ["AOT_INDUCTOR_COMPILE_WRAPPER_OPT_LEVEL"] = "O0"
compat.install()
for name in ("torch._inductor.compile_fx", "torch._inductor.utils"):
    importlib.import_module(name)

__all__ = ["whole_compiler"]
