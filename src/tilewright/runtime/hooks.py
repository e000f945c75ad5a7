"""Functions that a program has called around every launch: `knobs.runtime.launch_enter_hook.add(function)`.

Each gets what there is to know of the launch; profilers count and name kernels by it. While there are any, launches
take the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from tilewright.compiler.kernel import LaunchMetadata
from tilewright.support.hook_chain import HookChain

CompileHook = Callable[..., Any]
"""Called with the keywords of `compile_keywords`."""

launch_enter_hook = HookChain()
launch_exit_hook = HookChain(reversed=True)
jit_cache_hook: CompileHook | None = None
"""Called where a launch needs a kernel that this process has not compiled; where it returns True, nothing is compiled
nor launched."""
jit_post_compile_hook: CompileHook | None = None
"""Called when such a kernel is there."""


autotune_listener: Callable[..., Any] | None = None
"""Called where configurations were measured, or their times found on disk: `fn`, `key`, `best_config`,
`configs_timings`, `duration` in seconds (None of times from disk), `cache_hit`."""


def set_hook(name: str, value: Any) -> None:
    """Make `value` the hook of a name: a function, or None for no hook."""
    if name.startswith("jit_"):
        globals()[name] = value
        return
    chain: HookChain = globals()[name]
    chain.replace(value)


def are_set() -> bool:
    """Return whether a launch has anything to call."""
    return bool(launch_enter_hook or launch_exit_hook)


@contextmanager
def around(metadata: LaunchMetadata) -> Generator[None]:
    """Call the hooks before a launch and after it; not after one that fails."""
    launch_enter_hook(metadata)
    yield
    launch_exit_hook(metadata)
