"""An out-of-tree back end, as a third party would write it: a GPU whose machine code is the text of the ttg stage, run
by the reference. Its warps go in step, so its barrier filter asks for no barriers between plain stores and loads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilewright.analysis.membar import Access, register_filter
from tilewright.dialects import ttg
from tilewright.ir.printing import print_op
from tilewright.language.context import CodegenOptions
from tilewright.lowering.tt_to_ttg.convert_triton_to_tritongpu import ConvertTritonToTritonGPUPass
from tilewright.reference import find_kernel
from tilewright.support.facts import TargetFacts
from tilewright.targets.reference.kernel import ReferenceKernel
from tilewright.transforms.tt.pipeline import make_ttir
from tilewright.transforms.ttg.allocate_shared_memory import AllocateSharedMemoryPass
from tilewright.transforms.ttg.membar import MembarPass


def in_step(earlier: Access, later: Access) -> bool:
    """All threads of a CTA run each op together: what is stored is there for the next op."""
    return isinstance(earlier.op, ttg.LocalStoreOp | ttg.LocalAllocOp) and isinstance(later.op, ttg.LocalLoadOp)


register_filter("toy", in_step)


@dataclass(frozen=True)
class ToyArtefact:
    llir: str
    entry: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def object(self) -> bytes:
        return self.llir.encode()


class ToyTarget:
    name = "toy"

    def __init__(self, options: Any = None) -> None:
        self.options = options

    def configured(self, options: Any) -> ToyTarget:
        if options.num_warps > 2:
            raise ValueError("a toy has two warps")
        return ToyTarget(options)

    @property
    def facts(self) -> TargetFacts:
        return TargetFacts(name="toy", triple="", cpu="toy1")

    def fingerprint(self) -> str:
        return "toy 1"

    def codegen_options(self, options: Any) -> CodegenOptions:
        return CodegenOptions(target_name="toy", arch="toy1", num_warps=options.num_warps)

    def stages(self) -> Any:
        convert = ConvertTritonToTritonGPUPass(target="toy:1", num_warps=self.options.num_warps)
        return ("ttir", make_ttir()), ("ttgir", [convert, AllocateSharedMemoryPass(), MembarPass()])

    def emit(self, module: Any) -> ToyArtefact:
        return ToyArtefact(print_op(module, locations=True), find_kernel(module))

    def assembly(self, llir: str) -> str:
        return llir

    def load(self, image: bytes, metadata: dict[str, Any]) -> ReferenceKernel:
        return ReferenceKernel(metadata["entry"], image.decode())


def make_target() -> ToyTarget:
    return ToyTarget()


def make_nothing() -> object:
    """What a package with a mistake might return."""
    return object()
