"""tilewright as a back end of the official `triton` package, which finds it by the entry point group `triton.backends`.

Triton's own front end makes the Triton IR then, of unchanged `@triton.jit` kernels, and everything after it is
tilewright's: passes, machine code, launches.

    import triton
    from tilewright import triton_backend

    triton_backend.activate("cpu")          # or TILEWRIGHT_TRITON_BACKEND=cpu before a program
    kernel[grid](x, y, n, BLOCK=1024)       # tensors in host memory
    triton.compile(source, target=GPUTarget("tilewright-cpu", None, 1))

A back end is called `tilewright-` and the name of one of our targets. None is active unless it was asked for, so that
programs on GPUs are as they were.

| module | what |
|---|---|
| `compiler` | Triton's `BaseBackend`: options, and the stages after Triton IR |
| `driver` | Triton's `DriverBase`: what is launched on |
| `launcher` | launches of a compiled kernel |
| `source` | the text of Triton's IR as a source of compilations |
| `naming` | targets by the names that Triton knows them by, and which version of Triton this is for |

`compiler` and `driver` are imported by `import triton` itself, so they import little.
"""

from __future__ import annotations

import sys

from tilewright.support.errors import DistributionClashError, MissingDistributionError

# First of all, also where a module of this package is imported by itself: Triton imports `compiler` and `driver` while
# it is imported, and they must not be half made then.
try:
    import triton
except ModuleNotFoundError as error:
    if error.name != "triton":
        raise
    raise MissingDistributionError(
        "tilewright.triton_backend is a back end of the official triton package, which is not installed: "
        "pip install triton==3.9.0",
        name="triton",
    ) from None

from tilewright.compat import StandIn
from tilewright.support.tracebacks import ends_tracebacks

if isinstance(sys.modules["triton"], StandIn):
    raise DistributionClashError(
        "tilewright stands in for triton here (tilewright.compat), and cannot be a back end of itself"
    )


@ends_tracebacks
def activate(target: str = "cpu") -> None:
    """Make launches of official Triton run on one of our targets from now on.

    Raises TargetError for a target that there is not, and where the Triton that is installed is of another version.
    """
    from tilewright.triton_backend.driver import TilewrightDriver

    triton.runtime.driver.set_active(TilewrightDriver(target))


def deactivate() -> None:
    """Give launches back to the driver that Triton finds by itself. Raises RuntimeError, Triton's, where it finds
    none."""
    triton.runtime.driver.reset_active()
