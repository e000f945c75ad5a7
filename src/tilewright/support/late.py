"""Late imports: names that packages re-export, and modules of layers above.

Imports go down the list of folders only. A few uses go up: a pass is looked up by its name, and passes are above the
kit that runs them. The layer below asks `modules_of("passes")`; `tilewright/__init__.py`, which knows all layers,
binds the use to modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

_modules: dict[str, tuple[str, ...]] = {}
_names: dict[str, dict[str, str]] = {}


def bind_modules(use: str, *modules: str) -> None:
    """Say which modules a layer means when it asks for those of a use."""
    _modules[use] = modules


def modules_of(use: str) -> tuple[ModuleType, ...]:
    """The modules that a use is bound to, imported now."""
    return tuple(import_module(name) for name in _modules[use])


def bind_names(package: str, homes: Mapping[str, str]) -> None:
    """Say where further names of a package are: `"module"` is a module itself, `"module:name"` what it has."""
    _names.setdefault(package, {}).update(homes)


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that has these names (see `bind_names`) without importing what they are."""
    bind_names(package, homes)
    return lambda name: find_name(package, name)


def names_of(package: str) -> list[str]:
    """The names that were bound for a package, for its `__all__`."""
    return list(_names.get(package, {}))


def public_names(package: str) -> list[str]:
    """The names of a package for its `__all__`: all but modules and those that begin with an underscore."""
    found = vars(sys.modules[package]).items()
    return [name for name, value in found if name[0] != "_" and not isinstance(value, ModuleType)]


def homes_of(package: str) -> Mapping[str, str]:
    """Return the modules of the names that were bound in a package."""
    return _names.get(package, {})


def find_name(package: str, name: str) -> Any:
    """Import what a package has by a name that was bound. Raises AttributeError, as for any missing name."""
    home = _names[package].get(name)
    if home is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, _, inner = home.partition(":")
    return getattr(import_module(module), inner) if inner else import_module(module)
