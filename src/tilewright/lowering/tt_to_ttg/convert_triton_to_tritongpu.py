"""The pass convert-triton-to-tritongpu."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.construction import i32_attr
from tilewright.dialects.ttg.verification import NUM_CTAS, NUM_WARPS, TARGET, THREADS_PER_WARP, integer_attribute
from tilewright.dialects.types import is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.stages import TTG, check_stage
from tilewright.ir.walking import ops_within
from tilewright.lowering.tt_to_ttg import special_ops
from tilewright.lowering.tt_to_ttg.assign_layouts import LayoutAssignment, ProgramSize

MAX_THREADS = 1024
"""Threads of a CTA that CUDA devices run."""

MAX_CTAS = 16
"""CTAs of a cluster that CUDA devices run."""

_DEVICE = re.compile(r"cuda:[1-9]\d+|(?!cuda:)[a-z]\w*:\w+")

__all__ = ["ConvertTritonToTritonGPUPass", "special_ops"]


@register_pass
class ConvertTritonToTritonGPUPass(Pass):
    """Gives every tensor a layout, and records the device and the number of threads in the module.

    ```mlir
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %c = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    // becomes
    #blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
    #blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %s = ttg.convert_layout %r : tensor<64xi32, #blocked> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked1}>>
    %c = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32, #ttg.slice<...>> -> tensor<64x1xi32, #blocked1>
    %d = ttg.convert_layout %c : tensor<64x1xi32, #blocked1> -> tensor<64x1xi32, #blocked2>
    ```
    Between ops, every tensor has the default layout of its shape. Tensors that already have a layout keep it.
    """

    name = "convert-triton-to-tritongpu"
    takes = ("tt", "ttg")

    target: str = ""
    """The device, as `cuda:80`, or `KIND:MACHINE` of another back end."""
    num_warps: int = 4
    """Warps of a CTA."""
    threads_per_warp: int = 32
    """Lanes of a warp."""
    num_ctas: int = 1
    """CTAs of a cluster."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        size = self._check(module, context)
        stated: dict[str, Attribute] = {
            NUM_CTAS: i32_attr(size.num_ctas),
            NUM_WARPS: i32_attr(size.num_warps),
            TARGET: StringAttr(self.target),
            THREADS_PER_WARP: i32_attr(size.num_lanes),
        }
        for name in stated:
            module.attributes.pop(name, None)
        module.attributes.update(stated)
        for op in tuple(module.ops):
            if isinstance(op, tt.FuncOp):
                own = integer_attribute(op, NUM_WARPS)
                here = size if own is None else ProgramSize(own, size.num_lanes, size.num_ctas)
                LayoutAssignment(here).run_on_function(op)
        check_stage(module, TTG, pass_name=self.name)

    def _check(self, module: ModuleOp, context: PassContext) -> ProgramSize:
        if not self.target:
            context.fail(module, f"'{self.name}' requires 'target' option to be specified, e.g. cuda:90")
        if _DEVICE.fullmatch(self.target) is None:
            context.fail(
                module,
                f"unknown target '{self.target}'; expected cuda:CAPABILITY, e.g. cuda:90, or KIND:MACHINE of another "
                "back end",
            )
        for name, value, most in (
            ("num-warps", self.num_warps, MAX_THREADS // 32),
            ("threads-per-warp", self.threads_per_warp, 64),
            ("num-ctas", self.num_ctas, MAX_CTAS),
        ):
            if value <= 0 or value & (value - 1) or value > most:
                context.fail(module, f"{name} must be a power of two up to {most}, got {value}")
        for name, value in ((NUM_WARPS, self.num_warps), (THREADS_PER_WARP, self.threads_per_warp)):
            stated = integer_attribute(module, name)
            if stated is not None and stated != value:
                context.fail(module, f"the module states {name} = {stated}, the options {value}")
        for op in ops_within(module):
            stated = integer_attribute(op, NUM_WARPS) if isinstance(op, tt.FuncOp) else None
            if stated is not None and (stated <= 0 or stated & (stated - 1) or stated > MAX_THREADS // 32):
                context.fail(op, f"{NUM_WARPS} must be a power of two up to {MAX_THREADS // 32}, got {stated}")
            if isinstance(op, tt.MakeTensorPtrOp | tt.AdvanceOp):
                context.fail(
                    op, "block pointers are rewritten before layouts are assigned (triton-rewrite-tensor-pointer)"
                )
            if any(is_tensor(value.type) and not value.type.get_shape() for value in op.results):
                context.fail(op, "tensors without dimensions have no layout: use scalars")
        return ProgramSize(self.num_warps, self.threads_per_warp, self.num_ctas)
