"""Passes, their options, their registry, and pipelines of them.

```python
@register_pass
class TritonToStructuredPass(Pass):
    \"\"\"Pointer arithmetic becomes tts.make_tptr. (before / after)\"\"\"

    name = "triton-to-structured"
    use_unstructured_fallback: bool = True  # --triton-to-structured="use-unstructured-fallback=false"

    def run(self, module: ModuleOp, context: PassContext) -> None: ...
```
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from difflib import get_close_matches
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Operation

from tilewright.ir.detaching import detached
from tilewright.ir.diagnostics import op_error, op_name, op_place
from tilewright.ir.locations import find_call_sites, find_span
from tilewright.ir.options import (
    OptionValues,
    format_options,
    options_of_callable,
    options_of_dataclass,
    read_options,
)
from tilewright.ir.pipeline_text import PipelineEntry, fail_at, parse_pipeline_text
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.support.errors import PassError, PipelineError, TilewrightError
from tilewright.support.facts import TargetFacts
from tilewright.support.interruptions import find_interruption
from tilewright.support.late import modules_of
from tilewright.support.records import dataclass
from tilewright.support.recursion import deep_recursion
from tilewright.support.spans import Span, render_message


@dataclass(frozen=True)
class Remark:
    """What a pass could not do and why: the op stays as it is, and the user can read the reason."""

    pass_name: str
    op_name: str
    location: Span | str | None
    reason: str
    kind: RemarkKind = RemarkKind.OTHER
    callers: tuple[Span, ...] = ()
    """The calls that the place was inlined from, innermost first."""

    def __str__(self) -> str:
        text = (
            f"[{self.pass_name}] '{self.op_name}': {self.reason}"
            if self.op_name
            else f"[{self.pass_name}] {self.reason}"
        )
        if isinstance(self.location, Span):
            return render_message("remark", text, self.location)
        return f"{self.location}: remark: {text}" if self.location else f"remark: {text}"


@dataclass
class PassContext:
    """What passes of one run share: facts of the target, options of the compilation, and the remarks they leave."""

    facts: TargetFacts | None = None
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    remarks: list[Remark] = field(default_factory=list[Remark])
    pass_name: str = ""

    def remark(self, op: Operation, reason: str, kind: RemarkKind = RemarkKind.OTHER) -> None:
        """Record that the current pass left `op` as it is, and why."""
        callers = find_call_sites(op.location)
        self.remarks.append(Remark(self.pass_name, op_name(op), op_place(op), reason, kind, callers))

    def remark_at(self, location: LocationAttr | None, reason: str, kind: RemarkKind) -> None:
        """`remark`, about code that came from a place in the source and is not an op any more."""
        known = location or UNKNOWN_LOC
        callers = find_call_sites(known)
        self.remarks.append(Remark(self.pass_name, "", find_span(known), reason, kind, callers))

    def fail(self, op: Operation, reason: str) -> NoReturn:
        """Stop the compilation with an error about `op`."""
        raise op_error(op, reason, pass_name=self.pass_name)


class Pass(ABC):
    """One transformation of a module. Options are dataclass fields; `name` is the flag of tilewright-opt."""

    name: ClassVar[str]
    title: ClassVar[str] = ""
    """What upstream calls the pass in headings, where that is not the class's name without `Pass`."""
    takes: ClassVar[tuple[str, ...]] = ()
    """Names of the stages whose modules the pass takes, where they differ from its package's (`ir.stage_guard`)."""
    is_nested: ClassVar[bool] = False
    """Whether the pass has an anchor below the module (`ir.nesting`)."""

    @abstractmethod
    def run(self, module: ModuleOp, context: PassContext) -> None:
        """Transform the module in place."""

    @classmethod
    def summary(cls) -> str:
        """First paragraph of the docstring, for ``--list-passes``."""
        return first_paragraph(cls)

    def spelling(self) -> str:
        """The pass with its non-default options, as a pipeline writes it: ``coalesce{num-warps=8}``."""
        text = format_options(self)
        return f"{self.name}{{{text}}}" if text else self.name


