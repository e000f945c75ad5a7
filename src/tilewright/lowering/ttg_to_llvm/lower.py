"""A module at the ttg stage, after allocation and barriers, becomes LLVM IR text for NVPTX.

```mlir
module attributes {"ttg.num-warps" = 4 : i32, ttg.shared = 512 : i32, ttg.target = "cuda:90"} {
  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) { ... }
```
```llvm
@global_smem = external addrspace(3) global [0 x i8], align 1024
define ptx_kernel void @k(ptr addrspace(1) noundef align 16 %a0, i32 noundef %a1) #0 { ... }
attributes #0 = { nounwind "nvvm.reqntid"="128" }
```

A kernel's parameters are those of its `tt.func`, then one global scratch pointer where scratch is used. Shared memory
is one dynamic array of `DeviceModule.shared_bytes`. Functions that are not inlined get the address of their part of it
(and the scratch pointer) as last parameters.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.located_text import LocatedFunctionText
from tilewright.codegen.nvptx.emitter import NvptxEmitter
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.names import ptx_name
from tilewright.dialects import tt
from tilewright.dialects.attributes import NO_FP_FUSION
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.debug_info import DebugInfo, Emission
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.module_lowering import FunctionShape, GpuModuleLowering
from tilewright.lowering.ttg_to_llvm.parameters import (
    SCRATCH_PARAMETER,
    SHARED_PARAMETER,
    KernelParameter,
    function_parameters,
    kernel_parameters,
    result_type,
)
from tilewright.lowering.ttg_to_llvm.warp_specialize_ops import workers_of
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.modules import import_modules
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.allocate_shared_memory import WORKER_STATE
from tilewright.transforms.ttg.allocate_warp_groups import TOTAL_NUM_WARPS

SHARED_SYMBOL = "@global_smem"


@dataclass(frozen=True)
class DeviceModule:
    """LLVM IR of a module, and what a launch needs to know."""

    text: ModuleText
    kernel: str
    parameters: tuple[KernelParameter, ...]
    num_warps: int
    """Warps to launch per CTA, those of partitions included."""
    num_ctas: int
    shared_bytes: int
    global_scratch_bytes: int
    """Global memory per program (of the whole grid) that the last parameter points to; 0 if there is no such
    parameter."""
    uses_libdevice: bool
    """Whether functions of NVIDIA's math library are to be linked in."""
    bitcode_paths: tuple[str, ...] = ()
    """Further files of LLVM bitcode to link in."""


def lower_module(module: ModuleOp, facts: NvptxFacts, emitter: NvptxEmitter, *, line_info: bool = True) -> DeviceModule:
    """Lower a module at the ttg stage. Raises PassError for an op that has no lowering."""
    import_modules("tilewright.lowering.ttg_to_llvm")  # whose functions fill the table
    text = ModuleText(triple=facts.triple)
    functions = [op for op in module.body.block.ops if isinstance(op, tt.FuncOp) and op.body.blocks]
    kernel = _find_kernel(module, functions)
    num_warps = _integer(module, "ttg.num-warps", 4)
    lowering = GpuModuleLowering(
        text,
        facts,
        emitter,
        DebugInfo(text, Emission.DIRECTIVES if line_info else Emission.NOTHING),
        num_warps,
        num_ctas=_integer(module, "ttg.num-ctas", 1),
        axis_info=ModuleAxisInfo(module),
        functions={function.sym_name.data: _shape_of(function) for function in functions},
        total_warps=_integer(module, TOTAL_NUM_WARPS, num_warps),
        global_scratch_bytes=_integer(module, "ttg.global_scratch_memory_size", 0),
        fuses=NO_FP_FUSION not in module.attributes,
    )
    text.add_global(f"{SHARED_SYMBOL} = external addrspace(3) global [0 x i8], align 1024")
    for function in functions:
        _lower_function(lowering, function, _kernel_attributes(lowering, module), function is kernel)
    return DeviceModule(
        text=text,
        kernel=ptx_name(kernel.sym_name.data, is_kernel=True),
        parameters=kernel_parameters(kernel),
        num_warps=lowering.total_warps,
        num_ctas=lowering.num_ctas,
        shared_bytes=_integer(module, "ttg.shared", 0),
        global_scratch_bytes=lowering.global_scratch_bytes,
        uses_libdevice=lowering.needs.uses_libdevice,
        bitcode_paths=tuple(lowering.needs.bitcode_paths),
    )


def _shape_of(function: tt.FuncOp) -> FunctionShape:
    type = function.function_type
    return FunctionShape(function.sym_name.data, tuple(type.inputs.data), tuple(type.outputs.data))


def _integer(module: ModuleOp, name: str, default: int) -> int:
    attribute = module.attributes.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else default


def _state_offset(kernel: tt.FuncOp) -> int:
    module = kernel.parent_op()
    return _integer(module, WORKER_STATE, 0) if isinstance(module, ModuleOp) else 0


def _find_kernel(module: ModuleOp, functions: list[tt.FuncOp]) -> tt.FuncOp:
    """The first function with a body that is not private."""
    for op in functions:
        if op.is_public:
            return op
    raise op_error(module, "needs a public function as the kernel, has none", pass_name=PASS_NAME)


def _kernel_attributes(lowering: GpuModuleLowering, module: ModuleOp) -> str:
    attributes = ["nounwind", f'"nvvm.reqntid"="{32 * lowering.total_warps}"']
    if lowering.num_ctas > 1:
        attributes.append(f'"nvvm.cluster_dim"="{lowering.num_ctas}"')
    max_registers = _integer(module, "ttg.maxnreg", 0)
    if max_registers:
        attributes.append(f'"nvvm.maxnreg"="{max_registers}"')
    return lowering.text.attributes(" ".join(attributes))


def _lower_function(lowering: GpuModuleLowering, op: tt.FuncOp, kernel_attributes: str, is_kernel: bool) -> None:
    name = ptx_name(op.sym_name.data, is_kernel=is_kernel)
    try:
        parameters, arguments = function_parameters(op, is_kernel=is_kernel, scratch=lowering.global_scratch_bytes > 0)
        result = result_type(op.function_type.outputs.data)
    except UnsupportedError as error:
        raise op_error(op, str(error), pass_name=PASS_NAME) from error
    attributes = kernel_attributes if is_kernel else lowering.text.attributes("noinline nounwind")
    debug = lowering.debug.begin_function(name, op.location)
    text = LocatedFunctionText(
        lowering.text,
        name,
        result,
        parameters,
        linkage="ptx_kernel" if is_kernel else "internal",
        attributes=f"{attributes} {debug}".rstrip(),
    )
    fn = GpuFunctionLowering(
        lowering, text, is_kernel=is_kernel, shared_base=SHARED_SYMBOL if is_kernel else SHARED_PARAMETER
    )
    fn.scratch_base = SCRATCH_PARAMETER if lowering.global_scratch_bytes else None
    entry = op.body.blocks.first
    assert entry is not None
    text.debug_suffix = lowering.debug.suffix(op, name)
    fn.bind_flat(entry.args, iter(arguments))
    workers = workers_of(fn, op, _state_offset(op)) if is_kernel else None
    if workers is None:
        fn.lower_blocks(entry)
    else:
        fn.workers = workers
        workers.begin()
        fn.lower_blocks(entry)
        workers.finish()
    lowering.text.add_function(text)
