"""Sources of compilations: a kernel with its specialisation, or the text of one of its stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.sharing import NOTHING_SHARED, Sharing, promise_apart
from tilewright.language.callables import JITCallable
from tilewright.language.dependencies import describe_constant
from tilewright.support.errors import ArgumentError, CompilationError, OptionError, ParseError
from tilewright.support.fingerprint import fingerprint
from tilewright.support.records import dataclass
from tilewright.targets.base import Target, find_target

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.compiler.access_summary import AccessSummary
    from tilewright.compiler.text_parameters import Declaration

ArgumentPath = tuple[int, ...]


class Source(Protocol):
    """What the stages start from."""

    @property
    def name(self) -> str:
        """The kernel's, or the file's."""
        ...

    @property
    def first_stage(self) -> str:
        """The stage that `module` is at: "source" for the front end's output."""
        ...

    @property
    def is_gluon(self) -> bool:
        """True for a kernel written in Gluon: its tensors have layouts when the front end is done, on every target."""
        ...

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        """A fresh module at `first_stage`."""
        ...

    def identity(self) -> str:
        """Hash of everything that the module depends on besides target and options."""
        ...

    def runtime_parameters(self) -> tuple[str, ...]:
        """The parameter that each launch slot belongs to, in slot order; empty where it is not known."""
        ...


class Specialization(NamedTuple):
    """What the `repr` of a kernel is told."""

    constants: Mapping[str, Any]
    signature: Mapping[str, Any]


@dataclass(frozen=True)
class ASTSource:
    """A kernel and what it is specialised on.

    `signature` maps each parameter to its type string (nested tuples for tuple parameters, "constexpr" for constants);
    `constexprs` and `attrs` are keyed by parameter name or by path, `(index,)` or `(index, item)`. `noalias` promises
    that the storage of all pointer arguments is disjoint, but for those whose launch slots are in one group of
    `sharing` (see `compiler/sharing.py`).
    """

    fn: JITCallable
    signature: Mapping[str, Any]
    constexprs: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    attrs: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    noalias: bool = False
    first_stage: str = "source"
    sharing: Sharing = NOTHING_SHARED

    @property
    def is_gluon(self) -> bool:
        return self.fn.is_gluon()

    @property
    def constants(self) -> dict[ArgumentPath, Any]:
        """The values of constant parameters by path, under Triton's name."""
        return self.paths(self.constexprs)

    @property
    def name(self) -> str:
        """The kernel's symbol: what its function says, without the modules that it may name. Raises CompilationError
        for anything that is not an identifier."""
        names = self.fn.arg_names
        constants = {names[path[0]]: value for path, value in self.constants.items() if len(path) == 1}
        said = self.fn.repr(Specialization(constants, self.full_signature()))
        name = str(said).rpartition(".")[2]
        if name != self.fn.__name__ and not (name.isascii() and name.isidentifier()):
            raise CompilationError(f"`{self.fn.__name__}` cannot be called {said!r} by its `repr`: no identifier")
        return name

    def paths(self, by_name: Mapping[Any, Any]) -> dict[ArgumentPath, Any]:
        """A mapping by parameter name, index or path, keyed by path. Raises ArgumentError for a name that is none."""
        names = self.fn.arg_names
        result: dict[ArgumentPath, Any] = {}
        for key, value in by_name.items():
            if isinstance(key, str) and key not in names:
                raise ArgumentError(key, "no parameter", f"one of {', '.join(names)}", kernel=self.fn.__name__)
            path = (names.index(key),) if isinstance(key, str) else (key,) if isinstance(key, int) else tuple(key)
            result[path] = value
        return result

    def full_signature(self) -> dict[str, Any]:
        """Types in parameter order; parameters that only `constexprs` names are constants. Raises ArgumentError for a
        parameter without a type, or a constant without a value."""
        constant = {path[0] for path in self.constants if len(path) == 1}
        for index, name in enumerate(self.fn.arg_names):
            if index not in constant and self.signature.get(name, "constexpr") == "constexpr":
                what = "a constant without a value" if name in self.signature else "without a type"
                raise ArgumentError(name, what, "a type or a value for each parameter", kernel=self.fn.__name__)
        return {
            name: "constexpr" if index in constant else self.signature[name]
            for index, name in enumerate(self.fn.arg_names)
        }

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        from tilewright.frontend import compile_to_tt

        codegen = target.codegen_options(options)
        if self.is_gluon:  # its layouts are for so many warps, on machines without warps, too
            codegen = replace(codegen, num_warps=options.num_warps, num_ctas=options.num_ctas)
        module = compile_to_tt(
            self.fn,
            self.full_signature(),
            self.constants,
            {path: _attributes(values) for path, values in self.paths(self.attrs).items()},
            codegen,
            name=self.name,
        )
        mark_for_launch(module, options, noalias=self.noalias, sharing=self.sharing)
        return module

    def hash(self) -> str:
        """Return the identity, under Triton's name."""
        return self.identity()

    def identity(self) -> str:
        parts = (
            sorted((name, repr(kind)) for name, kind in self.full_signature().items()),
            sorted((path, describe_constant(value)) for path, value in self.constants.items()),
            sorted(
                (path, repr(sorted(_attributes(values).items()))) for path, values in self.paths(self.attrs).items()
            ),
            (self.noalias, self.sharing if self.noalias else ()),
            self.name,
        )
        return fingerprint(self.fn.cache_key, parts)

    def runtime_parameters(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.full_signature().items() for _ in runtime_leaves(kind))

    def make_ir(self, target: Any, options: Any, codegen_fns: Any, module_map: Any, context: Any) -> AccessSummary:
        """The kernel's accesses, as programs walk the modules of Triton; `target` is described as Triton does, and
        `options` have attributes of the names of launch options."""
        from tilewright.compiler.access_summary import summarise

        given: dict[str, Any] = options.__dict__
        chosen = CompileOptions.from_keywords(given)
        return summarise(self.module(find_target(target.backend), chosen), context)


