"""Machine texts of recordings: each line's source lines, and the facts of a page's overview."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import corpus_oracle as oracle  # pyright: ignore[reportMissingImports]
import pytest

from suite.sampling import part_of_today
from tilewright.codegen.nvptx.occupancy import Occupancy, occupancy
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.ir.line_places import PrintedLine
from tilewright.targets.base import find_target
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.explore.machine_text import read_machine_text
from tilewright.tools.explore.page import page_json
from tilewright.tools.explore.recording import Recording, record
from tilewright.tools.explore.roofline import gpu_roofline
from tilewright.tools.user_files import load_file

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def halved(x):
    return x * 0.5


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = halved(tl.load(x_ptr + offsets, mask=mask))
    tl.store(out_ptr + offsets, x, mask=mask)


if __name__ == "__main__":
    import numpy as np

    x = np.ones(1000, np.float32)
    kernel[(4,)](x, x.copy(), 1000, BLOCK=256)
"""
HALVED, LOAD, STORE = 7, 14, 15
SIGNATURE = "*fp32:16, *fp32:16, i32, 256"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("machine") / "halves.py"
    path.write_text(KERNEL)
    return path


def recorded(file: Path, target: str, arch: str | None = None) -> Recording:
    kernel: Any = load_file(file).kernel
    source = source_of(kernel, read_signature(SIGNATURE, kernel))
    return record(source, CompileOptions(arch=arch), find_target(target))


def lines_of(recording: Recording, name: str, pattern: str) -> list[PrintedLine]:
    found = [line for line in recording.emission.texts[name] if re.search(pattern, line.text)]
    assert found, pattern
    return found


def test_machine_code_of_a_cpu_knows_its_lines(file: Path) -> None:
    recording = recorded(file, "cpu")
    for name, multiply in (("llir", r"\bfmul\b"), ("asm", r"\bv?mulps|\bfmul\b")):
        places = {tuple(place.line for place in line.places) for line in lines_of(recording, name, multiply)}
        assert places == {(HALVED, LOAD)}, "the function that was inlined, and the line of its call"
        text = "\n".join(line.text for line in recording.emission.texts[name])
        assert not re.search(r"!dbg|!DI|\.loc\b|\.debug_|\.cfi_|\.Ltmp", text), "what only says so is left out"
        lines = {place.line for line in recording.emission.texts[name] for place in line.places}
        assert {HALVED, LOAD, STORE} <= lines
    facts = {fact.label: fact for fact in recording.emission.facts}
    assert (facts["machine code"].number or 0) > 100 and "vector registers" in facts


def test_ptx_knows_its_lines(file: Path) -> None:
    recording = recorded(file, "cuda", "sm90")
    assert {p.line for line in lines_of(recording, "ptx", r"ld\.global") for p in line.places} == {LOAD}
    assert {p.filename for line in recording.emission.texts["ptx"] for p in line.places} == {str(file)}
    assert {p.line for line in lines_of(recording, "ptx", r"st\.global") for p in line.places} == {STORE}
    assert {p.line for line in lines_of(recording, "ptx", r"mul\.") for p in line.places} >= {HALVED, LOAD}
    assert not any(re.search(r"\.loc\b|\.file\b|\.debug_", line.text) for line in recording.emission.texts["ptx"])
    facts = {fact.label: fact for fact in recording.emission.facts}
    assert facts["threads of a CTA"].number == 128 and "occupancy" in facts


def test_the_text_is_that_of_code_without_lines(file: Path) -> None:
    """Source lines do not change the code: but for numbers of labels, and comments, the assembly is the same."""
    kernel: Any = load_file(file).kernel
    target = find_target("cpu")
    source = source_of(kernel, read_signature(SIGNATURE, kernel))
    *_, (_, module) = lower(source, CompileOptions(), target)
    plain = read_machine_text("asm", target.assembly(target.emit(module).llir), {})
    shown = recorded(file, "cpu").emission.texts["asm"]

    def instructions(lines: Any) -> list[str]:
        codes = (re.sub(r"\s*#.*", "", line.text).strip() for line in lines if line.text[:1] == "\t")
        return [code for code in codes if code and not code.startswith(".")]

    assert instructions(shown) == instructions(plain)


def test_forms_of_directives() -> None:
    files = '\t.file\t0 "/home" "a.py" md5 0x12\n\t.file\t1 "/home" "b.py"\n'
    text = f"{files}f:\n\t.loc\t1 7 3 prologue_end\n\tret\n\t.loc\t0 0 0\n\tnop\n"
    code = [(line.text, [str(place) for place in line.places]) for line in read_machine_text("asm", text, {})]
    assert code == [("f:", []), ("\tret", ["/home/b.py:7:3"]), ("\tnop", [])]


