"""`tilewright explain`: each advice appears at the line of a kernel that calls for it, and goes with the change that it
asks for; every example and every kernel of the corpus is explained, for the CPU or for a GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus_oracle as oracle  # pyright: ignore[reportMissingImports]
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.dialects import linalg
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.lowering.linalg_to_loops.function_lowering import LOWERINGS
from tilewright.runtime.jit import JITFunction
from tilewright.targets.base import find_target
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.cli import main
from tilewright.tools.explain.advice import ON_CPU, ON_GPU
from tilewright.tools.explain.report import Report, explain

EXAMPLES = Path(__file__).parents[3] / "examples"


@triton.jit
def by_stride(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * stride)  # here
    tl.store(out_ptr + offsets, x)


@triton.jit
def by_column(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets * STEP, tl.load(x_ptr + offsets))  # here


@triton.jit
def by_index(x_ptr, i_ptr, out_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.arange(0, 16)
    index = tl.load(i_ptr + rows)
    offsets = tl.arange(0, BLOCK)
    if ROWS:
        x = tl.load(x_ptr + index[:, None] * BLOCK + offsets[None, :])
    else:
        x = tl.load(x_ptr + index[:, None] + offsets[None, :] * offsets[None, :])  # here
    tl.store(out_ptr + rows[:, None] * BLOCK + offsets[None, :], x)


@triton.jit
def multiply_add(a, b):
    return a * b + a


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def scanned(x_ptr, out_ptr, AXIS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, 16)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.associative_scan(x, AXIS, add)  # here
    tl.store(out_ptr + offsets, y)


@triton.jit
def summed_up(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, 16)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.cumsum(x, 0)  # here
    tl.store(out_ptr + offsets, y)


@triton.jit
def stored_between(x_ptr, out_ptr, LATE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)  # here
    if not LATE:
        tl.store(out_ptr + offsets, x + 1)
    y = x * tl.sum(x)
    tl.store(out_ptr + BLOCK + offsets, y)
    if LATE:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) + 1)


@triton.jit
def scaled_sums(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    sums = tl.cumsum(tl.load(x_ptr + offsets))  # here
    tl.store(out_ptr + offsets, sums / tl.max(sums))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, n, K: tl.constexpr, CHECKS: tl.constexpr, PRECISION: tl.constexpr):
    rows, columns, ks = tl.arange(0, 64), tl.arange(0, 64), tl.arange(0, K)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, n, K):  # loop
        if CHECKS:
            tl.device_print("k", k)
        a = tl.load(a_ptr + rows[:, None] * n + (k + ks)[None, :])  # here
        b = tl.load(b_ptr + (k + ks)[:, None] * 64 + columns[None, :])
        acc = tl.dot(a, b, acc, input_precision=PRECISION)  # dot
    tl.store(c_ptr + rows[:, None] * 64 + columns[None, :], acc)


@triton.jit
def product_of_blocks(a_ptr, b_ptr, c_ptr, n, K: tl.constexpr):
    rows, columns = tl.arange(0, 64), tl.arange(0, 64)
    a_desc = tl.make_tensor_descriptor(a_ptr, [64, n], [n, 1], [64, K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [n, 64], [64, 1], [K, 64])
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, n, K):
        acc = tl.dot(a_desc.load([0, k]), b_desc.load([k, 0]), acc)  # here
    tl.store(c_ptr + rows[:, None] * 64 + columns[None, :], acc)


@dataclass(frozen=True)
class Case:
    """A kernel and signatures with which the advice appears, at the line with the mark, and disappears."""

    kind: RemarkKind
    kernel: Any
    before: str
    after: str
    target: str = "cpu"
    arch: str | None = None
    mark: str = "here"
    changed_kernel: Any = None
    changed_arch: str | None = None


HALVES = "*fp16:16, *fp16:16, *fp32:16, i32:16"
FLOATS = "*fp32:16, *fp32:16, *fp32:16, i32:16"
CASES = [
    Case(RemarkKind.UNKNOWN_STRIDE, by_stride, "*fp32:16, *fp32:16, i32, 256", "*fp32:16, *fp32:16, 1, 256"),
    Case(RemarkKind.WIDE_STRIDE, by_column, "*fp32:16, *fp32:16, 64, 256", "*fp32:16, *fp32:16, 1, 256"),
    Case(
        RemarkKind.COMPUTED_INDEX,
        by_index,
        "*fp32:16, *i32:16, *fp32:16, 0, 64",
        "*fp32:16, *i32:16, *fp32:16, 1, 64",
    ),
    Case(RemarkKind.NOT_VECTORIZED, scanned, "*fp32:16, *fp32:16, 0, 64", "*fp32:16, *fp32:16, 1, 64"),
    Case(RemarkKind.COPIED, stored_between, "*fp32:16, *fp32:16, 0, 256", "*fp32:16, *fp32:16, 1, 256"),
    Case(RemarkKind.TILE_IN_MEMORY, scaled_sums, "*fp32:16, *fp32:16, 1048576", "*fp32:16, *fp32:16, 1024"),
    Case(
        RemarkKind.NARROW_ACCESS,
        by_stride,
        "*fp32:16, *fp32:16, i32, 1024",
        "*fp32:16, *fp32:16, 1, 1024",
        "cuda",
        "sm80",
    ),
    Case(
        RemarkKind.NARROW_ACCESS, by_stride, "*fp32, *fp32:16, 1, 1024", "*fp32:16, *fp32:16, 1, 1024", "cuda", "sm90"
    ),
    Case(
        RemarkKind.NOT_PIPELINED,
        product,
        f"{HALVES}, 32, 1, 'tf32'",
        f"{HALVES}, 32, 0, 'tf32'",
        "cuda",
        "sm80",
        mark="loop",
    ),
    Case(
        RemarkKind.NO_TENSOR_CORE,
        product,
        f"{FLOATS}, 32, 0, 'ieee'",
        f"{FLOATS}, 32, 0, 'tf32'",
        "cuda",
        "sm80",
        mark="dot",
    ),
    Case(
        RemarkKind.NOT_TMA,
        product,
        f"{HALVES}, 64, 0, 'tf32'",
        f"{HALVES}, 64",
        "cuda",
        "sm90",
        changed_kernel=product_of_blocks,
    ),
    Case(RemarkKind.NOT_TMA, product_of_blocks, f"{HALVES}, 64", f"{HALVES}, 64", "cuda", "sm80", changed_arch="sm90"),
]


def explained(kernel: Any, signature: str, target: str, arch: str | None) -> Report:
    assert isinstance(kernel, JITFunction)
    return explain(source_of(kernel, read_signature(signature, kernel)), CompileOptions(arch=arch), find_target(target))


def marked_line(kernel: Any, mark: str) -> int:
    lines = kernel.source.text.splitlines()
    (number,) = (number for number, line in enumerate(lines) if line.endswith(f"# {mark}"))
    return kernel.source.start_line + number


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind.value}-{case.kernel.fn.__name__}-{case.arch}")
def test_advice_appears_and_goes_with_the_change(case: Case) -> None:
    before = explained(case.kernel, case.before, case.target, case.arch)
    here = marked_line(case.kernel, case.mark)
    assert here in {one.place.line for one in before.findings if one.kind is case.kind and one.place is not None}
    after = explained(case.changed_kernel or case.kernel, case.after, case.target, case.changed_arch or case.arch)
    assert case.kind not in {one.kind for one in after.findings}


def test_each_advice_has_a_case() -> None:
    assert {case.kind for case in CASES} | {RemarkKind.BASELINE} == {*ON_CPU, *ON_GPU}


def test_functions_of_tl_are_said_of_the_line_that_calls_them() -> None:
    report = explained(summed_up, "*fp32:16, *fp32:16, 64", "cpu", None)
    (finding,) = report.findings
    assert finding.place is not None and finding.place.filename == __file__
    assert finding.place.line == marked_line(summed_up, "here")


def test_what_has_nothing_to_change_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    file = f"{EXAMPLES / 'vector_add.py'}:add_kernel"
    assert main(["explain", file, "-s", "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing to remark on"


def test_a_refusal_of_an_optimising_pass_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(op: Any, lowering: Any) -> None:
        lowering.fail(op, "is too much for this pass")

    monkeypatch.setitem(LOWERINGS, linalg.GenericOp, refuse)
    report = explained(stored_between, "*fp32:16, *fp32:16, 1, 256", "cpu", None)
    (finding,) = (one for one in report.findings if one.kind is RemarkKind.BASELINE)
    assert finding.reason == "is too much for this pass" and finding.place is not None
    assert finding.place.filename == __file__


CALLED = """\
import triton
import triton.language as tl


