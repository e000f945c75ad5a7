"""Modules that are imported for what they register: passes, and the functions of tables with an entry for each op."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module


@cache
def import_modules(package: str, *, is_deep: bool = False) -> None:
    """Import the modules of a package, in the order of their names; `is_deep`: and those of the packages in it."""
    for module in pkgutil.iter_modules(import_module(package).__path__):
        name = f"{package}.{module.name}"
        if not module.ispkg:
            import_module(name)
        elif is_deep:
            import_modules(name, is_deep=True)
