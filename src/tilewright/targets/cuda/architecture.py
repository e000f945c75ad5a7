"""Which GPU to compile for: what was asked for, else the one that is there."""

from __future__ import annotations

import re
from typing import Any

from tilewright.support import knobs
from tilewright.support.errors import NoDriverError, OutOfThreads, TargetError

OLDEST, NEWEST = 80, 99
"""Compute capabilities that there is code for: Ampere, Ada, Hopper."""

WARP_SIZE, MAX_WARPS, MAX_CTAS, MAX_REGISTERS = 32, 32, 16, 255
FIRST_WITH_CLUSTERS = 90

OLDEST_PTX, NEWEST_PTX = ((90, 80), (89, 78), (87, 74), (86, 71), (80, 70)), 88
"""The first version of PTX that knows a compute capability, and the last that LLVM writes; 80 is PTX 8.0."""

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
    """Return what the option `arch` or the switch `override_arch` names."""
    name = option or knobs.get("override_arch")
    return read_architecture(name) if name else None


def present_architecture(ordinal: int | None = None) -> int:
    """The compute capability of a GPU that is there, by default the current one, for which is compiled unless another
    is named. Raises NoDriverError where there is none."""
    from tilewright.targets.cuda.driver import cuda_driver
    from tilewright.targets.cuda.placement import current_device

    try:
        device = cuda_driver().device(current_device() if ordinal is None else ordinal)
    except NoDriverError as error:
        if ordinal is not None:  # somebody asks for that GPU, not for code
            raise
        raise NoDriverError(
            f"{error}. To compile for a GPU that is not there, name it: the option arch='sm90', or "
            "TILEWRIGHT_OVERRIDE_ARCH=sm90 when the program starts"
        ) from None
    if device.capability < OLDEST:
        major, minor = divmod(device.capability, 10)
        raise TargetError(
            f"{device.name} has compute capability {major}.{minor}; tilewright's code needs 8.0 or more. Use the CPU: "
            "arrays in host memory"
        )
    return device.capability


def check_options(options: Any, capability: int) -> None:
    """Check that a GPU of this compute capability has what the options of a compilation require.

    Raises OutOfThreads for too many warps, ValueError for clusters before Hopper, cluster launch control, too many
    registers, and versions of PTX that do not know the GPU.
    """
    if options.num_warps > MAX_WARPS:
        raise OutOfThreads(options.num_warps * WARP_SIZE, MAX_WARPS * WARP_SIZE, "threads of a CTA")
    if options.num_ctas > 1 and capability < FIRST_WITH_CLUSTERS:
        raise ValueError(
            f"num_ctas={options.num_ctas} needs clusters, which GPUs have from compute capability 9.0 on (Hopper); "
            f"this is for {capability // 10}.{capability % 10}. Leave num_ctas at 1"
        )
    if options.launch_pdl and capability < FIRST_WITH_CLUSTERS:
        raise ValueError(
            "launch_pdl needs grids that wait for each other, which GPUs have from compute capability 9.0 on (Hopper); "
            f"this is for {capability // 10}.{capability % 10}. Leave launch_pdl off"
        )
    if options.clc:
        raise ValueError(
            "clc needs cluster launch control, which GPUs have from compute capability 10.0 on (Blackwell); "
            f"this is for {capability // 10}.{capability % 10}. Leave clc off"
        )
    if options.num_ctas > MAX_CTAS:
        raise ValueError(f"num_ctas={options.num_ctas}: a cluster has at most {MAX_CTAS} CTAs")
    if options.ptx_version is not None:
        _check_ptx_version(options.ptx_version, capability)


def _check_ptx_version(version: Any, capability: int) -> None:
    oldest = next(ptx for known, ptx in OLDEST_PTX if capability >= known)
    if not isinstance(version, int) or not oldest <= version <= NEWEST_PTX:
        raise ValueError(
            f"ptx_version={version!r}: expected {oldest} (PTX {oldest / 10}) to {NEWEST_PTX} for compute capability "
            f"{capability // 10}.{capability % 10}"
        )