@triton.jit
def fetched(x_ptr, offsets):
    return tl.load(x_ptr + offsets * offsets)


@triton.jit
def kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = fetched(x_ptr, offsets)
    y = tl.load(x_ptr + offsets * stride)
    z = tl.load(x_ptr + offsets * stride + 1)
    tl.store(out_ptr + offsets, tl.sort(x + y + z))
"""


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explained") / "called.py"
    path.write_text(CALLED)
    return path


def test_the_margin(called: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's lines in order, advice below those that it is about and written out once; then other functions."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert main(["explain", f"{called}:kernel", "-s", "*fp32:16, *fp32:16, i32, 256"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{called}: kernel for cpu (")
    assert "10   @triton.jit" in lines and "16       tl.store(out_ptr + offsets, tl.sort(x + y + z))" in lines
    first = lines.index("14 >     y = tl.load(x_ptr + offsets * stride)")
    assert lines[first + 1].startswith("         ^ unknown stride: gathered lane by lane")
    second = lines.index("15 >     z = tl.load(x_ptr + offsets * stride + 1)")
    assert lines[second:].index("           change: as said of line 14") <= 3
    helper = lines.index(" 7 >     return tl.load(x_ptr + offsets * offsets)")
    assert lines[helper - 1].startswith(f"{called}:7:") and "computed address" in lines[helper + 1]
    assert lines[-1] == "1 x computed address, 2 x unknown stride"


@triton.jit
def many_values(x_ptr, out_ptr, BLOCK: tl.constexpr, COUNT: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = (tl.load(x_ptr + offsets),)
    for part in tl.static_range(1, COUNT):
        values = (*values, tl.load(x_ptr + part * BLOCK + offsets))
    top = tl.max(values[0], 0)
    for part in tl.static_range(COUNT):
        top += tl.max(values[part], 0)
    for part in tl.static_range(COUNT):
        tl.store(out_ptr + part * BLOCK + offsets, values[part] * top)


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cuda:90"])
def test_the_machine_code_says_what_is_spilled(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", f"{__file__}:many_values", "-s", "*fp32:16, *fp32:16, 256, 8", "-t", target]
    assert main([*command, "--json"]) == 0
    facts = {fact["label"]: fact for fact in json.loads(capsys.readouterr().out)["machine"]}
    assert "spilled registers" in facts
    assert main(command) == 0
    assert "spilled registers: " in capsys.readouterr().out
    if target.startswith("cpu"):
        assert facts["vector registers"]["value"].endswith(" of 16")
    else:
        assert {"registers of a thread", "shared memory", "occupancy"} <= facts.keys()


def test_spills_have_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{EXAMPLES}/attention.py:attention_forward", "-t", "cpu:x86-64-v3", "--json"]) == 0
    facts = {fact["label"]: fact for fact in json.loads(capsys.readouterr().out)["machine"]}
    assert facts["spilled registers"]["value"] != "none"
    assert "move registers to the stack and back, at line" in facts["spilled registers"]["note"]


def test_arrays_of_a_signature_overlap_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", f"{__file__}:stored_between", "-s", "*fp32:16, *fp32:16, 0, 256", "--json"]
    kinds: list[set[str]] = []
    for more in ([], ["--overlap"]):
        assert main([*command, *more]) == 0
        kinds.append({one["kind"] for one in json.loads(capsys.readouterr().out)["findings"]})
    assert kinds == [set(), {"copied"}]


def test_json(called: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{called}:kernel", "-s", "*fp32:16, *fp32:16, i32, 256", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["kernel"] == "kernel" and said["file"] == str(called)
    assert [(one["kind"], one["line"]) for one in said["findings"]] == [
        ("computed-index", 7), ("unknown-stride", 14), ("unknown-stride", 15),
    ]  # fmt: skip
    assert all(one["reason"] and one["change"] and one["pass"] for one in said["findings"])


EXAMPLE_FILES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "demo")


@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "cuda:90"])
@pytest.mark.parametrize("example", EXAMPLE_FILES)
def test_examples(example: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(EXAMPLES / f"{example}.py"), "--main", "--target", target, "--json"]) == 0
    places = [(one["file"], one["line"]) for one in json.loads(capsys.readouterr().out)["findings"]]
    assert all(Path(file).parent == EXAMPLES and line > 0 for file, line in places)


def test_a_product_of_contiguous_matrices_is_as_it_should_be(capsys: pytest.CaptureFixture[str]) -> None:
    """What programs share of an operand is no tile of the kernel's, and what is copied lane by lane where a matrix
    ends, or wraps around, but is else read in place, is not worth a word."""
    assert main(["explain", str(EXAMPLES / "matmul.py"), "--main"]) == 0
    *_, tiles, packed, remarks = capsys.readouterr().out.splitlines()
    assert tiles.startswith("tiles in memory:") and "MiB" not in tiles
    assert packed.startswith("packed operands: at most 16 MiB") and remarks == "nothing to remark on"


MACHINES = (("cpu", None), ("cuda", "sm90"), ("cpu", None), ("cuda", "sm80"))


def _numbers() -> list[object]:
    """The first case of each kernel, whose lines are those of its other cases, too; all with `--long`."""
    seen, found = set[tuple[str, str]](), list[object]()
    for number, case in enumerate(oracle.cases()):
        is_first = (case.file, case.kernel) not in seen
        seen.add((case.file, case.kernel))
        found.append(pytest.param(number, marks=() if is_first else pytest.mark.long))
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("number", _numbers())
def test_kernels_of_the_corpus(number: int) -> None:
    """Each for one of the targets, in turn."""
    case, (target, arch) = oracle.cases()[number], MACHINES[number % len(MACHINES)]
    signature, constants, attrs = oracle.arguments_of(case, "tilewright")
    source = ASTSource(oracle.kernel_of(case, "tilewright"), signature, constants, attrs)
    for finding in explain(source, CompileOptions(arch=arch), find_target(target)).findings:
        assert finding.place is None or finding.place.source_line() is not None
