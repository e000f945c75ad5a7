"""Ops of arith that are one LLVM instruction or intrinsic on integers, by LLVM's names: the same on every target."""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.dialects import arith

INTEGER_BINARY: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
    arith.ShLIOp: "shl",
    arith.ShRSIOp: "ashr",
    arith.ShRUIOp: "lshr",
}
"""Instructions of two operands."""

INTEGER_MINMAX: dict[type[Operation], str] = {
    arith.MaxSIOp: "smax",
    arith.MinSIOp: "smin",
    arith.MaxUIOp: "umax",
    arith.MinUIOp: "umin",
}
"""Intrinsics of two operands: `llvm.smax`, ..."""
