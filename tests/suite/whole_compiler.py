"""Imported for its imports: every module between a kernel and its code, for the CPU and for GPUs."""

from __future__ import annotations

import importlib
import pkgutil

PACKAGES = ("language", "transforms", "lowering", "codegen", "targets")

for package in PACKAGES:
    name = f"tilewright.{package}"
    for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
        importlib.import_module(module.name)
