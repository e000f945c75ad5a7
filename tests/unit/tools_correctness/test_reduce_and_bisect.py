"""Making failures small: IR text, kernels, passes and rewrites."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from suite.children import Children
from tilewright.dialects import make_context
from tilewright.ir.bisection import Limits
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.ir.rewrite_watch import watch_rewrites
from tilewright.support.errors import KnobError
from tilewright.tools import bisect
from tilewright.tools.bisect import run_bisect, smallest
from tilewright.tools.commands import CommandError
from tilewright.tools.fuzzing.shrink import shrink_kernel
from tilewright.tools.reduce import ReduceError, reduce_text, run_reduce

TEXT = """
module {
  tt.func public @other(%a: i32) {
    tt.return
  }
  tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %c3 = arith.constant 3 : i32
    %c7 = arith.constant 7 : i32
    %0 = arith.addi %n, %c3 : i32
    %1 = arith.muli %0, %c7 : i32
    %2 = arith.cmpi slt, %n, %c7 : i32
    %3 = scf.if %2 -> (i32) {
      %5 = arith.divsi %1, %c3 : i32
      scf.yield %5 : i32
    } else {
      scf.yield %0 : i32
    }
    %4 = arith.subi %3, %1 : i32
    tt.store %p, %4 : !tt.ptr<i32>
    tt.return
  }
}
"""

FOLDS = """
module {
  tt.func public @kernel(%p: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = arith.addi %n, %c0 : i32
    %1 = arith.muli %0, %c1 : i32
    %2 = arith.subi %1, %c0 : i32
    tt.store %p, %2 : !tt.ptr<i32>
    tt.return
  }
}
"""


def test_what_is_not_needed_goes() -> None:
    smaller = reduce_text(TEXT, lambda text: "arith.divsi" in text)
    assert "arith.divsi" in smaller
    assert "scf.if" not in smaller
    assert "@other" not in smaller
    assert "tt.store" not in smaller
    assert len(smaller.splitlines()) <= 8
    parse_module(smaller, make_context())


def test_text_that_does_not_parse_is_reduced_by_lines() -> None:
    broken = TEXT.replace("arith.cmpi slt", "arith.cmpi less")
    smaller = reduce_text(broken, lambda text: "arith.cmpi less" in text)
    assert smaller.strip() == "%2 = arith.cmpi less, %n, %c7 : i32"


def test_the_command_keeps_what_succeeds(tmp_path: Path) -> None:
    file, result = tmp_path / "a.mlir", tmp_path / "b.mlir"
    file.write_text(TEXT)
    options = argparse.Namespace(file=str(file), keep="grep -q tt.store {}", output=str(result))
    assert run_reduce(options) == 0
    assert "tt.store" in result.read_text()
    assert "scf.if" not in result.read_text()
    with pytest.raises(ReduceError, match="does not succeed"):
        run_reduce(argparse.Namespace(file=str(file), keep="grep -q nothing-like-it", output=None))


def test_kernels_shrink() -> None:
    source = (
        "@triton.jit\ndef kernel(a, b):\n    x = tl.load(a)\n    y = x + 1\n    for i in range(3):\n"
        "        y = y * 2\n        z = tl.sqrt(y)\n    tl.store(b, y)\n"
    )
    smaller = shrink_kernel(source, lambda text: "tl.sqrt" in text)
    assert "tl.sqrt" in smaller
    assert "for" not in smaller
    assert "tl.load" not in smaller
    assert shrink_kernel(source, lambda _: False) == __import__("ast").unparse(__import__("ast").parse(source)) + "\n"


@pytest.mark.parametrize("first", [1, 2, 7, 12])
def test_the_smallest_number(first: int) -> None:
    asked: list[int] = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number >= first

    assert smallest(1, 12, holds) == first
    assert len(asked) <= 4


def test_rewrites_are_recorded_and_limited() -> None:
    def run(limit: int | None) -> tuple[str, list[str]]:
        module = parse_module(FOLDS, make_context())
        with watch_rewrites(limit) as watch:
            parse_pipeline("canonicalize").run(module, PassContext())
        return print_op(module), [rewrite.rule for rewrite in watch.rewrites]

    text, rules = run(None)
    assert sorted(rules) == ["AddiOp.fold", "MuliOp.fold", "SubiOp.fold"]
    assert "arith" not in text
    text, rules = run(1)
    assert len(rules) == 1
    assert text.count("arith.") - text.count("arith.constant") == 2
    assert run(0)[1] == []


def test_limits_are_read() -> None:
    assert Limits.parse("3:12:/tmp/log") == Limits(3, 12, "/tmp/log")
    assert Limits.parse("::log") == Limits(None, None, "log")
    assert Limits.parse("4") == Limits(4)
    with pytest.raises(KnobError):
        Limits.parse("many")


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str, str], list[str]]:
    """A command that compiles and checks a kernel with a fault seeded into a fold or a pass."""

    def make(fault: str, expected: str) -> list[str]:
        path = tmp_path / "check.py"
        path.write_text(
            "import sys, numpy as np\nimport tilewright as triton, tilewright.language as tl\n"
            "from tilewright.dialects import arith\n"
            f"{fault}\n"
            "@triton.jit\ndef k(o, n):\n    i = tl.arange(0, 16)\n    tl.store(o + i, (i + 0) * n - 0 * i)\n\n"
            "out = np.zeros(16, np.int32)\nk[(1,)](out, 5)\n"
            f"sys.exit(int(not ({expected})))\n"
        )
        return ["--", sys.executable, str(path)]

    return make


@pytest.mark.costly
def test_bisect_finds_the_rewrite(
    script: Callable[[str, str], list[str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    compiler_children: Children,
    tmp_path: Path,
) -> None:
    """Its ten runs or so are children of one process; those of the next test are commands."""

    def succeeds(command: Sequence[str], environment: dict[str, str]) -> bool:
        path = Path(command[-1])
        return not compiler_children.run(
            [path.stem], {**environment, "PYTHONPATH": str(path.parent)}, tmp_path
        ).returncode

    monkeypatch.setattr(bisect, "succeeds", succeeds)
    fault = (
        "old = arith.AddiOp.fold\n"
        "def wrong(self):\n"
        "    return (self.rhs,) if old(self) and 'tensor' in str(self.lhs.type) else old(self)\n"
        "arith.AddiOp.fold = wrong"
    )
    arguments = script(fault, "(out == np.arange(16) * 5).all()")
    assert run_bisect(argparse.Namespace(arguments=arguments)) == 0
    printed = capsys.readouterr().out
    assert "canonicalize" in printed
    assert "AddiOp.fold on 'arith.addi'" in printed


@pytest.mark.costly
def test_bisect_says_where_there_is_nothing_to_find(
    script: Callable[[str, str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_bisect(argparse.Namespace(arguments=script("", "True"))) == 1
    assert "nothing to find" in capsys.readouterr().out
    assert run_bisect(argparse.Namespace(arguments=script("", "False"))) == 1
    assert "a lowering is to blame" in capsys.readouterr().out
    with pytest.raises(CommandError, match="needs a command"):
        run_bisect(argparse.Namespace(arguments=[]))
