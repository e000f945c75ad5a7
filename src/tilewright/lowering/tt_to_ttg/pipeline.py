"""`make-ttgir`: from Triton IR to TritonGPU IR that is ready to be lowered."""

from __future__ import annotations

import re

from tilewright.ir.passes import Pass, register_pipeline
from tilewright.lowering.tt_to_ttg.convert_triton_to_tritongpu import ConvertTritonToTritonGPUPass
from tilewright.support.errors import PipelineError
from tilewright.transforms.common.modes import NEVER
from tilewright.transforms.ttg.loop_options import LoopOptions
from tilewright.transforms.ttg.pipelines import loop_passes_for, passes_for

_CUDA = re.compile(r"cuda:(\d+)")


def make_ttgir(
    *, target: str, num_warps: int = 4, num_stages: int = 3, threads_per_warp: int = 32, num_ctas: int = 1
) -> list[Pass]:
    """Lowers Triton IR to TritonGPU IR that is ready for op-by-op lowering, for a target such as `cuda:90`.

    Raises `PipelineError` for an unsupported target.
    """
    found = _CUDA.fullmatch(target)
    if found is None:
        raise PipelineError(f"unknown target '{target}'; expected cuda:CAPABILITY, e.g. cuda:90")
    convert = ConvertTritonToTritonGPUPass(
        target=target, num_warps=num_warps, threads_per_warp=threads_per_warp, num_ctas=num_ctas
    )
    capability = int(found[1])
    # Tensor maps are made by launches, and there are none.
    options = LoopOptions(num_warps=num_warps, num_stages=num_stages, tma_loads=NEVER, persist_programs=NEVER)
    return [*loop_passes_for(capability, options), convert, *passes_for(capability, options)]


register_pipeline("make-ttgir", make_ttgir)
