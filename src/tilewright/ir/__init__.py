"""The compiler kit over xDSL: parsing, printing, rules, passes, stages, instruments, dominance, builder.

This package and `dialects` are the only ones that touch xDSL beyond its public `xdsl.ir`, `xdsl.dialects.builtin` and
`xdsl.rewriter.InsertPoint`. Importing it changes xDSL's classes (see `sharing`, `quick_access` and `support.records`):
ops, values, blocks and uses get Python's own hash, without which compilation takes 1.13 times the CPU seconds (median
of nine pairs, nine kernels). Sets that a program made of xDSL's own ops earlier have to be made again.
"""

from importlib import import_module

from tilewright.support.records import quick_dataclasses

with quick_dataclasses():
    for name in ("xdsl.dialects.builtin", "xdsl.parser", "xdsl.pattern_rewriter", "xdsl.printer"):
        import_module(name)

from tilewright.ir.quick_access import make_access_quick
from tilewright.ir.sharing import share_parts

share_parts()
make_access_quick()
