"""Inline PTX as ops; importing this package registers the `triton-inline-ptx-to-arith` pass.

`program` reads the assembly, `instructions/` says what each instruction makes of terms (`terms`, `numbers`), `columns`
which elements share registers, and `emission` and `replacement` make ops of the terms that are left.
"""

from tilewright.transforms.inline_ptx.inline_ptx_to_arith import InlinePtxToArithPass

__all__ = ["InlinePtxToArithPass"]
