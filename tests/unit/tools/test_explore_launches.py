"""Which kernel and which types `tilewright explore` shows: what a file launches, else what its text says."""

from __future__ import annotations

from pathlib import Path

import corpus_oracle as oracle  # pyright: ignore[reportMissingImports]
import pytest

from tilewright.runtime.jit import JITFunction
from tilewright.tools.cli import main
from tilewright.tools.user_files import UserFileError, load_file
from tilewright.tools.validation.file_launches import find_launches, kernels_of
from tilewright.tools.validation.made_up import find_pointers

EXAMPLES = Path(__file__).parents[3] / "examples"
KERNELS = {
    "attention": "attention_forward",
    "dropout": "dropout_kernel",
    "grouped_gemm": "grouped_gemm_kernel",
    "layer_norm": "layer_norm_forward",
    "matmul": "matmul_kernel",
    "persistent_matmul": "persistent_matmul_kernel",
    "softmax": "softmax_kernel",
    "tour": "normalize",
    "vector_add": "add_kernel",
}
UNKNOWABLE = {"grouped_gemm"}
"""Kernels that load addresses: nothing but a launch says what these are."""

DIFFERENT = {
    "casts:pointers",
    "control_flow:pointer_conditions",
    "patterns:addptr_scalar_broadcast",
    "python_forms:optional",
}
"""Kernels of the corpus with a pointer that is made of an integer, is None, or stands to the right of a sum."""


def test_all_examples_are_listed() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*KERNELS, "demo"}


@pytest.mark.sampled
@pytest.mark.parametrize("example", KERNELS)
def test_examples_as_programs(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(EXAMPLES / f"{example}.py"), "--main", "--stage", "ttir"]) == 0
    said = capsys.readouterr()
    assert f"@{KERNELS[example]}(" in said.out and not said.err


@pytest.mark.sampled
@pytest.mark.parametrize("example", sorted(KERNELS.keys() - UNKNOWABLE))
def test_examples_that_launch_nothing(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", str(EXAMPLES / f"{example}.py"), "--stage", "ttir"]) == 0
    said = capsys.readouterr()
    assert f"@{KERNELS[example]}(" in said.out and "--main" in said.err


@pytest.mark.parametrize("file", oracle.files())
def test_pointers_of_the_corpus(file: str) -> None:
    """The parameters whose types are pointers are those that accesses reach."""
    for case in oracle.cases():
        kernel = oracle.kernel_of(case, "tilewright")
        if case.file != file or f"{file}:{case.kernel}" in DIFFERENT:
            continue
        signature, _, _ = oracle.arguments_of(case, "tilewright")
        expected = {name for name, kind in signature.items() if isinstance(kind, str) and kind.startswith("*")}
        assert find_pointers(kernel) == expected, case


TUNED = """\
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + 1


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
@triton.jit
def kernel(X, Y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(Y + i, helper(tl.load(X + i, mask=i < n)), mask=i < n)


if __name__ == "__main__":
    import sys

    import numpy as np

    assert len(sys.argv) == 1, "a program that is explored has no arguments"
    kernel[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](np.ones(100), np.ones(100), 100)
    sys.exit(EXIT)
"""


def written(folder: Path, status: int = 0) -> Path:
    path = folder / "tuned.py"
    path.write_text(TUNED.replace("EXIT", str(status)))
    return path


def test_kernels_come_out_of_their_tuners_and_helpers_are_none(tmp_path: Path) -> None:
    ((kernel, constants),) = kernels_of(vars(load_file(written(tmp_path))))
    assert isinstance(kernel, JITFunction) and kernel.fn.__name__ == "kernel" and constants == {"BLOCK": 64}


def test_the_launches_of_a_program(tmp_path: Path) -> None:
    launches = [found.launch for found in find_launches(written(tmp_path), as_main=True)]
    assert {launch.name for launch in launches} == {"kernel"} and len(launches) == 2, "each configuration once"


def test_a_program_that_fails(tmp_path: Path) -> None:
    with pytest.raises(UserFileError, match="SystemExit: 3"):
        list(find_launches(written(tmp_path, status=3), as_main=True))
