"""What a function remembers of its launches: shortcuts for each state of the switches, and what they rest on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime import hooks
from tilewright.runtime.binding import Binder, Bound
from tilewright.runtime.fast_path import Shortcuts, present_switches
from tilewright.support import knobs


class KnownLaunches:
    """The shortcuts of one function's launches."""

    def __init__(self) -> None:
        self.shortcuts = Shortcuts()
        """Those for the switches as they were when they were last asked for."""
        self.written: frozenset[int] = frozenset()
        """The parameters that some kernel of the function stores through: shortcuts look at the memory of these."""
        self._by_switches: dict[Hashable, Shortcuts] = {}

    def present(self, binder: Binder) -> Shortcuts:
        """The shortcuts for the switches as they are now; new ones, which nobody keeps, where hooks are set."""
        generation = knobs.generation
        if self.shortcuts.generation != generation:
            switches = present_switches()
            if hooks.are_set():
                return Shortcuts(binder.separate, switches)
            shortcuts = self._by_switches.setdefault(switches, Shortcuts(binder.separate, switches))
            shortcuts.generation = generation
            self.shortcuts = shortcuts
        return self.shortcuts

    def forget(self) -> None:
        """Forget all shortcuts."""
        self._by_switches.clear()
        self.shortcuts = Shortcuts()

    def note_written(self, kernel: CompiledKernel, parameters: Sequence[str]) -> bool:
        """Note the parameters that a kernel stores through. Whether shortcuts were forgotten that did not look at one
        of them."""
        written = kernel.parameters.find_written(parameters)
        if written <= self.written:
            return False
        self.written |= written
        if not any(shortcuts.readers for shortcuts in self._by_switches.values()):
            return False
        self.forget()
        return True

    def can_choose(self, kernel: CompiledKernel, bound: Bound, parameters: Sequence[str]) -> bool:
        """Return whether shortcuts can choose this kernel for such arguments: not where it stores to memory apart, but
        another kernel of the function would not."""
        stored = {parameters[number] for number in self.written}
        slots = {slot for slot, (name, _) in enumerate(bound.leaves()) if name in stored}
        sharing = bound.sharing()
        return sharing.merged(slots) is not None or sharing.merged(kernel.parameters.written) is None
