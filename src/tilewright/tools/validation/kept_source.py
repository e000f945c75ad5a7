"""A source that is taken to a stage once, for all that goes on from there."""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects.builtin import ModuleOp

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.compiler.stages import lower
from tilewright.support.records import dataclass
from tilewright.targets.base import Target


@dataclass
class KeptSource:
    """The module of `source` at `first_stage`, made when it is first asked for and copied from then on. It is for
    targets that have the stages up to there in common, and for one set of options."""

    source: Source
    first_stage: str
    _module: ModuleOp | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_gluon(self) -> bool:
        return self.source.is_gluon

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        """A copy. Raises CompilationError and PassError classes."""
        if self._module is None:
            stages = lower(self.source, options, target)
            self._module = next(module for stage, module in stages if stage == self.first_stage)
        return self._module.clone()

    def identity(self) -> str:
        return f"{self.source.identity()} {self.first_stage}"

    def runtime_parameters(self) -> tuple[str, ...]:
        return self.source.runtime_parameters()
