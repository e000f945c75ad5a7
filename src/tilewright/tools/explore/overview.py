"""The overview of a page: facts about the machine code that are known without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilewright.ir.line_places import PrintedLine
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

SPILL = re.compile(r"(\d+)-byte (?:Folded )?(Spill|Reload)")
"""LLVM's comment on an instruction that moves a register to the stack or back."""

_VECTOR_REGISTERS = {"x86_64": re.compile(r"%[xyz]mm(\d+)"), "aarch64": re.compile(r"\b[qv](\d+)\b")}


@dataclass(frozen=True)
class Fact:
    """One line of the overview; `number` is what versions are compared by."""

    label: str
    value: str
    note: str = ""
    number: float | None = None


@dataclass(frozen=True)
class Parameter:
    """One parameter of the kernel: its type, or what it is compiled for."""

    name: str
    type: str
    value: str = ""


def parameters_of(source: Any) -> list[Parameter]:
    """The signature of a kernel; of IR there is none but its text."""
    fn = getattr(source, "fn", None)
    if fn is None:
        return []
    constants = source.constants
    attributes = {path: dict(values) for path, values in source.paths(source.attrs).items()}
    parameters: list[Parameter] = []
    for index, (name, kind) in enumerate(source.full_signature().items()):
        if (index,) in constants:
            parameters.append(Parameter(name, "constexpr", _shown(constants[index,])))
        else:
            multiple = [f"a multiple of {v}" for v in _divisors(attributes.get((index,), {}))]
            parameters.append(Parameter(name, str(kind), ", ".join(multiple)))
    return parameters


def _divisors(attributes: Mapping[str, Any]) -> Iterator[int]:
    for name, value in attributes.items():
        if "divisibility" in name:
            yield int(value)


def _shown(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) < 40 else f"{text[:37]}..."


def cpu_facts(facts: TargetFacts, metadata: Mapping[str, Any], image: bytes, asm: Sequence[PrintedLine]) -> list[Fact]:
    """Facts of machine code for a CPU."""
    from tilewright.codegen.llvm_backend import code_bytes

    size = code_bytes(image)
    found = [Fact("machine code", _bytes(size), "with the micro-kernels and functions it calls", size)]
    pattern = _VECTOR_REGISTERS.get(facts.triple.partition("-")[0])
    if pattern is not None:
        used = {int(number) for line in asm for number in pattern.findall(line.text)}
        note = f"{facts.vector_bits} bits each"
        found.append(Fact("vector registers", f"{len(used)} of {facts.vector_registers}", note, len(used)))
    moved = [match for line in asm if (match := SPILL.search(line.text)) is not None]
    spilled = sum(int(match[1]) for match in moved if match[2] == "Spill")
    note = f"{len(moved)} instructions move registers to the stack and back" if moved else ""
    found.append(Fact("spilled registers", _bytes(spilled) if moved else "none", note, spilled))
    packed = int(metadata.get("pack_cache_bytes", 0))
    tiles = int(metadata.get("arena_bytes", 0)) - packed
    share = tiles / facts.l2_bytes
    note = f"{f'{share:.0%}' if share >= 0.01 else 'below 1%'} of the second-level cache" if tiles else ""
    found.append(Fact("tiles in memory", _bytes(tiles) if tiles else "none", note, tiles))
    if packed:
        note = "operands of matmuls in the order that they are read in, kept for the programs of a launch"
        found.append(Fact("packed operands", f"at most {_bytes(packed)}", note, packed))
    return found


def gpu_facts(capability: int, metadata: Mapping[str, Any], image: bytes) -> list[Fact]:
    """Facts of machine code, or of PTX where there was no ptxas."""
    from tilewright.codegen.nvptx.occupancy import occupancy

    threads, shared = int(metadata["num_threads"]), int(metadata["shared"])
    registers, spills = metadata.get("n_regs"), metadata.get("n_spills")
    known = registers is not None
    absent = "" if known else "ptxas, which was not found, would say"
    found = [Fact("threads of a CTA", str(threads), f"{threads // 32} warps", threads)]
    if known:
        found.append(Fact("machine code", _bytes(len(image)), "the whole cubin", len(image)))
    found.append(Fact("registers of a thread", str(registers) if known else "unknown", absent, registers))
    spilled = _bytes(4 * spills) if spills else "none" if known else "unknown"
    found.append(Fact("spilled registers", spilled, absent, spills))
    found.append(Fact("shared memory", _bytes(shared) if shared else "none", "", shared))
    held = occupancy(capability, warps=threads // 32, registers=registers, shared_bytes=shared)
    if held is not None:
        plural = "CTA" if held.ctas == 1 else "CTAs"
        note = f"{held.ctas} {plural} on a multiprocessor, limited by {held.limited_by}"
        note += "" if known else ", registers not counted"
        found.append(Fact("occupancy", f"{held.fraction:.0%}", note, held.fraction))
    return found


def _bytes(count: int) -> str:
    return f"{count} B" if count < 10_000 else f"{count / 1024:.1f} KiB" if count < 10 << 20 else f"{count >> 20} MiB"
