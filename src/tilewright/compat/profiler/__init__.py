"""What Triton calls `triton.profiler` (Proton): the time of launches, by the scopes of the program that made them.

    import triton.profiler as proton
    proton.start("run")                        # from now on
    with proton.scope("decode", {"tokens": 4}):
        kernel[grid](...)
    proton.finalize()                          # writes run.hatchet

The file is the JSON that Hatchet and `proton-viewer` read. A launch counts with the time that the host waits for it:
on a CPU the kernel's own. Outside of a session scopes do nothing.
"""

from tilewright.compat.profiler import language, mode
from tilewright.compat.profiler.scopes import (
    cpu_timed_scope,
    enter_scope,
    enter_state,
    exit_scope,
    exit_state,
    scope,
    state,
)
from tilewright.compat.profiler.sessions import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "cpu_timed_scope",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "language",
    "mode",
    "profile",
    "scope",
    "start",
    "state",
]
