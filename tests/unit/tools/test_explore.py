"""`tilewright explore`: what it keeps of a compilation, prints in the terminal, and writes into a page."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tilewright.compiler.options import CompileOptions
from tilewright.runtime.jit import JITFunction
from tilewright.targets.base import find_target
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.cli import main
from tilewright.tools.explore.page import render_page
from tilewright.tools.explore.recording import FRONT_END, Recording, record
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
    tl.store(out_ptr + offsets, tl.cumsum(x, 0), mask=mask)
"""
LOAD, HALVED = 14, 7
"""Lines of the kernel's load, and of the function that it calls."""

SIGNATURE = "*fp32:16, *fp32:16, i32:16, 256"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored") / "scan.py"
    path.write_text(KERNEL)
    return path


@cache
def recorded(file: Path, target: str, arch: str | None = None, signature: str = SIGNATURE) -> Recording:
    kernel: Any = load_file(file).kernel
    assert isinstance(kernel, JITFunction)
    source = source_of(kernel, read_signature(signature, kernel))
    return record(source, CompileOptions(arch=arch), find_target(target))


def test_every_pass_is_kept(file: Path) -> None:
    recording = recorded(file, "cpu")
    assert list(recording.stages) == ["source", "ttir", "structured", "linalg", "loops"]
    assert recording.steps[0].name == FRONT_END
    assert [step.name for step in recording.steps if step.stage == "structured"] == [
        "inline{insists-on-pointers=true}", "lift-cf-to-scf",
        "triton-rewrite-tensor-descriptor-to-pointer{unit-inner-stride=true}",
        "triton-expand-atomics", "triton-print-addresses", "triton-inline-ptx-to-arith{insists=true}",
        "triton-divide-aligned-tiles", "triton-fold-comparisons", "triton-narrow-comparisons",
        "triton-to-structured", "cse", "canonicalize",
    ]  # fmt: skip
    changed = {step.name for step in recording.steps if step.is_changed}
    assert {"triton-to-structured", "triton-arith-to-linalg", "linalg-to-loops"} <= changed
    assert "triton-rewrite-tensor-pointer" not in changed
    assert list(recording.emission.texts) == ["llir", "asm"]
    assert not recording.failure
    assert all(step.summary for step in recording.steps[1:])


def test_lines_come_from_the_source(file: Path) -> None:
    """Down to the loops, through a function that was inlined, which also counts for the line of its call."""
    for stage, step in recorded(file, "cpu").stages.items():
        loads = [
            line for line in step.lines if re.search(r"\b(tt|tts|memref|vector)\.((masked)?load|copy)\b", line.text)
        ]
        assert any(place.line == LOAD for line in loads for place in line.places), stage
        halves = [line for line in step.lines if "arith.mulf" in line.text]
        assert halves, stage
        called = {place.line for line in halves for place in line.places}
        assert called == ({HALVED} if stage == "source" else {HALVED, LOAD}), stage


def data_in(page: str) -> dict[str, Any]:
    """What a page shows."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found.group(1))


def test_the_page_needs_nothing_else(file: Path) -> None:
    page = render_page(recorded(file, "cpu"))
    data = data_in(page)
    assert not re.search(r'(src|href)\s*=\s*"(?!#)|@import|url\(|https?://(?!www\.w3\.org)', page)
    assert "{{" not in page
    assert "<title>kernel for cpu" in page
    first = data["files"][0]
    assert first["name"] == file.name, "no folder of this machine's"
    (segment,) = first["segments"]
    assert segment["lines"][LOAD - segment["first"]].strip().startswith("x = halved(")


def test_markup_in_the_source_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "markup.py"
    markup = '    # <!-- <script> an innocent comment "</script><img src=x onerror=alert(1)>'
    path.write_text(KERNEL.replace("    mask = offsets < n\n", f"    mask = offsets < n\n{markup}\n"))
    page = render_page(recorded(path, "cpu"))
    _, _, data = page.partition('id="data">')
    assert "<" not in data.partition("</script>")[0]
    shown = next(file for file in data_in(page)["files"] if file["name"] == path.name)
    assert any(markup in segment["lines"] for segment in shown["segments"])


def test_of_long_files_the_page_has_segments(tmp_path: Path) -> None:
    gap = "\n".join(f"# {number}" for number in range(200))
    text = f"""\
import triton
import triton.language as tl

