"""Questions about the target: in a kernel, the one that it is compiled for; in other code, the one of launches."""

from __future__ import annotations

from tilewright.language.callables import constexpr_function
from tilewright.language.context import current, is_active
from tilewright.support.late import modules_of
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class CompileTarget:
    """A target as Triton describes it."""

    backend: str
    arch: int | str
    warp_size: int


@constexpr_function
def current_target() -> CompileTarget:
    """The target: backend name, architecture, warp size. Outside of kernels that of `triton.runtime.driver.active`."""
    if not is_active():
        (driver,) = modules_of("driver")
        target = driver.active.get_current_target()
        return CompileTarget(target.backend, target.arch, target.warp_size)
    options = current().options
    return CompileTarget(options.target_name, options.arch, options.warp_size)


@constexpr_function
def is_cuda() -> bool:
    """Is the target an NVIDIA GPU?"""
    target = current_target.fn()
    return target.backend == "cuda"


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Is the target an NVIDIA GPU of at least this compute capability?"""
    target = current_target.fn()
    return target.backend == "cuda" and int(target.arch) >= major * 10 + minor


@constexpr_function
def is_hip() -> bool:
    """Is the target an AMD GPU?"""
    target = current_target.fn()
    return target.backend == "hip"


@constexpr_function
def is_hip_cdna3() -> bool:
    """Is the target an AMD GPU of the CDNA3 generation?"""
    target = current_target.fn()
    return target.backend == "hip" and target.arch in ("gfx940", "gfx941", "gfx942")


@constexpr_function
def is_hip_gfx1250() -> bool:
    """Is the target an AMD GPU of that architecture?"""
    target = current_target.fn()
    return target.backend == "hip" and target.arch == "gfx1250"


@constexpr_function
def is_hip_cdna4() -> bool:
    """Is the target an AMD GPU of the CDNA4 generation?"""
    target = current_target.fn()
    return target.backend == "hip" and target.arch == "gfx950"