def first_paragraph(documented: object) -> str:
    """The first paragraph of a docstring, as one line."""
    text = (documented.__doc__ or "").strip()
    return " ".join(text.split("\n\n")[0].split())


PassT = TypeVar("PassT", bound=type[Pass])
PipelineBuilder = Callable[..., "PassPipeline | Sequence[Pass]"]

_passes: dict[str, type[Pass]] = {}
_pipelines: dict[str, PipelineBuilder] = {}


@dataclass_transform()
def register_pass(cls: PassT) -> PassT:
    """Class decorator: makes the class a dataclass (its fields are the options) and files it under its name."""
    if "__dataclass_fields__" not in cls.__dict__:
        cls = dataclass(cls)
    _claim(cls.name, _passes.get(cls.name), cls)
    _passes[cls.name] = cls
    return cls


def register_pipeline(name: str, builder: PipelineBuilder) -> None:
    """File a named list of passes; the builder's keyword parameters with defaults are the pipeline's options."""
    _claim(name, _pipelines.get(name), builder)
    _pipelines[name] = builder


def _claim(name: str, present: object, newcomer: object) -> None:
    taken = present or _passes.get(name) or _pipelines.get(name)
    same = getattr(taken, "__qualname__", None) == getattr(newcomer, "__qualname__", None)
    if taken is not None and not same:
        raise ValueError(f"two passes are called '{name}': {taken!r} and {newcomer!r}")


def load_all_passes() -> None:
    """Import the modules whose import registers all passes: where a pass is first looked up by its name."""
    modules_of("passes")


def available_passes() -> dict[str, type[Pass]]:
    """Every registered pass by name, sorted."""
    load_all_passes()
    return dict(sorted(_passes.items()))


def available_pipelines() -> dict[str, PipelineBuilder]:
    """Every registered pipeline by name, sorted."""
    load_all_passes()
    return dict(sorted(_pipelines.items()))


def is_registered(name: str) -> bool:
    """Return whether a pass or pipeline of this name exists."""
    if name not in _passes and name not in _pipelines:
        load_all_passes()
    return name in _passes or name in _pipelines


