"""What TritonGPU IR costs, ours and official Triton's side by side: conversions of layouts, shared memory, buffers,
widths of accesses.

`python tests/kernels/ttgir_table.py [--arch 80 90] [--only NAME] [--all] [--out FILE]` (`make ttgir-table`) writes the
table of the kernels whose names contain NAME, with `--all` for all argument lists of the corpus;
`test_ttgir_against_triton.py` checks it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import corpus_oracle
from ttgir_cases import GpuCase, gpu_cases
from ttgir_oracle import Official, official
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.analysis.scratch import storage_bits
from tilewright.dialects import make_context, tt, ttg, ttng
from tilewright.dialects.tt.types import is_tensor, pointee_like
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.types import as_tensor
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.support import knobs
from tilewright.targets.cuda.pipeline import stages

MAX_VECTOR_BITS = 128

Access = tuple[str, tuple[int, ...], str]
"""What an access is: reads or writes (by tensor maps or not), of which shape, of which elements."""


@dataclass(frozen=True)
class Cost:
    """Numbers of one module."""

    conversions: int
    shared: int
    buffers: int
    """In shared memory; one of several slots counts as so many."""
    widths: dict[Access, int] = field(default_factory=dict[Access, int])
    """Bits of the narrowest access of each kind. A copy by a tensor map is as wide as can be."""

    def worse_than(self, other: Cost) -> list[str]:
        """In which numbers this cost is above (widths: below) another."""
        found: list[str] = []
        if self.conversions > other.conversions:
            found.append(f"{self.conversions} conversions, Triton {other.conversions}")
        if self.shared > other.shared:
            found.append(f"{self.shared} bytes of shared memory, Triton {other.shared}")
        return found + self.narrower_than(other)

    def narrower_than(self, other: Cost) -> list[str]:
        """Which accesses are less wide than another module's, or are by registers where the other's are not."""
        found: list[str] = []
        for access, wanted in other.widths.items():
            width = self.widths.get(access)
            if width is None or width < wanted:
                kind, shape, element = access
                name = f"{kind} of {'x'.join(map(str, shape))}x{element}"
                found.append(f"no {name}" if width is None else f"{name} by {width} bits, Triton {wanted}")
        return found


def our_module(case: GpuCase, capability: int) -> ModuleOp:
    """The kernel as our GPU target compiles it, up to TritonGPU IR, for one program a CTA, as official Triton's: a loop
    over programs copies by TMA and takes the shared memory that it finds.
    """
    module = corpus_oracle.our_module(case.case)
    options = SimpleNamespace(num_warps=case.num_warps, num_ctas=1, num_stages=case.num_stages)
    with knobs.scope(persist_programs="never"):
        for _, passes in stages(capability, options):
            PassPipeline(passes).run(module, PassContext())
    return module


def official_module(found: Official) -> ModuleOp:
    """Official Triton's TritonGPU IR of a kernel."""
    return parse_module(found.ttgir, make_context())


def cost_of(module: ModuleOp, shared: int | None = None) -> Cost:
    """The numbers of a module; shared memory is allocated to count it, unless it is given."""
    conversions = sum(isinstance(op, ttg.ConvertLayoutOp) for op in module.walk())
    buffers = sum(_slots(op) for op in module.walk() if isinstance(op, ttg.LocalAllocOp))
    taken = ModuleAllocation(module).shared_bytes if shared is None else shared
    return Cost(conversions, taken, buffers, _widths(module))


def _slots(op: ttg.LocalAllocOp) -> int:
    """How many tiles a buffer holds."""
    type_ = as_memdesc(op.result.type)
    shape = type_.get_shape()
    return shape[0] if len(shape) > ttg.shared_layout_of(type_.encoding).rank else 1


def _widths(module: ModuleOp) -> dict[Access, int]:
    info = ModuleAxisInfo(module)
    widths: dict[Access, int] = {}
    for op in module.walk():
        for access, width in _accesses(op, info):
            widths[access] = min(widths.get(access, MAX_VECTOR_BITS), width)
    return widths


