"""The simulated GPU: the CUDA target's PTX, run on NumPy over all threads at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tilewright.support.errors import TilewrightError
from tilewright.support.fingerprint import fingerprint
from tilewright.targets.cuda.architecture import SIMULATED
from tilewright.targets.cuda.computed_maps import ComputedMapParameter
from tilewright.targets.cuda.kernel import NO_OTHER_FORM
from tilewright.targets.cuda.loaded_kernel import KernelFacts
from tilewright.targets.cuda.target import CudaArtefact, CudaTarget

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.reference.simt.code import Code


class SimulatedKernel:
    """The PTX of one kernel."""

    global_races = True
    """Whether races in global memory are looked for, besides those in shared memory."""

    def __init__(self, facts: KernelFacts, ptx: str) -> None:
        self.name = facts.entry
        self.facts = facts
        self.ptx = ptx
        self.program: str | Code = ptx
        """What is run: the text, or what was made of it."""
        self._other_form: Callable[[], SimulatedKernel] | None = None

    def take_other_form(self, give: Callable[[], SimulatedKernel]) -> None:
        """Be told what gives the form of the kernel for launches that have no tensor maps."""
        self._other_form = give

    def launch_within(
        self,
        slots: Sequence[int],
        extents: Mapping[int, tuple[int, int]],
        grid: Sequence[int],
        names: Sequence[str] = (),
        *,
        race_detection: bool = True,
    ) -> None:
        """Run a grid; `extents` has the allocation that each slot with an address points into, `names` the
        parameter."""
        from tilewright.targets.cuda.simulation import simulate

        if any(p.resolve(slots, grid) is None for p in self.facts.parameters if isinstance(p, ComputedMapParameter)):
            assert self._other_form is not None, "a kernel with computed tensor maps, loaded without its other form"
            other = self._other_form()
            if any(isinstance(parameter, ComputedMapParameter) for parameter in other.facts.parameters):
                raise TilewrightError(NO_OTHER_FORM.format(self.name))
            other.launch_within(slots, extents, grid, names, race_detection=race_detection)
            return
        simulate(
            self.program,
            self.facts,
            slots,
            extents,
            grid,
            names,
            race_detection=race_detection,
            global_races=self.global_races,
        )


class SimulatedTarget(CudaTarget):
    """As `cuda` as far as PTX; there are no registers to count and no machine code."""

    name = "cuda_sim"
    image_key = "obj"
    is_timed = False

    def _present(self) -> int:
        return SIMULATED

    def on_device(self, ordinal: int) -> SimulatedTarget:
        """There is one."""
        return self

    def fingerprint(self) -> str:
        """Return what PTX depends on: architecture and LLVM."""
        from tilewright.codegen import llvm_backend

        return fingerprint(self.name, self.facts.cpu, self.facts.ptx_version, llvm_backend.version())

    def emit(self, module: ModuleOp) -> CudaArtefact:
        """PTX of a module at the ttg stage. Raises PassError, OutOfResources."""
        device, llir, ptx = self._emit_ptx(module)
        facts = self._kernel_facts(module, device) | {"is_text": True}
        return CudaArtefact(llir, ptx, ptx.encode(), device.kernel, facts)

    def load(self, image: bytes, metadata: dict[str, Any]) -> SimulatedKernel:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The kernel of a PTX text; `metadata` is the artefact's, with `entry` added."""
        return SimulatedKernel(KernelFacts.from_json(metadata), image.decode())