def test_occupancy() -> None:
    """By hand from NVIDIA's tables: 64 warps, 32 CTAs, 65,536 registers and 228 KiB on a multiprocessor of 9.0."""
    assert occupancy(90, warps=4, registers=32, shared_bytes=0) == Occupancy(16, 1.0, "warps")
    assert occupancy(90, warps=4, registers=168, shared_bytes=0) == Occupancy(3, 3 / 16, "registers")
    assert occupancy(90, warps=8, registers=255, shared_bytes=200 << 10) == Occupancy(1, 1 / 8, "shared memory")
    assert occupancy(80, warps=1, registers=None, shared_bytes=0) == Occupancy(32, 0.5, "CTAs")
    assert occupancy(35, warps=1, registers=None, shared_bytes=0) is None


@pytest.mark.needs("gdb")
@pytest.mark.costly
def test_gdb_stops_at_lines_of_kernels(file: Path, tmp_path: Path) -> None:
    program = file.with_name("program.py")
    program.write_text(
        KERNEL.replace("import triton\n", "import tilewright as triton\n").replace(
            "triton.language", "tilewright.language"
        )
    )
    commands = tmp_path / "commands"
    commands.write_text(f"set breakpoint pending on\nset debuginfod enabled off\nbreak program.py:{LOAD}\nrun\nbt 2\n")
    environment = {
        "TILEWRIGHT_DEBUG_SYMBOLS": "1",
        "TILEWRIGHT_NUM_THREADS": "1",
        "TILEWRIGHT_CACHE_DIR": str(tmp_path),
    }
    command = ["gdb", "-batch", "-nx", "-x", str(commands), "--args", sys.executable, str(program)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)
    assert f"#0  kernel.program () at {program}:{LOAD}" in done.stdout.replace("at program.py", f"at {program}"), done


@pytest.mark.costly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="perf is Linux's")
def test_perf_knows_the_names_of_kernels(file: Path) -> None:
    """By the file that it reads: addresses and sizes in hexadecimal, then the name."""
    program = "\n".join((
        "import os, runpy, sys",
        "import tilewright.compat; tilewright.compat.install()",
        f"runpy.run_path({str(file)!r}, run_name='__main__')",
        "path = f'/tmp/perf-{os.getpid()}.map'; print(open(path).read()); os.remove(path)",
    ))  # fmt: skip
    environment = {**os.environ, "TILEWRIGHT_DEBUG_SYMBOLS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"[0-9a-f]{6,16} [0-9a-f]+ kernel", done.stdout.strip()), done


CASES = oracle.cases()
PARTS = 8
"""Runs on so many days in a row have shown every kernel of the corpus."""


@pytest.mark.parametrize(
    ("capability", "multiprocessors", "operations", "clock"),
    [(80, 108, 2048, 1.41e9), (86, 84, 1024, 1.74e9), (89, 142, 1024, 2.49e9), (90, 132, 4096, 1.83e9)],
)
def test_peaks_are_those_of_the_hardware(capability: int, multiprocessors: int, operations: int, clock: float) -> None:
    """Of the makers' papers: multiprocessors, dense float16 operations of each per cycle, and the boost clock."""
    roofline = gpu_roofline(capability)
    assert roofline is not None
    assert roofline.flops_per_second == pytest.approx(multiprocessors * operations * clock, rel=2e-3)


@pytest.mark.sampled
@pytest.mark.parametrize("file", oracle.files())
def test_pages_of_the_corpus(file: str, request: pytest.FixtureRequest) -> None:
    """Every kernel has a page to its end, with code that knows its lines: within eight days, with --long every case."""
    cases = [case for case in CASES if case.file == file]
    if not request.config.getoption("--long"):
        cases = list({case.kernel: case for case in reversed(cases)}.values())[part_of_today() % PARTS :: PARTS]
    for case in cases:
        signature, constants, attributes = oracle.arguments_of(case, "tilewright")
        source = ASTSource(oracle.kernel_of(case, "tilewright"), signature, constants, attributes)
        recording = record(source, CompileOptions(), find_target("cpu"))
        assert not recording.failure, case
        assert page_json(recording)
        assert any(line.places for line in recording.emission.texts["asm"]), case
        assert recording.work is not None, case
