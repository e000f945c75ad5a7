"""Functions that a program has called at certain moments, as many as it likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.support import knobs

Hook = Callable[..., Any]


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

    def replace(self, hooks: Any) -> None:
        """Call those of another chain, one function, or, for None, nothing."""
        self.calls = list(hooks.calls) if isinstance(hooks, HookChain) else [] if hooks is None else [hooks]
        knobs.renew()

    def __call__(self, *args: Any, **keywords: Any) -> None:
        for hook in tuple(self.calls[::-1] if self.reversed else self.calls):
            hook(*args, **keywords)

    def __bool__(self) -> bool:
        return bool(self.calls)
