"""Imported for its imports: every module between a kernel and its code, for the CPU and for GPUs."""

from __future__ import annotations

from tilewright.support.modules import import_modules

for package in ("language", "transforms", "lowering", "codegen", "targets"):
    import_modules(f"tilewright.{package}", is_deep=True)