def _unknown_pass(name: str) -> str:
    near = get_close_matches(name, [*_passes, *_pipelines], n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"unknown pass '{name}'{hint}"


def build_passes(name: str, options: OptionValues) -> list[Pass]:
    """The pass of that name, or the passes of the pipeline of that name, with options from text."""
    if not is_registered(name):
        raise PipelineError(_unknown_pass(name))
    if name in _passes:
        cls = _passes[name]
        return [cls(**read_options(name, options, options_of_dataclass(cls)))]
    builder = _pipelines[name]
    built = builder(**read_options(name, options, options_of_callable(builder)))
    return list(built.passes if isinstance(built, PassPipeline) else built)


def run_on_modules(pass_: Pass, module: ModuleOp, context: PassContext) -> None:
    """Run a pass on a module and on those nested in it, the innermost first, each by itself.

    A module is a symbol table of its own, so what a pass does in one depends on no other; a pass sees no nested module
    and need not know that there are any. A module of nothing but modules has nothing to transform. A pass with an
    anchor (`ir.nesting`) picks the ops that it runs on.
    """
    inner = [] if pass_.is_nested else [op for op in module.ops if isinstance(op, ModuleOp)]
    for nested in inner:
        run_on_modules(pass_, nested, context)
    if inner and len(inner) == len(module.body.block.ops):
        return
    if not inner:
        pass_.run(module, context)
        return
    with detached(module.body.block, inner):
        pass_.run(module, context)


class Instrument:
    """Watches a pipeline from outside; override what you need. `ir.instruments` has the ones we ship."""

    def before_pipeline(self, passes: Sequence[Pass], module: ModuleOp, context: PassContext) -> None:
        """Called once, before the first pass."""

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        """Called before each pass."""

    def after_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        """Called after each pass that succeeded."""

    def after_failure(self, index: int, pass_: Pass, module: ModuleOp, error: TilewrightError) -> None:
        """Called when a pass raised; the module may be half changed."""

    def after_pipeline(self, module: ModuleOp) -> None:
        """Called once, when all passes succeeded."""


@dataclass
class PassPipeline:
    """A straight list of passes."""

    passes: list[Pass]

    def __init__(self, passes: Iterable[Pass | PassPipeline] = ()) -> None:
        self.passes = []
        for entry in passes:
            self.passes.extend(entry.passes if isinstance(entry, PassPipeline) else (entry,))

    def spelling(self) -> str:
        """Text that `parse_pipeline` reads back."""
        text = ",".join(pass_.spelling() for pass_ in self.passes)
        return f"builtin.module({text})" if any(pass_.is_nested for pass_ in self.passes) else text

    def run(
        self, module: ModuleOp, context: PassContext | None = None, instruments: Sequence[Instrument] = ()
    ) -> PassContext:
        """Run the passes in order; instruments see the module before and after each."""
        context = PassContext() if context is None else context
        for instrument in instruments:
            instrument.before_pipeline(self.passes, module, context)
        with deep_recursion():
            for index, pass_ in enumerate(self.passes):
                self._run_one(index, pass_, module, context, instruments)
        for instrument in instruments:
            instrument.after_pipeline(module)
        return context

    @staticmethod
    def _run_one(
        index: int, pass_: Pass, module: ModuleOp, context: PassContext, instruments: Sequence[Instrument]
    ) -> None:
        context.pass_name = pass_.name
        for instrument in instruments:
            instrument.before_pass(index, pass_, module)
        try:
            run_on_modules(pass_, module, context)
            for instrument in instruments:
                instrument.after_pass(index, pass_, module)
        except Exception as raised:
            if find_interruption(raised) is not None:
                raise
            error = _as_pass_error(raised, pass_)
            for instrument in instruments:
                instrument.after_failure(index, pass_, module, error)
            if error is raised:
                raise
            raise error from raised


def _as_pass_error(raised: Exception, pass_: Pass) -> TilewrightError:
    if isinstance(raised, PassError) and not raised.pass_name:
        raised.pass_name = pass_.name
    if isinstance(raised, TilewrightError):
        return raised
    error = PassError(f"internal error: {type(raised).__name__}: {raised}", pass_name=pass_.name, internal=True)
    error.__cause__ = raised
    return error


def parse_pipeline(text: str) -> PassPipeline:
    """Read ``a,b{x=1 y=2},c`` and MLIR's ``builtin.module(a,func.func(b))``. Raises `PipelineError`."""
    from tilewright.ir.nesting import anchor_passes

    entries = parse_pipeline_text(text)
    for entry in entries:
        if not is_registered(entry.name):
            reason = f"'{entry.name}' does not refer to a registered pass or pass pipeline"
            fail_at(*entry.at, reason, _unknown_pass(entry.name))
    return PassPipeline(pass_ for entry in entries for pass_ in anchor_passes(entry.anchors, _passes_of(entry)))


def _passes_of(entry: PipelineEntry) -> list[Pass]:
    """The passes of an entry; upstream's error names the entry and the anchors around it."""
    try:
        return build_passes(entry.name, entry.options)
    except PipelineError as error:
        lines = [f"failed to add `{entry.name}` with options `{entry.option_text}`"]
        lines += [f"failed to add `{anchor}` with options `` to inner pipeline" for anchor in entry.anchors[:0:-1]]
        joined = "\n".join(lines)
        said = error.said if error.said or error.refusal else f"{error}\n"
        error.said = f"{said}\n{joined}\n"
        raise
