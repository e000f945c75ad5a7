"""Gluon: kernels that say themselves how tensors are laid out, when data is copied, and what each warp does.

from tilewright import gluon
from tilewright.gluon import language as gl

@gluon.jit
def copy(x_ptr, y_ptr, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
"""

from tilewright.gluon import amd, nvidia
from tilewright.language import gluon as language
from tilewright.language.aggregates import aggregate
from tilewright.language.callables import constexpr_function
from tilewright.language.registry import must_use_result
from tilewright.runtime.gluon import GluonASTSource, GluonJITFunction, jit

__all__ = [
    "GluonASTSource",
    "GluonJITFunction",
    "aggregate",
    "amd",
    "constexpr_function",
    "jit",
    "language",
    "must_use_result",
    "nvidia",
]
