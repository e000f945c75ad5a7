"""What official Triton's front end made, as a source of our compilations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import TextSource, mark_for_launch
from tilewright.support.fingerprint import fingerprint
from tilewright.support.records import dataclass
from tilewright.targets.base import Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class OfficialSource(TextSource):
    """The text of a module, at `first_stage`, and what a launch adds to it.

    `noalias` promises that the storage of all pointer arguments is disjoint; `parameters` names the parameter behind
    each launch slot.
    """

    parameters: tuple[str, ...] = ()
    noalias: bool = True

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        module = super().module(target, options)
        mark_for_launch(module, options, noalias=self.noalias)
        return module

    def identity(self) -> str:
        return fingerprint(super().identity(), self.parameters, self.noalias)

    def runtime_parameters(self) -> tuple[str, ...]:
        return self.parameters
