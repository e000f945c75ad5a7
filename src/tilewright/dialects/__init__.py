"""Every dialect of the compiler, and the context that reads them all.

The ops bear MLIR's names. Fields are named as xDSL names them where it has the op (``scf.ForOp.lb``,
``arith.SelectOp.cond``), and as MLIR's
definitions do otherwise. Constructors take operands in MLIR's order, then result types that cannot be inferred, then
attributes as plain Python
values: ``arith.CmpiOp(a, b, "slt")``, ``memref.SubviewOp(m, [i, 0], [n, 8], [1, 1])``.
"""

from __future__ import annotations

from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect

import_module("tilewright.ir")  # changes the classes that ops derive from

DIALECTS: dict[str, tuple[str, str]] = {
    "affine": ("tilewright.dialects.affine", "Affine"),
    "arith": ("tilewright.dialects.arith", "Arith"),
    "bufferization": ("tilewright.dialects.bufferization", "Bufferization"),
    "cf": ("tilewright.dialects.cf", "Cf"),
    "func": ("tilewright.dialects.func", "Func"),
    "gluon": ("tilewright.dialects.gluon", "GLUON"),
    "gpu": ("tilewright.dialects.gpu", "Gpu"),
    "linalg": ("tilewright.dialects.linalg", "Linalg"),
    "linalg_ext": ("tilewright.dialects.linalg_ext", "LinalgExt"),
    "llvm": ("tilewright.dialects.llvm", "Llvm"),
    "math": ("tilewright.dialects.math", "Math"),
    "memref": ("tilewright.dialects.memref", "MemRef"),
    "ptr": ("tilewright.dialects.ptr", "Ptr"),
    "scf": ("tilewright.dialects.scf", "Scf"),
    "tensor": ("tilewright.dialects.tensor", "Tensor"),
    "tptr": ("tilewright.dialects.tptr", "TPTR"),
    "tt": ("tilewright.dialects.tt", "TT"),
    "ttg": ("tilewright.dialects.ttg", "TTG"),
    "ttng": ("tilewright.dialects.ttng", "TTNG"),
    "tts": ("tilewright.dialects.tts", "TTS"),
    "ttx": ("tilewright.dialects.ttx", "TTX"),
    "ub": ("tilewright.dialects.ub", "Ub"),
    "vector": ("tilewright.dialects.vector", "Vector"),
}
"""Where each dialect lives: a module is imported when the first op or type of its dialect is read."""


def load_dialect(name: str) -> Dialect:
    """The dialect of that name."""
    module, attribute = DIALECTS[name]
    return getattr(import_module(module), attribute)


def make_context() -> Context:
    """A context that knows every dialect and loads each when it is first needed."""
    context = Context()
    context.load_dialect(Builtin)
    for name in DIALECTS:
        context.register_dialect(name, lambda name=name: load_dialect(name))
    return context
