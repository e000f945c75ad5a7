"""The compiler kit over xDSL: parsing, printing, rules, passes, stages, instruments, dominance, builder.

This package and `dialects` are the only ones that touch xDSL beyond its public `xdsl.ir`, `xdsl.dialects.builtin` and
`xdsl.rewriter.InsertPoint`.
"""
