"""Importing this module registers every pass of `transforms`. A compilation imports only the passes that it runs."""

from __future__ import annotations

import importlib
import pkgutil

import tilewright.transforms as transforms

for _module in pkgutil.iter_modules(transforms.__path__):
    if _module.ispkg:
        importlib.import_module(f"{transforms.__name__}.{_module.name}")
importlib.import_module("tilewright.transforms.ttg.registration")
