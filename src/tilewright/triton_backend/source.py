"""What official Triton's front end made, as a source of our compilations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import TextSource, promise_disjoint, refuse_fusion
from tilewright.support.fingerprint import fingerprint
from tilewright.targets.base import Target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class OfficialSource:
    """The text of a module, at `first_stage`, and what a launch adds to it.

    `noalias` promises that the storage of all pointer arguments is disjoint; `parameters` names the parameter behind
    each launch slot.
    """

    text: TextSource
    parameters: tuple[str, ...] = ()
    noalias: bool = False

    @property
    def name(self) -> str:
        return self.text.name

    @property
    def first_stage(self) -> str:
        return self.text.first_stage

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        module = self.text.module(target, options)
        if self.noalias:
            promise_disjoint(module)
        if not options.enable_fp_fusion:
            refuse_fusion(module)
        return module

    def identity(self) -> str:
        return fingerprint(self.text.identity(), self.parameters, self.noalias)

    def runtime_parameters(self) -> tuple[str, ...]:
        return self.parameters
