"""Our targets by the names that official Triton knows them by, and the versions of Triton that all of this is for."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from tilewright.support.errors import TargetError

if TYPE_CHECKING:
    from tilewright.targets.base import Target

PREFIX = "tilewright-"

SUPPORTED = ("3.6", "3.9")
"""The versions of Triton whose IR, options and drivers these modules know."""


def check_version() -> None:
    """Raise TargetError where the Triton that is installed is none that this is for."""
    installed = version("triton")
    if ".".join(installed.split(".")[:2]) not in SUPPORTED:
        known = " and ".join(SUPPORTED)
        raise TargetError(
            f"tilewright is a back end of Triton {known}; this is Triton {installed}. Install triton {SUPPORTED[-1]}, "
            "or let tilewright stand in for it: `tilewright run SCRIPT`, or tilewright.compat.install()"
        )


def find_named(backend: str, arch: Any = None) -> Target:
    """The target that Triton's `GPUTarget(backend, arch, ...)` describes: `arch` names a processor for `tilewright-cpu`
    (None: this machine's). Raises TargetError."""
    from tilewright.targets.base import find_target

    name = backend.removeprefix(PREFIX)
    found = find_target(name)
    if name != "cpu" or arch in (None, "", found.facts.cpu):  # PyTorch's compiler names none: ""
        return found
    from tilewright.targets.cpu.facts import named_facts
    from tilewright.targets.cpu.target import CpuTarget

    return CpuTarget(named_facts(arch))


def official(name: str) -> Any:
    """A module of official Triton, which is only imported where it is used."""
    return import_module(f"triton.{name}")
