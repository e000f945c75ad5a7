"""Passes, options, pipelines, and what watches them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import ClassVar

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from tilewright.ir import passes as registry
from tilewright.ir.instruments import (
    EVERY_PASS,
    CrashReproducer,
    DumpTree,
    PrintIR,
    Statistics,
    Timing,
    VerifyEach,
    instruments_from_knobs,
    read_reproducer_pipeline,
)
from tilewright.ir.nesting import render_pipeline
from tilewright.ir.options import format_options, parse_option_text
from tilewright.ir.passes import (
    Instrument,
    Pass,
    PassContext,
    PassPipeline,
    parse_pipeline,
    register_pass,
    register_pipeline,
)
from tilewright.ir.pipeline_text import PipelineEntry, parse_pipeline_text
from tilewright.support import knobs
from tilewright.support.errors import KnobError, PassError, PipelineError
from tilewright.tools import opt

Parse = Callable[[str], ModuleOp]


class Mode(Enum):
    FAST = "fast"
    SAFE = "safe"


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The passes of this file are registered for its tests only."""
    registry.load_all_passes()
    monkeypatch.setattr(registry, "_passes", dict(registry._passes))  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(registry, "_pipelines", dict(registry._pipelines))  # pyright: ignore[reportPrivateUsage]
    for cls in (TagPass, OptionsPass, CrashPass, GiveUpPass, UnverifiedPass):
        register_pass(cls)
    register_pipeline("test-twice", twice)
    yield


class TagPass(Pass):
    """Append a word to the module's tag.

    Second paragraph.
    """

    name: ClassVar[str] = "test-tag"
    word: str = "x"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        old = module.attributes.get("test.tag")
        module.attributes["test.tag"] = StringAttr((old.data if isinstance(old, StringAttr) else "") + self.word)
        context.remark(module, f"tagged {self.word}")


class OptionsPass(Pass):
    """One option of every kind."""

    name: ClassVar[str] = "test-options"
    block_size: int = 16
    fast: bool = False
    scale: float = 1.0
    label: str = ""
    sizes: tuple[int, ...] = ()
    mode: Mode = Mode.SAFE
    limit: int | None = None

    def run(self, module: ModuleOp, context: PassContext) -> None:
        module.attributes["test.options"] = StringAttr(self.spelling())


class CrashPass(Pass):
    """Changes the module and then fails."""

    name: ClassVar[str] = "test-crash"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        module.attributes["test.half"] = StringAttr("done")
        raise ZeroDivisionError("division by zero")


class GiveUpPass(Pass):
    """Fails with an error of its own."""

    name: ClassVar[str] = "test-give-up"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        context.fail(next(iter(module.ops)), "cannot do this")


class UnverifiedPass(Pass):
    """Leaves a value without its definition before it."""

    name: ClassVar[str] = "test-unverified"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        function = next(iter(module.ops))
        block = function.regions[0].blocks[0]
        first = block.first_op
        assert isinstance(first, Operation)
        first.detach()
        assert block.last_op is not None
        block.insert_op_before(first, block.last_op)


def twice(word: str = "y", extra: bool = False) -> Sequence[Pass]:
    """Tag twice."""
    words = [word, word.upper(), *(["!"] if extra else [])]
    return [TagPass(word=each) for each in words]  # pyright: ignore[reportCallIssue]


SOURCE = """func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}"""


PIPELINES: list[tuple[str, list[PipelineEntry]]] = [
    ("a", [PipelineEntry("a")]),
    ("a,b{x=1 flag},c", [PipelineEntry("a"), PipelineEntry("b", {"x": "1", "flag": "true"}), PipelineEntry("c")]),
    (
        "builtin.module(a,func.func(b{l=1,2,3}))",
        [
            PipelineEntry("a", {}, ("builtin.module",)),
            PipelineEntry("b", {"l": "1,2,3"}, ("builtin.module", "func.func")),
        ],
    ),
    ('a{s="x y, z" t=[1,2]}', [PipelineEntry("a", {"s": "x y, z", "t": "[1,2]"})]),
    (" ", []),
]


@pytest.mark.parametrize(("text", "entries"), PIPELINES)
def test_pipeline_text(text: str, entries: list[PipelineEntry]) -> None:
    assert parse_pipeline_text(text) == entries


