"""Compiles a kernel for each of several signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.language.callables import JITCallable
from tilewright.support import knobs
from tilewright.support.fingerprint import fingerprint
from tilewright.support.records import dataclass
from tilewright.targets.base import Target
from tilewright.targets.capabilities import LinksFiles
from tilewright.tools.aot.signature import Signature, SignatureError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

DIVISIBILITY = 16


@dataclass(frozen=True)
class Variant:
    """One signature's machine code."""

    name: str
    """Of its C function, and of the kernel in its machine code."""
    signature: Signature
    image: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True)
class NamedSource:
    """A kernel under another name, so that several variants of it can be linked into one program."""

    kernel: ASTSource
    name: str
    first_stage: str = "source"

    @property
    def is_gluon(self) -> bool:
        return self.kernel.is_gluon

    def module(self, target: Target, options: CompileOptions) -> ModuleOp:
        from xdsl.dialects.builtin import StringAttr

        from tilewright.dialects import tt

        module = self.kernel.module(target, options)
        for op in module.body.block.ops:
            if isinstance(op, tt.FuncOp) and op.is_public:
                op.properties["sym_name"] = StringAttr(self.name)
        return module

    def identity(self) -> str:
        return fingerprint(self.kernel.identity(), self.name)

    def runtime_parameters(self) -> tuple[str, ...]:
        return self.kernel.runtime_parameters()


def compile_variants(
    function: JITCallable, base: str, signatures: Sequence[Signature], options: CompileOptions, target: Target
) -> list[Variant]:
    """The kernel for each signature, in their order. Raises SignatureError where they are not of one C function."""
    first = signatures[0]
    for other in signatures[1:]:
        if other.types != first.types:
            raise SignatureError(f"the signatures are of different functions: {_shown(first)} and {_shown(other)}")
    if len(set(signatures)) < len(signatures):
        raise SignatureError("two signatures are equal")
    names = [signature.name(base, options, target.name) for signature in signatures]
    return [compile_variant(function, *named, options, target) for named in zip(names, signatures, strict=True)]


def source_of(function: JITCallable, signature: Signature) -> ASTSource:
    """A kernel for what a signature says of its parameters."""
    types = {a.name: a.type if a.is_in_kernel else "constexpr" for a in signature.arguments}
    constants = {a.name: 1 if a.hint == 1 else a.constant for a in signature.arguments if not a.is_in_kernel}
    promises = {a.name: {"tt.divisibility": DIVISIBILITY} for a in signature.arguments if a.hint == DIVISIBILITY}
    return ASTSource(function, types, constants, promises)


def compile_variant(
    function: JITCallable, name: str, signature: Signature, options: CompileOptions, target: Target
) -> Variant:
    """The kernel for one signature, whose C function has a name; it computes no tensor maps, as launchers do."""
    source = NamedSource(source_of(function, signature), f"{name}_kernel")
    with knobs.scope(tma_loads="never"):
        entry = build_entry(source, options, target.in_one_object() if isinstance(target, LinksFiles) else target)
    return Variant(name, signature, entry.sections["obj"], entry.metadata)


def _shown(signature: Signature) -> str:
    return f"({', '.join(f'{type} {name}' for name, type in signature.types)})"
