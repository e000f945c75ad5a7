"""TILEWRIGHT_VALIDATE=1: every compiled kernel is validated on the arguments of its first launch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tilewright.runtime.driver import active_driver
from tilewright.runtime.jit import JITFunction
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, ValidationError
from tilewright.targets.base import Target
from tilewright.tools.validation.compare import Tolerance
from tilewright.tools.validation.engines import find_cpu
from tilewright.tools.validation.launches import record_launch
from tilewright.tools.validation.validate import validate_launch

MAX_PROGRAMS = 256
"""Grids of more programs are validated on this many at most."""

FLOATS = Tolerance(relative=1e-3, default=1e-4)
"""Sums may be taken in any order, and products may be fused with sums."""


def before_first_launch(kernel: JITFunction, grid: Any, args: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Validate the launch that is about to happen, on the way to its target. Raises ValidationError with the table and
    the first difference."""
    with knobs.scope(validate=False, sanitize=()):
        try:
            launch = record_launch(kernel, grid, args, keywords).with_programs(MAX_PROGRAMS)
        except ArgumentError as error:
            print(f"tilewright: not validated: {error}", file=sys.stderr)
            return
        report = validate_launch(launch, _target_of(kernel, args, keywords), FLOATS)
    if not report.is_valid:
        raise ValidationError(report.render())


def _target_of(kernel: JITFunction, args: Sequence[Any], keywords: dict[str, Any]) -> Target:
    """Return where a launch goes; the reference has no passes of its own, so the CPU's are validated."""
    binder = kernel.binder
    target = active_driver(binder.bind(*binder.match(tuple(args), keywords))).target
    return find_cpu() if target.name == "reference" else target
