"""Functions that a program has called around every launch: `knobs.runtime.launch_enter_hook.add(function)`.

Each gets what there is to know of the launch; profilers count and name kernels by it. While there are any, launches
take the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from tilewright.compiler.kernel import LaunchMetadata
from tilewright.support import knobs

Hook = Callable[[LaunchMetadata], Any]


class HookChain:
    """Hooks, called in the order in which they were added, or in the opposite one."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[Hook] = []
        self.reversed = reversed

    def add(self, hook: Hook) -> None:
        """Call `hook` from now on; once, however often it is added."""
        if hook not in self.calls:
            self.calls.append(hook)
            knobs.renew()

    def remove(self, hook: Hook) -> None:
        """Call `hook` no more."""
        if hook in self.calls:
            self.calls.remove(hook)
            knobs.renew()

    def __call__(self, metadata: LaunchMetadata) -> None:
        for hook in tuple(self.calls[::-1] if self.reversed else self.calls):
            hook(metadata)

    def __bool__(self) -> bool:
        return bool(self.calls)


CompileHook = Callable[..., Any]
"""Called with the keywords of `compile_keywords`."""

launch_enter_hook = HookChain()
launch_exit_hook = HookChain(reversed=True)
jit_cache_hook: CompileHook | None = None
"""Called where a launch needs a kernel that this process has not compiled; where it returns True, nothing is compiled
nor launched."""
jit_post_compile_hook: CompileHook | None = None
"""Called when such a kernel is there."""


def set_hook(name: str, value: Any) -> None:
    """Make `value` the hook of a name: a function, or None for no hook."""
    if name.startswith("jit_"):
        globals()[name] = value
        return
    chain: HookChain = globals()[name]
    functions = value.calls if isinstance(value, HookChain) else [] if value is None else [value]
    chain.calls = list(functions)
    knobs.renew()


def are_set() -> bool:
    """Whether a launch has anything to call."""
    return bool(launch_enter_hook or launch_exit_hook)


@contextmanager
def around(metadata: LaunchMetadata) -> Generator[None]:
    """Call the hooks in front of a launch and behind it; not behind one that fails."""
    launch_enter_hook(metadata)
    yield
    launch_exit_hook(metadata)