def mark_for_launch(
    module: ModuleOp, options: CompileOptions, *, noalias: bool, sharing: Sharing = NOTHING_SHARED
) -> None:
    """Say on what a front end made whether pointers are apart, and whether a*b+c is to stay two operations."""
    from xdsl.dialects.builtin import UnitAttr

    from tilewright.dialects.attributes import NO_FP_FUSION

    if noalias:
        promise_apart(module, sharing)
    if not options.enable_fp_fusion:
        module.attributes[NO_FP_FUSION] = UnitAttr()


def _attributes(values: Any) -> dict[str, int]:
    """Argument attributes as a mapping; Triton's spelling is a list of pairs."""
    return dict(values)


def runtime_leaves(kind: Any) -> list[str]:
    """One entry for each launch slot of a parameter; see `runtime.specialization.Descriptor` for descriptors."""
    if isinstance(kind, tuple):
        return [leaf for item in kind for leaf in runtime_leaves(item)]  # pyright: ignore[reportUnknownVariableType]
    if kind.startswith("tensordesc"):
        block = kind[kind.index("[") : kind.index("]")].count(",") + 1
        _, _, rank_of_tensor = kind.partition(",input_rank=")
        rank = int(rank_of_tensor.partition(",")[0]) if rank_of_tensor else block
        return [kind] * (2 + 4 * rank)
    return [] if kind == "constexpr" else [kind]


DECLARING = ("ttir", "ttgir")
"""Stages whose functions have the parameters that launches pass."""


@dataclass(frozen=True)
class TextSource:
    """The text of a stage: `ttir`, `structured`, `linalg` or `loops`, read from a file named `kernel.<stage>`."""

    text: str
    first_stage: str
    filename: str = "<text>"

    @property
    def name(self) -> str:
        return Path(self.filename).stem

    @property
    def is_gluon(self) -> bool:
        return False

    @classmethod
    def read(cls, path: str | Path) -> TextSource:
        """Read a file; its suffix names the stage. Raises OSError, ParseError for anything that is not text."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ParseError("this is not UTF-8 text", filename=str(path), line=1, col=1) from None
        return cls(text, path.suffix.removeprefix("."), str(path))

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        from tilewright.dialects import make_context
        from tilewright.ir.parsing import parse_module

        return parse_module(self.text, make_context(), self.filename)

    def identity(self) -> str:
        return fingerprint(self.text, self.first_stage)

    @cached_property
    def declaration(self) -> Declaration | None:
        """The parameters of the kernel; None where the text does not say which arguments a launch passes."""
        if self.first_stage not in DECLARING:
            return None
        from tilewright.compiler.text_parameters import read_declaration

        return read_declaration(self.text, self.filename)

    def runtime_parameters(self) -> tuple[str, ...]:
        parameters = () if self.declaration is None else self.declaration.parameters
        return tuple(parameter.name for parameter in parameters for _ in runtime_leaves(parameter.kind))


@dataclass(frozen=True)
class OverriddenSource:
    """A kernel whose module at one stage is a text of the user's (the option `ir_override`)."""

    kernel: Source
    text: TextSource

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def first_stage(self) -> str:
        return self.text.first_stage

    @property
    def is_gluon(self) -> bool:
        return self.kernel.is_gluon

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        return self.text.module(target, options)

    def identity(self) -> str:
        return fingerprint(self.kernel.identity(), self.text.identity())

    def runtime_parameters(self) -> tuple[str, ...]:
        return self.kernel.runtime_parameters()


def overridden(source: Source, options: CompileOptions) -> Source:
    """The source, or the text that stands for one of its stages by the option `ir_override`: a file whose suffix names
    the stage. Raises OptionError if the file does not exist, and later where the target has no such stage."""
    path = options.ir_override
    if path is None or isinstance(source, OverriddenSource):
        return source
    if not Path(path).is_file():
        raise OptionError(f"ir_override={path!r}: there is no such file")
    return OverriddenSource(source, TextSource.read(path))
