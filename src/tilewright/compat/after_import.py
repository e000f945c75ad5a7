"""Runs a function right after a module of another package is imported, whoever imports it and whenever.

    AfterImport("torch._inductor.compile_fx", use_launch_sites).wait()

A finder goes before the others, asks them for that one module, and has its loader call the function. Nothing is
imported for it, and the module keeps its own loader and spec.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function once when one module has been imported, if it still waits for it then."""

    def __init__(self, name: str, function: Callable[[], None]) -> None:
        self._name, self._function = name, function
        self._is_asking = False
        self._called_for: ModuleType | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute: Callable[[ModuleType], None] = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the class's again
            execute(module)
            if self in sys.meta_path:
                self.stop()
                self._call(module)

        loader.exec_module = exec_module

    def wait(self) -> None:
        """Call the function after the import: now where that was before, otherwise once it happens."""
        if self._name in sys.modules:
            self._call(sys.modules[self._name])
        elif self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def _call(self, module: ModuleType) -> None:
        """Call the function unless it was called for this module: what it changes there lasts."""
        if self._called_for is not module:
            self._called_for = module
            self._function()

    def stop(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
