"""The func dialect: functions, calls and returns. xDSL's classes are right as they are."""

from __future__ import annotations

from xdsl.dialects.func import CallOp, Func, FuncOp, ReturnOp

__all__ = ["CallOp", "Func", "FuncOp", "ReturnOp"]