@triton.jit
def far(x):
    return x * 2
{gap}
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, far(tl.load(x_ptr)))
"""
    path = tmp_path / "long.py"
    path.write_text(text)
    (shown,) = data_in(render_page(recorded(path, "cpu", signature="*fp32")))["files"]
    written = text.splitlines()
    first, second = shown["segments"]
    assert first["first"] == 1 and first["lines"] == written[: len(first["lines"])]
    assert second["lines"] == written[second["first"] - 1 :]
    assert len(first["lines"]) + len(second["lines"]) < 50


def test_the_page_has_every_text_and_every_change(file: Path) -> None:
    recording = recorded(file, "cpu")
    data = data_in(render_page(recording))
    (version,) = data["versions"]
    assert len(version["steps"]) == len(recording.steps)
    before: list[str] = []
    for step, shown in zip(recording.steps, version["steps"], strict=True):
        assert ("text" in shown) == step.is_changed
        if not step.is_changed:
            continue
        lines = [data["lines"][number] for number in shown["text"]]
        assert lines == [line.text for line in step.lines]
        places = [data["places"][number] for number in shown["from"]]
        expected = [[place.line for place in line.places] for line in step.lines]
        assert [[line for _, line in place] for place in places] == expected
        if before:
            made: list[str] = []
            place = 0
            for start, end, first, last in shown["changes"]:
                made += [*before[place:start], *lines[first:last]]
                place = end
            assert [*made, *before[place:]] == lines
        before = lines


def test_layouts_are_drawn(file: Path) -> None:
    recording = recorded(file, "cuda", "sm90")
    assert list(recording.stages) == ["source", "ttir", "ttgir"]
    assert set(recording.emission.texts) == {"llir", "ptx"}
    (version,) = data_in(render_page(recording))["versions"]
    drawings = version["drawings"]
    assert any(drawing["encoding"].startswith("#ttg.blocked<") for drawing in drawings)
    assert all(drawing["svg"].startswith("<svg") for drawing in drawings)
    assert drawings[0]["title"].startswith("256x") and drawings[0]["cut"]
    printed = "\n".join(line.text for line in recording.steps[-1].lines)
    assert all(value in printed for drawing in drawings for value in drawing["values"])
    assert any(value.startswith("%offsets") for drawing in drawings for value in drawing["values"]), (
        "named by the values that have it"
    )


def explore(*arguments: str) -> int:
    return main(["explore", *arguments])


@pytest.mark.costly
def test_the_terminal(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = [f"{file}:kernel", "--signature", SIGNATURE]
    assert explore(*kernel) == 0
    said = capsys.readouterr().out
    first = r"^ structured +inline\{insists-on-pointers=true\} .*\n"
    assert re.search(first + r"(?:.*\n){3,12} +triton-to-structured", said, re.M)
    assert "llir: " in said
    assert explore(*kernel, "--stage", "ttir") == 0
    assert re.search(rf"^ +{LOAD} +.*tt\.", capsys.readouterr().out, re.M)
    assert explore(*kernel, "--stage", "asm") == 0
    assert "kernel" in capsys.readouterr().out
    assert explore(*kernel, "--pass", "triton-to-structured") == 0
    said = capsys.readouterr().out
    assert "structured: triton-to-structured" in said
    assert re.search(r"^-.*tt\.load", said, re.M)
    assert re.search(r"^\+.*tts\.load", said, re.M)
    assert explore(*kernel, "--pass", "symbol-dce") == 0
    assert "no change" in capsys.readouterr().out
    assert explore(*kernel, "--line", str(LOAD)) == 0
    said = capsys.readouterr().out
    assert f"{file}:{LOAD}\n    x = halved(" in said
    assert all(f"--- {stage}" in said for stage in ("source", "linalg", "loops"))


def test_a_page_is_written(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert explore(f"{file}:kernel", "-s", SIGNATURE, "-t", "cuda:80", "-o", str(page)) == 0
    assert "kernel for cuda (sm_80)" in page.read_text()


def test_launches_and_files_of_ir_are_explored_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    softmax = Path(__file__).parents[3] / "examples" / "softmax.py"
    assert explore(str(softmax), "--stage", "ttir") == 0
    said = capsys.readouterr()
    assert "tt.func public @softmax_kernel" in said.out
    assert "launches nothing while it is imported: types are made up from the kernel's text" in said.err
    ir = tmp_path / "kernel.ttir"
    ir.write_text("module { tt.func public @f(%p: !tt.ptr<i32>) { %c = arith.constant 1 : i32 tt.store %p, %c "
                  ": !tt.ptr<i32> tt.return } }")  # fmt: skip
    assert explore(str(ir)) == 0
    assert "linalg-to-loops" in capsys.readouterr().out


def test_what_fails_is_shown_as_far_as_it_went(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir = tmp_path / "bad.ttir"
    ir.write_text("""module {
  tt.func public @f(%p: !tt.ptr<i32>) {
    %v = tt.load %p : !tt.ptr<i32>
    %a = tt.elementwise_inline_asm "nop" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %v : i32 -> i32
    tt.store %p, %a : !tt.ptr<i32>
    tt.return
  }
}
""")
    page = tmp_path / "page.html"
    assert explore(str(ir), "-o", str(page)) == 1
    assert "inline" in capsys.readouterr().err
    data = data_in(page.read_text())
    assert "inline" in data["versions"][0]["failure"]
    assert data["versions"][0]["steps"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["FILE:kernel", "-s", SIGNATURE, "--stage", "mlir"],
            "no stage 'mlir' (did you mean llir?); this kernel has source, ttir, ",
        ),
        (["FILE:kernel", "-s", SIGNATURE, "--pass", "cs"], "no pass 'cs' ran (did you mean cse?); these did: inline, "),
        (["FILE:kernel", "-s", SIGNATURE, "--line", "999"], "has no line 999"),
        (["FILE:kernel", "-s", "*fp32"], "parameter 'out_ptr' is missing"),
        (["FILE:kernels", "-s", SIGNATURE], "has no kernel 'kernels'; it has halved, kernel"),
        (["nowhere.py"], "no such file: nowhere.py"),
        (["nowhere.ttir"], "no such file: nowhere.ttir"),
        (["FILE:kernels"], "has no launch of kernel 'kernels'"),
        (["FILE:kernel", "-s", SIGNATURE, "-t", "abacus"], "there is no target 'abacus'"),
    ],
)
def test_errors_say_what_there_is(
    file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explore(*[word.replace("FILE", str(file)) for word in arguments]) == 2
    assert message in capsys.readouterr().err
