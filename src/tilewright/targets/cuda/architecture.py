"""Which GPU to compile for: what was asked for, else the one that is there."""

from __future__ import annotations

import re
from typing import Any

from tilewright.support import knobs
from tilewright.support.errors import NoDriverError, TargetError

OLDEST, NEWEST = 80, 99
"""Compute capabilities that there is code for: Ampere, Ada, Hopper."""

SIMULATED = 90
"""What the simulated GPU is unless another is asked for."""

_NAME = re.compile(r"(?:sm_?)?(\d{2,3})[af]?")


def read_architecture(name: Any) -> int:
    """The compute capability in `sm_90a`, `sm90`, `90` or 90. Raises TargetError for what there is no code for."""
    match = _NAME.fullmatch(str(name))
    capability = int(match.group(1)) if match else 0
    if not OLDEST <= capability <= NEWEST:
        raise TargetError(
            f"no GPU architecture {name!r} can be compiled for; there is code for compute capability 8.0 to 9.0: "
            "sm80, sm86, sm89, sm90"
        )
    return capability


def asked_architecture(option: str | None) -> int | None:
    """What the option `arch` or the switch `override_arch` names."""
    name = option or knobs.get("override_arch")
    return read_architecture(name) if name else None


def present_architecture(number: int | None = None) -> int:
    """The compute capability of a GPU that is there, by default the current one. Raises NoDriverError where there is
    none."""
    from tilewright.targets.cuda.driver import cuda_driver
    from tilewright.targets.cuda.placement import current_device

    try:
        device = cuda_driver().device(current_device() if number is None else number)
    except NoDriverError as error:
        raise NoDriverError(
            f"{error}. To compile for a GPU that is not there, name it: TILEWRIGHT_OVERRIDE_ARCH=sm90"
        ) from None
    if device.capability < OLDEST:
        major, minor = divmod(device.capability, 10)
        raise TargetError(
            f"{device.name} has compute capability {major}.{minor}; tilewright's code needs 8.0 or more. Use the CPU: "
            "arrays in host memory"
        )
    return device.capability
