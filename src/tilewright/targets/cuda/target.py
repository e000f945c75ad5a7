"""The CUDA target: stages from Triton IR to PTX, machine code from ptxas or the driver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from tilewright.ir.walking import ops_within
from tilewright.support import knobs
from tilewright.support.errors import NoAssemblerError
from tilewright.support.fingerprint import fingerprint
from tilewright.support.records import dataclass
from tilewright.targets.cuda.architecture import (
    MAX_REGISTERS,
    asked_architecture,
    check_options,
    present_architecture,
)
from tilewright.targets.cuda.failures import GET_PTXAS
from tilewright.targets.cuda.kernel import CudaKernel
from tilewright.targets.cuda.loaded_kernel import KernelFacts

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.codegen.nvptx.facts import NvptxFacts
    from tilewright.codegen.nvptx.ptxas import Assembled
    from tilewright.ir.passes import Pass
    from tilewright.language.context import CodegenOptions
    from tilewright.lowering.ttg_to_llvm import DeviceModule

FP8_OF_ADA = ("fp8e4b15", "fp8e4nv", "fp8e5")
FP8_OF_AMPERE = ("fp8e4b15", "fp8e5")


@dataclass(frozen=True)
class CudaArtefact:
    """Machine code of one kernel (or its PTX, where no ptxas was found)."""

    llir: str
    ptx: str
    object: bytes
    entry: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def texts(self) -> dict[str, str]:
        """The texts that are cached beside the machine code, by stage."""
        return {"ptx": self.ptx}


class CudaTarget:
    """Compiles for one GPU architecture under the options of one compilation; see `configured`."""

    name = "cuda"
    assembly_key = "ptx"
    image_key = "cubin"

    def __init__(self, capability: int | None = None, options: Any = None, reserved_bytes: int = 0) -> None:
        self._capability = capability
        self._options = options
        self._reserved_bytes = reserved_bytes
        """Shared memory that loops leave to what else a program needs, see `room`."""

    def configured(self, options: Any) -> CudaTarget:
        """The target of a compilation: its architecture and its options are known. Raises OutOfThreads, ValueError and
        TargetError for options that the architecture does not have."""
        capability = asked_architecture(options.arch) or self._capability or self._present()
        check_options(options, capability)
        return type(self)(capability, options, self._reserved_bytes)

    def with_more_room(self, module: ModuleOp) -> CudaTarget | None:
        """The target with which a kernel takes less shared memory, where a module at the ttg stage takes too much of it
        for what we made of its loops; else None."""
        from tilewright.targets.cuda.room import find_reserve

        reserved = find_reserve(module, self._reserved_bytes, self.facts.shared_bytes_limit)
        return None if reserved is None else type(self)(self._capability, self._options, reserved)

    def _present(self) -> int:
        return present_architecture()

    def on_device(self, ordinal: int) -> CudaTarget:
        """The target for one of this machine's GPUs."""
        return _target_for(present_architecture(ordinal))

    @cached_property
    def facts(self) -> NvptxFacts:
        from tilewright.codegen.nvptx.facts import nvptx_facts

        version = self._options.ptx_version if self._options is not None else None
        capability = self._capability or asked_architecture(None) or self._present()
        return nvptx_facts(capability, ptx_version=version)

    def fingerprint(self) -> str:
        """Return what machine code depends on: architecture, LLVM, ptxas, NVIDIA's math library."""
        from tilewright.codegen import llvm_backend
        from tilewright.codegen.nvptx.libdevice import libdevice_identity
        from tilewright.codegen.nvptx.ptxas import ptxas_version

        facts = self.facts
        parts = (self.name, facts.cpu, facts.ptx_version, llvm_backend.version(), ptxas_version(), libdevice_identity())
        return fingerprint(*parts)

    def codegen_options(self, options: Any) -> CodegenOptions:
        """Return what the front end needs to know, from the options of a compilation."""
        from tilewright.language.context import CodegenOptions

        capability = self.facts.capability
        is_hopper = capability >= 90
        return CodegenOptions(
            target_name="cuda",
            arch=capability,
            num_warps=options.num_warps,
            num_ctas=options.num_ctas,
            num_stages=options.num_stages,
            warp_size=32,
            debug=bool(options.debug),
            sanitize_overflow=bool(options.sanitize_overflow),
            default_dot_input_precision=knobs.get("f32_default") or options.default_dot_input_precision,
            allowed_dot_input_precisions=options.allowed_dot_input_precisions,
            supported_fp8_dtypes=FP8_OF_ADA if capability >= 89 else FP8_OF_AMPERE,
            deprecated_fp8_dot_operand_dtypes=("fp8e4b15",) if is_hopper else (),
            max_num_imprecise_acc_default=_imprecise_accumulation(options, capability),
            enable_fp_fusion=bool(options.enable_fp_fusion),
            min_dot_size=(1, 1, 16),
        )

    def stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after the front end, in order: name in `kernel.asm`, and the passes that lead there."""
        from tilewright.targets.cuda.pipeline import stages

        return stages(self.facts.capability, self._options, self._reserved_bytes)

    def gluon_stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after Gluon's front end."""
        from tilewright.targets.cuda.pipeline import gluon_stages

        return gluon_stages()

    def late_stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The passes that emission starts with, for tools that run modules after every pass."""
        from tilewright.targets.cuda.pipeline import memory_passes

        return (("memory", memory_passes()),)

    def emit(self, module: ModuleOp) -> CudaArtefact:
        """Machine code of a module at the ttg stage. Raises PassError, OutOfResources, AssemblerError."""
        device, llir, ptx = self._emit_ptx(module)
        facts = self._kernel_facts(module, device)
        assembled = self._assemble(ptx)
        if assembled is None:
            facts["is_text"] = True
            return CudaArtefact(llir, ptx, ptx.encode(), device.kernel, facts)
        facts |= {"n_regs": assembled.registers, "n_spills": assembled.spill_bytes // 4}
        return CudaArtefact(llir, ptx, assembled.image, device.kernel, facts)

    def _emit_ptx(self, module: ModuleOp) -> tuple[DeviceModule, str, str]:
        """Return what there is to know of the kernel, its LLVM text and its PTX."""
        from xdsl.dialects.builtin import IntegerAttr, i32

        from tilewright.codegen.nvptx.emitter import NvptxEmitter
        from tilewright.codegen.nvptx.target_machine import FLUSH_FLAG, emit_ptx
        from tilewright.lowering.ttg_to_llvm import lower_module
        from tilewright.targets.cuda.driver import check_shared_memory
        from tilewright.targets.cuda.pipeline import lower_memory
        from tilewright.transforms.ttg.allocate_shared_memory import set_minimum_shared_memory

        if self._register_limit is not None:
            module.attributes["ttg.maxnreg"] = IntegerAttr(self._register_limit, i32)
        lower_memory(module, self.facts)
        if self._options is not None and self._options.min_shared_mem is not None:
            set_minimum_shared_memory(module, self._options.min_shared_mem)
        line_info = not knobs.get("disable_line_info")
        device = lower_module(module, self.facts, NvptxEmitter(self.facts), line_info=line_info)
        check_shared_memory(device.shared_bytes, self.facts.shared_bytes_limit)
        if self._options is None or self._options.enable_reflect_ftz:
            device.text.add_named_metadata("llvm.module.flags", device.text.metadata(FLUSH_FLAG))
        llir = str(device.text)
        ptx = emit_ptx(
            llir,
            self.facts,
            uses_libdevice=device.uses_libdevice,
            bitcode_paths=[*device.bitcode_paths, *self._libraries()],
            verify=knobs.get("verify_each"),
            dump=knobs.get("llvm_dump"),
        )
        return device, llir, ptx

    @property
    def _register_limit(self) -> int | None:
        """The registers that `maxnreg` leaves a thread. More than a thread can name limit nothing, as ptxas has it."""
        limit = None if self._options is None else self._options.maxnreg
        return None if limit is None or limit > MAX_REGISTERS else limit

    def _libraries(self) -> list[str]:
        """The user's bitcode, less what the kernel cannot want."""
        return [path for _, path in self._options.extern_libs] if self._options is not None else []

    def _assemble(self, ptx: str) -> Assembled | None:
        """Machine code from ptxas, None where there is no ptxas."""
        from tilewright.codegen.nvptx.ptxas import assemble, find_ptxas

        options = self._options
        fuses = options is None or options.enable_fp_fusion
        extra = ((options.ptx_options if options is not None else None) or knobs.get("ptxas_options")).split()
        if find_ptxas() is None:
            if extra:
                raise NoAssemblerError(f"the options {' '.join(extra)} are for ptxas, which is not there; {GET_PTXAS}")
            return None
        return assemble(ptx, self.facts, fp_fusion=fuses, options=extra)

    def _kernel_facts(self, module: ModuleOp, device: DeviceModule) -> dict[str, Any]:
        from tilewright.dialects import tt
        from tilewright.targets.cuda.parameters import describe_parameters

        options = self._options
        return KernelFacts(
            entry=device.kernel,
            num_threads=32 * device.num_warps,
            num_ctas=device.num_ctas,
            shared=device.shared_bytes,
            parameters=describe_parameters(
                [p.type for p in device.parameters], [p.attributes for p in device.parameters]
            ),
            takes_scratch=device.global_scratch_bytes > 0,
            scratch_bytes=device.global_scratch_bytes,
            may_assert=any(isinstance(op, tt.AssertOp) for op in ops_within(module)),
            is_cooperative=options is not None and options.launch_cooperative_grid,
            is_dependent=options is not None and options.launch_pdl,
            max_registers=self._register_limit,
        ).to_json()

    def assembly(self, llir: str) -> str:
        """PTX of the LLVM text that an artefact carries."""
        from tilewright.codegen.nvptx.target_machine import emit_ptx

        return emit_ptx(llir, self.facts, uses_libdevice="@__nv_" in llir, bitcode_paths=self._libraries())

    def load(self, image: bytes, metadata: dict[str, Any]) -> CudaKernel:
        """The kernel of an image, which is loaded on a GPU at its first launch; `metadata` is the artefact's, with
        `entry` added."""
        return CudaKernel(KernelFacts.from_json(metadata), image)


@lru_cache(maxsize=8)
def _target_for(capability: int) -> CudaTarget:
    return CudaTarget(capability)


def _imprecise_accumulation(options: Any, capability: int) -> int:
    """Sums of float8 products that wgmma may keep in its own, less precise form: as many as it likes, on Hopper."""
    if options.max_num_imprecise_acc_default is not None:
        return options.max_num_imprecise_acc_default
    return 2**30 if capability // 10 == 9 else 0
