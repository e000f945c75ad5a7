"""The dialect modules, imported when the first op is built.

A user's script imports `tilewright.language` on every start, and a launch that finds its kernel in the cache never
builds an op; so this package must not import xDSL by itself. Each name below is a stand-in module that imports the
real one on the first attribute access.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class LazyModule(ModuleType):
    """A module that is imported on first use; every name read is kept, so that later reads cost a plain attribute
    access."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    from xdsl import ir
    from xdsl.dialects import builtin

    from tilewright.dialects import arith, gluon, gpu, llvm, math, tt, ttg, ttng, ub
else:
    ir = LazyModule("xdsl.ir")
    builtin = LazyModule("xdsl.dialects.builtin")
    arith = LazyModule("tilewright.dialects.arith")
    gluon = LazyModule("tilewright.dialects.gluon")
    gpu = LazyModule("tilewright.dialects.gpu")
    llvm = LazyModule("tilewright.dialects.llvm")
    math = LazyModule("tilewright.dialects.math")
    tt = LazyModule("tilewright.dialects.tt")
    ttg = LazyModule("tilewright.dialects.ttg")
    ttng = LazyModule("tilewright.dialects.ttng")
    ub = LazyModule("tilewright.dialects.ub")

__all__ = ["LazyModule", "arith", "builtin", "gluon", "gpu", "ir", "llvm", "math", "tt", "ttg", "ttng", "ub"]
