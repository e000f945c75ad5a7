"""Importing this module registers every pass on TritonGPU IR."""

from __future__ import annotations

import importlib
import pkgutil

import tilewright.transforms.ttg as package

for _module in pkgutil.iter_modules(package.__path__):
    importlib.import_module(f"{package.__name__}.{_module.name}")
