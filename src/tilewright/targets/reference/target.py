"""A target whose machine code is the text of the front end's module, and whose machine is the reference.

No pass runs, so what a kernel gives here is what its Triton IR says. Accesses are checked against the arguments that
they derive from; a kernel that leaves them is stopped with a located error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.support import knobs
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass
from tilewright.targets.reference.kernel import ReferenceKernel

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.ir.passes import Pass
    from tilewright.language.context import CodegenOptions

VERSION = "2"
"""To be raised when the text that is kept in the cache changes its form."""


@dataclass(frozen=True)
class ReferenceArtefact:
    """The text of a module, with its source locations."""

    llir: str
    entry: str

    @property
    def object(self) -> bytes:
        return self.llir.encode()

    @property
    def metadata(self) -> dict[str, Any]:
        return {}


class ReferenceTarget:
    """Kernels run on NumPy."""

    name = "reference"
    is_timed = False

    @property
    def facts(self) -> TargetFacts:
        return TargetFacts(name=self.name, triple="", cpu=self.name)

    def fingerprint(self) -> str:
        """Return what a kept text depends on."""
        return f"{self.name} {VERSION}"

    def codegen_options(self, options: Any) -> CodegenOptions:
        """The CPU's, so that both run the same module."""
        from tilewright.language.context import CodegenOptions

        return CodegenOptions(
            target_name="cpu",
            arch=self.name,
            num_warps=options.num_warps,
            num_ctas=options.num_ctas,
            num_stages=options.num_stages,
            warp_size=1,
            debug=bool(options.debug),
            sanitize_overflow=bool(options.sanitize_overflow),
            default_dot_input_precision=knobs.get("f32_default") or "ieee",
            enable_fp_fusion=bool(options.enable_fp_fusion),
            min_dot_size=(1, 1, 1),
            runs_in_python=True,
        )

    def stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """One stage, which is the front end's module as it is."""
        return (("ttir", ()),)

    def gluon_stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """One stage, in which every tensor has a layout."""
        from tilewright.transforms.ttg.pipelines import passes_for_gluon

        return (("ttgir", passes_for_gluon()),)

    def emit(self, module: ModuleOp) -> ReferenceArtefact:
        """The text of the module."""
        from tilewright.ir.printing import print_op
        from tilewright.reference import find_kernel

        return ReferenceArtefact(print_op(module, locations=True), find_kernel(module))

    def assembly(self, llir: str) -> str:
        """The same text: there is nothing below it."""
        return llir

    def load(self, image: bytes, metadata: dict[str, Any]) -> ReferenceKernel:
        """The kernel that a text defines; it is parsed at the first launch."""
        return ReferenceKernel(metadata["entry"], image.decode())
