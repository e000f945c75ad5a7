"""Importing this module registers every pass of `lowering`. A compilation imports only the passes that it runs."""

from __future__ import annotations

import importlib
import pkgutil

import tilewright.lowering as lowering

for _module in pkgutil.iter_modules(lowering.__path__):
    if _module.ispkg or _module.name == "triton_to_linalg":
        importlib.import_module(f"{lowering.__name__}.{_module.name}")
