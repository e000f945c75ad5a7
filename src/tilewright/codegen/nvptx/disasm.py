"""Machine code of NVIDIA GPUs as text, with its control codes: what Triton calls `triton.tools.disasm`.

    get_sass(kernel.asm["cubin"])

    Function:add
    --:-:0:-:1	S2R R3, SR_TID.X;
    01:-:-:Y:5	@P1 BRA LBB0;

In front of an instruction stand the barriers that it waits for (a mask of six), the one that it sets when its operands
are read, the one that it sets when its results are written, whether its warp may give way, and for how many cycles the
next one waits; labels are numbered by the branches to them. The disassembler is NVIDIA's `cuobjdump`.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from tilewright.codegen.nvptx.ptxas import find_program
from tilewright.support.errors import AssemblerError, NoAssemblerError
from tilewright.support.records import dataclass

PROGRAM = "cuobjdump"
INSTRUCTION_BYTES = 16
NO_BARRIER = 7

_FUNCTION = re.compile(r"\s*Function : (\S+)")
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s*(.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/")
_CONTROL = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_BRANCH = re.compile(r"(.*\bBRA(?:\.\w+)* (?:!?U?P\w+, )*)0x([0-9a-f]+)$")


@dataclass(frozen=True)
class Instruction:
    text: str
    control: int
    """The upper word of its encoding."""

    @property
    def codes(self) -> str:
        """`waits:read:written:yield:stall`."""
        waits, read, written = self.control >> 52 & 63, self.control >> 49 & 7, self.control >> 46 & 7
        barriers = [f"{waits:02d}" if waits else "--", *("-" if b == NO_BARRIER else str(b) for b in (read, written))]
        gives_way = "-" if self.control >> 45 & 1 else "Y"
        return ":".join([*barriers, gives_way, f"{self.control >> 41 & 15:x}"])


@lru_cache(maxsize=64)
def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The text of all functions of a cubin, or of one. Raises NoAssemblerError, AssemblerError."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin_asm)
        file.flush()
        return extract(file.name, fun)


def extract(file_path: str | Path, fun: str | None = None) -> str:
    """As `get_sass`, of a file."""
    chosen = [] if fun is None else ["-fun", fun]
    done = subprocess.run(
        [path_to_cuobjdump(), *chosen, "-sass", str(file_path)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssemblerError(f"{PROGRAM} cannot read {file_path}", done.stderr or done.stdout)
    return "".join(f"Function:{name}\n{_render(body)}\n" for name, body in _functions(done.stdout.splitlines()))


def path_to_cuobjdump() -> str:
    """Return where the disassembler lies. Raises NoAssemblerError."""
    path = find_program(PROGRAM)
    if path is None:
        raise NoAssemblerError(f"there is no {PROGRAM} on this machine; install a CUDA toolkit, or official Triton")
    return str(path)


def _functions(lines: Iterable[str]) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions of a dump; each instruction is a line with its lower word, and one with the upper."""
    name, body, text = "", list[Instruction](), ""
    for line in lines:
        if match := _FUNCTION.match(line):
            if name:
                yield name, body
            name, body, text = match.group(1), [], ""
        elif match := _INSTRUCTION.match(line):
            text = match.group(1)
        elif text and (match := _CONTROL.match(line)):
            body.append(Instruction(text, int(match.group(1), 16)))
            text = ""
    if name:
        yield name, body


def _render(body: list[Instruction]) -> str:
    branches = [_BRANCH.match(instruction.text) for instruction in body]
    targets = dict.fromkeys(int(match.group(2), 16) for match in branches if match)
    labels = {target: f"LBB{index}" for index, target in enumerate(targets)}
    lines: list[str] = []
    for index, (instruction, branch) in enumerate(zip(body, branches, strict=True)):
        if label := labels.get(index * INSTRUCTION_BYTES):
            lines.append(f"{label}:\n")
        text = instruction.text if branch is None else branch.group(1) + labels[int(branch.group(2), 16)]
        lines.append(f"{instruction.codes}\t{text};\n")
    return "".join(lines)
