"""Launches on a simulated GPU, and what memory should hold after them: what seeded faults are looked for in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tilewright.targets.base import find_target
from tilewright.tools.validation.engines import run_reference, walk_passes
from tilewright.tools.validation.launches import Array, Launch, record_launch

TARGET = "cuda_sim"


def recorded(inputs: Iterable[tuple[Any, Any, dict[str, Any]]], arch: str) -> list[tuple[Launch, list[Array]]]:
    """The launches (kernel, grid, keywords) for an architecture, each with the reference's result."""
    found: list[tuple[Launch, list[Array]]] = []
    for kernel, grid, keywords in inputs:
        launch = record_launch(kernel, grid, (), keywords).for_architecture(arch)
        _, module = next(walk_passes(launch, find_target(TARGET)))
        outcome = run_reference(launch, module, "source")
        assert outcome.error is None, outcome.error
        found.append((launch, outcome.memory))
    return found