TWO_DIALECTS = """
func.func @first(%a: i32) { %0 = arith.addi %a, %a : i32 return }
tt.func @second(%a: i32) { %0 = arith.addi %a, %a : i32 tt.return }
module @third { func.func @inner(%a: i32) { %0 = arith.addi %a, %a : i32 return } }
func.func @fourth(%a: i32) { %0 = arith.addi %a, %a : i32 return }
"""


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("builtin.module(func.func(dce))", ["first", "fourth"]),
        ("func.func(dce)", ["first", "fourth"]),
        ("builtin.module(tt.func(dce))", ["second"]),
        ("builtin.module(builtin.module(dce))", ["inner"]),
        ("builtin.module(builtin.module(func.func(dce)))", ["inner"]),
        ("any(dce)", ["first", "second", "inner", "fourth"]),
    ],
)
def test_passes_run_on_their_anchors(text: str, cleaned: list[str], parse: Parse) -> None:
    module = parse(TWO_DIALECTS)
    pipeline = parse_pipeline(text)
    pipeline.run(module)
    functions = [op for op in module.walk() if op.name in ("func.func", "tt.func")]
    names = [op.properties["sym_name"].data for op in functions]  # pyright: ignore[reportAttributeAccessIssue]
    assert names == ["first", "second", "inner", "fourth"]
    left = [op.parent_op() for op in module.walk() if op.name == "arith.addi"]
    assert [name for name, op in zip(names, functions, strict=True) if op not in left] == cleaned
    assert parse_pipeline(pipeline.spelling()).passes == pipeline.passes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("builtin.module(foo.bar(dce))", "unknown op 'foo.bar' in the pipeline; passes run on builtin.module"),
        ("scf.for(dce)", "no pass can run on 'scf.for' alone"),
    ],
)
def test_anchors_that_cannot_be_are_refused(text: str, reason: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize("text", ["a{", "a}", "a,,b", "a b", "a{x=1", 'a{s="x}', "a{x=1}b", "(a", "a{=3}"])
def test_malformed_pipelines(text: str) -> None:
    with pytest.raises(PipelineError):
        parse_pipeline(text.replace("a", "test-tag"))


def test_options_from_text_and_back() -> None:
    text = 'test-options{block-size=8 fast=true scale=0.5 label="a b" sizes=1,2,3 mode=fast limit=7}'
    pipeline = parse_pipeline(text)
    assert format_options(pipeline.passes[0]) == text.removeprefix("test-options{").removesuffix("}")
    assert parse_pipeline(pipeline.spelling()).passes == pipeline.passes
    assert parse_pipeline("test-options").spelling() == "test-options"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("test-tagg", "unknown pass 'test-tagg'; did you mean test-tag"),
        ("test-options{blok-size=1}", "has no option 'blok-size'; did you mean 'block-size'?"),
        ("test-options{block-size=big}", "option 'block-size': expected an integer, got 'big'"),
        ("test-options{fast=maybe}", "option 'fast': expected one of true, false, 1, 0, got 'maybe'"),
        ("test-options{mode=slow}", "option 'mode': expected one of fast, safe, got 'slow'"),
        ("test-options{sizes=1,x}", "option 'sizes': expected an integer, got 'x'"),
        ("test-twice{words=3}", "has no option 'words'; did you mean 'word'?"),
    ],
)
def test_bad_options(text: str, reason: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert reason in str(caught.value)


def test_underscores_are_accepted_in_options() -> None:
    assert parse_option_text("a=1  b") == {"a": "1", "b": "true"}
    assert parse_pipeline("test-options{block_size=8}").spelling() == "test-options{block-size=8}"


def test_a_named_pipeline_is_its_passes(parse: Parse) -> None:
    module = parse(SOURCE)
    context = parse_pipeline("test-tag,test-twice{word=z extra=true}").run(module)
    assert module.attributes["test.tag"] == StringAttr("xzZ!")
    assert [remark.reason for remark in context.remarks] == ["tagged x", "tagged z", "tagged Z", "tagged !"]
    assert {remark.pass_name for remark in context.remarks} == {"test-tag"}


def test_a_name_is_taken_once() -> None:
    class Other(Pass):
        name: ClassVar[str] = "test-tag"

        def run(self, module: ModuleOp, context: PassContext) -> None:
            raise AssertionError

    with pytest.raises(ValueError, match="two passes are called 'test-tag'"):
        register_pass(Other)


def test_summary_is_the_first_paragraph() -> None:
    assert TagPass.summary() == "Append a word to the module's tag."


def test_an_exception_becomes_one_error_with_a_reproducer(parse: Parse, tmp_path: Path) -> None:
    file = tmp_path / "r.mlir"
    with pytest.raises(PassError) as caught:
        parse_pipeline("test-tag{word=w},test-crash").run(parse(SOURCE), instruments=[CrashReproducer(file)])
    lines = str(caught.value).split("\n")
    assert lines[0] == "error: pass test-crash: internal error: ZeroDivisionError: division by zero"
    assert lines[1] == f"note: replay with: tilewright-opt --run-reproducer {file}"
    text = file.read_text()
    assert text.startswith("// configuration: --pass-pipeline='test-crash'\n")
    assert 'test.tag = "w"' in text
    assert "test.half" not in text
    assert read_reproducer_pipeline(text) == "test-crash"
    errors = io.StringIO()
    assert opt.run([str(file), "--run-reproducer"], io.StringIO(), io.StringIO(), errors) == 1
    assert "ZeroDivisionError: division by zero" in errors.getvalue()
    assert "Traceback" not in errors.getvalue()


def test_a_pass_that_gives_up_leaves_a_file_only_if_asked(parse: Parse, tmp_path: Path) -> None:
    with pytest.raises(PassError) as caught:
        parse_pipeline("test-give-up").run(
            parse(SOURCE), instruments=[CrashReproducer(None, tmp_path, only_internal=True)]
        )
    assert str(caught.value).startswith("test.mlir:1:1: error: pass test-give-up, 'func.func': cannot do this")
    assert not list(tmp_path.iterdir())
    with pytest.raises(PassError) as caught:
        parse_pipeline("test-give-up").run(parse(SOURCE), instruments=[CrashReproducer(None, tmp_path)])
    assert [str(file) for file in tmp_path.iterdir()] == [caught.value.reproducer]


def test_verify_each_names_the_pass(parse: Parse) -> None:
    with pytest.raises(
        PassError, match=r"pass test-unverified: the module does not verify after this pass: .*dominate"
    ):
        parse_pipeline("test-tag,test-unverified,test-tag").run(parse(SOURCE), instruments=[VerifyEach()])
    parse_pipeline("test-unverified").run(parse(SOURCE))


def headings(printed: io.StringIO) -> list[str]:
    lines = (line for line in printed.getvalue().split("\n") if line.startswith("// -----//"))
    return [line.removeprefix("// -----// IR Dump ").removesuffix(" //----- //") for line in lines]


def run_watched(parse: Parse, pipeline: str, instrument: Instrument) -> None:
    parse_pipeline(pipeline).run(parse(SOURCE), instruments=[instrument])


def test_print_after_changes(parse: Parse) -> None:
    out = io.StringIO()
    run_watched(parse, "test-tag,test-options,test-options", PrintIR(out, after=EVERY_PASS, only_changed=True))
    assert headings(out) == ["After Tag (test-tag)", "After Options (test-options)"]
    assert out.getvalue().count("module attributes") == 2


def test_print_before(parse: Parse) -> None:
    out = io.StringIO()
    run_watched(parse, "test-tag,test-options", PrintIR(out, before=["test-options"], after=["test-tag"]))
    assert headings(out) == ["After Tag (test-tag)", "Before Options (test-options)"]


def test_print_after_failure(parse: Parse) -> None:
    out = io.StringIO()
    with pytest.raises(PassError):
        run_watched(parse, "test-tag,test-crash", PrintIR(out, after=EVERY_PASS, only_failed=True))
    assert headings(out) == ["After Crash Failed (test-crash)"]
    assert "module attributes" in out.getvalue()


def test_print_in_the_scope_of_the_function_or_the_module(parse: Parse) -> None:
    for module_scope, heading, first in (
        (False, "After CSE (cse)", "func.func"),
        (True, "After CSE (cse) ('func.func' operation: @f)", "module"),
    ):
        out = io.StringIO()
        run_watched(parse, "func.func(cse)", PrintIR(out, after=EVERY_PASS, module_scope=module_scope))
        assert headings(out) == [heading]
        assert out.getvalue().split("\n")[1].startswith(first)


def test_a_reproducer_of_a_call_that_did_not_fail(tmp_path: Path) -> None:
    file, out, err = tmp_path / "call.mlir", io.StringIO(), io.StringIO()
    argv = ["-", "--test-tag=word=1", f"--mlir-generate-reproducer={file}"]
    assert opt.run(argv, io.StringIO(SOURCE), out, err) == 0
    again = io.StringIO()
    assert opt.run([str(file), "--run-reproducer"], None, again, err) == 0
    assert again.getvalue() == out.getvalue()


def test_statistics_count_what_passes_do(parse: Parse) -> None:
    out = io.StringIO()
    text = """
    func.func @f(%a: i32) -> i32 {
      %c = arith.constant 0 : i32
      %0 = arith.addi %a, %c : i32
      return %0 : i32
    }
    """
    parse_pipeline("canonicalize").run(parse(text), instruments=[Statistics(out)])
    assert "... Pass statistics report ..." in out.getvalue()
    counts = [line.split()[1:3] for line in out.getvalue().splitlines() if "(S)" in line]
    assert counts == [["0", "num-added"], ["2", "num-erased"], ["0", "num-remarks"]]


def test_a_pipeline_is_shown_with_all_options() -> None:
    passes = parse_pipeline("builtin.module(func.func(cse,cse),test-tag)")
    assert render_pipeline(passes) == (
        "Pass Manager with 3 passes:\nbuiltin.module(\n  func.func(\n    cse,\n    cse\n  ),\n  test-tag{word=x}\n)\n"
    )


def test_printing_after_an_unknown_pass_is_an_error() -> None:
    with (
        knobs.scope(print_after=("changed", "canonicalise")),
        pytest.raises(KnobError, match="no pass 'canonicalise'; did you mean 'canonicalize'"),
    ):
        instruments_from_knobs()


def test_print_after_named_passes(parse: Parse) -> None:
    out = io.StringIO()
    parse_pipeline("test-tag,test-options").run(parse(SOURCE), instruments=[PrintIR(out, after=["test-options"])])
    assert out.getvalue().count("IR Dump After") == 1


def test_dump_tree_has_one_file_per_pass(parse: Parse, tmp_path: Path) -> None:
    parse_pipeline("test-tag,test-options").run(parse(SOURCE), instruments=[DumpTree(tmp_path / "ir")])
    files = sorted(file.name for file in (tmp_path / "ir").iterdir())
    assert files == ["00-input.mlir", "01-test-tag.mlir", "02-test-options.mlir"]
    assert "test.tag" not in (tmp_path / "ir" / files[0]).read_text()
    assert 'test.tag = "x"' in (tmp_path / "ir" / files[1]).read_text()


def test_timing_lists_every_pass(parse: Parse) -> None:
    out = io.StringIO()
    parse_pipeline("test-tag,test-options").run(parse(SOURCE), instruments=[Timing(out)])
    assert [line.split()[-1] for line in out.getvalue().splitlines()[2:]] == ["total", "test-tag", "test-options"]


def test_switches_choose_instruments(tmp_path: Path) -> None:
    with knobs.scope(verify_each=False, dump_ir="", print_after=(), timing=False):
        assert instruments_from_knobs() == []
    with knobs.scope(verify_each=True, dump_ir=str(tmp_path), print_after=("changed",), timing=True):
        kinds = [type(instrument) for instrument in instruments_from_knobs()]
    assert kinds == [VerifyEach, DumpTree, PrintIR, Timing]


def test_opt_runs_passes_in_the_order_given(tmp_path: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    argv = ["-", "--test-tag=word=1", "--test-twice=word=a", "--test-tag", "--remarks"]
    assert opt.run(argv, io.StringIO(SOURCE), out, err) == 0
    assert out.getvalue().startswith('module attributes {test.tag = "1aAx"} {')
    assert err.getvalue().count("remark: [test-tag] 'builtin.module': tagged") == 4


def test_opt_reports_the_pass_that_broke_the_module() -> None:
    err = io.StringIO()
    assert opt.run(["-", "--test-unverified"], io.StringIO(SOURCE), io.StringIO(), err) == 1
    assert "does not verify after the passes" in err.getvalue()
    assert opt.run(["-", "--test-unverified", "--no-verify"], io.StringIO(SOURCE), io.StringIO(), io.StringIO()) == 0


def test_pipeline_of_pipelines_is_flat() -> None:
    inner = parse_pipeline("test-twice")
    assert len(PassPipeline([inner, inner.passes[0]]).passes) == 3