def _accesses(op: Operation, info: ModuleAxisInfo) -> Iterator[tuple[Access, int]]:
    """The accesses of an op to global memory by tensors, and their widths in bits."""
    match op:
        case tt.LoadOp() if is_tensor(op.ptr.type):
            yield _by_pointers("load", op.ptr, op.mask, info)
        case ttg.AsyncCopyGlobalToLocalOp():
            yield _by_pointers("load", op.src, op.mask, info)
        case tt.StoreOp() if is_tensor(op.ptr.type):
            yield _by_pointers("store", op.ptr, op.mask, info)
        case ttng.AsyncTMACopyGlobalToLocalOp():
            yield _by_tensor_map("TMA load", op.result), MAX_VECTOR_BITS
        case ttng.AsyncTMACopyLocalToGlobalOp():
            yield _by_tensor_map("TMA store", op.src), MAX_VECTOR_BITS
        case _:
            return


def _by_pointers(kind: str, pointers: SSAValue, mask: SSAValue | None, info: ModuleAxisInfo) -> tuple[Access, int]:
    memory = as_tensor(pointee_like(pointers.type))
    elements = info.pointer_contiguity(pointers)
    if mask is not None:
        elements = min(elements, info.mask_alignment(mask))
    return (kind, memory.get_shape(), str(memory.element_type)), min(elements * storage_bits(memory), MAX_VECTOR_BITS)


def _by_tensor_map(kind: str, buffer: SSAValue) -> Access:
    type_ = as_memdesc(buffer.type)
    return kind, type_.get_shape(), str(type_.element_type)


def rows_of(capability: int, cases: Sequence[GpuCase]) -> Iterator[str]:
    """The table of one architecture, as Markdown, line by line."""
    theirs = official(capability, cases)
    yield "| kernel | conversions | shared bytes | buffers | accesses that differ |"
    yield "|---|---|---|---|---|"
    for case in cases:
        if str(case) not in theirs:
            continue
        found = theirs[str(case)]
        ours, other = cost_of(our_module(case, capability)), cost_of(official_module(found), found.shared)
        narrower, wider = ours.narrower_than(other), other.narrower_than(ours)
        remarks = "; ".join(narrower + (["ours are wider"] if wider else []))
        pairs = [(ours.conversions, other.conversions), (ours.shared, other.shared), (ours.buffers, other.buffers)]
        numbers = [str(a) if a == b else f"**{a}** / {b}" if a > b else f"{a} / {b}" for a, b in pairs]
        yield f"| {case} | {' | '.join(numbers)} | {remarks} |"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", type=int, nargs="+", default=[80, 90], help="compute capabilities")
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--all", action="store_true", help="all argument lists of the corpus, not one of each kernel")
    parser.add_argument("--out", type=Path, help="a Markdown file; by default the standard output")
    options = parser.parse_args()
    cases = [case for case in gpu_cases() if options.only in str(case) and (options.all or case.is_sample)]
    out = options.out.open("w") if options.out else sys.stdout
    print(HEADER.format(importlib.metadata.version("triton")), file=out)
    for capability in options.arch:
        print(f"\n## cuda:{capability}\n", file=out)
        for row in rows_of(capability, cases):
            print(row, file=out, flush=True)


HEADER = """# TritonGPU IR: ours and official Triton {}'s

Ours / Triton's where they differ, bold where ours is larger. Conversions are `ttg.convert_layout` ops, shared bytes
what a program takes (`ttg.shared`), buffers the tiles that have memory of their own. Widths of accesses to global
memory are compared one by one; the last column has those that differ. `make ttgir-table` writes this file, without the
kernels that this Triton refuses (block pointers); the exceptions and their reasons are in
`tests/kernels/test_ttgir_against_triton.py`, which asks the Triton that is installed."""


if __name__ == "__main__":
    main()
