"""Official Triton's TritonGPU IR, and how much shared memory it takes, for the kernels of `ttgir_cases`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from official_answers import answer, ask, official_source
from ttgir_cases import GpuCase

PTX_VERSION = 87
"""What the allocation of shared memory asks for, and does not depend on here."""


@dataclass(frozen=True)
class Official:
    """What official Triton makes of a kernel: TritonGPU IR, and bytes of shared memory."""

    ttgir: str
    shared: int


def official(capability: int, cases: Sequence[GpuCase]) -> dict[str, Official]:
    """What official Triton makes of each kernel for a compute capability, by name; without those that it refuses."""
    return {name: Official(*entry) for name, entry in ask(__file__, capability, cases).items()}


def _compile(case: GpuCase, capability: int) -> tuple[str, int]:
    """TritonGPU IR and shared memory of one kernel."""
    from triton._C.libtriton import ir, nvidia, passes

    source = official_source(case, capability)
    module = source.backend.make_ttir(source.module, {}, source.options, capability)
    module = source.backend.make_ttgir(module, {}, source.options, capability)
    text = module.str_nodebug()
    manager = ir.pass_manager(source.context)
    passes.ttgpuir.add_allocate_warp_groups(manager)
    passes.convert.add_scf_to_cf(manager)
    nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, PTX_VERSION)
    manager.run(module, "allocate")
    return text, module.get_int_attr("ttg.shared")


if __name__ == "__main__":
    answer(_compile)
