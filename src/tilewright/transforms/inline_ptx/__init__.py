"""Inline PTX as ops: the `triton-inline-ptx-to-arith` pass.

`program` reads the assembly, `instructions/` says what each instruction makes of terms (`terms`, `numbers`), `columns`
which elements share registers, and `emission` and `replacement` make ops of the terms that are left.
"""
