"""Atomic operations on global memory, and read-modify-writes of shared memory, that of other CTAs included.

What PTX has is one predicated instruction: `@$p atom.acq_rel.gpu.global.add.f32 $0, [$1], $2;`, or `red` where nobody
wants the old value. What it lacks (16-bit exchanges, bf16 before 9.0) is LLVM's `atomicrmw`, a loop of compare and
swap, inside of a branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.codegen.nvptx.memory import build_vector
from tilewright.support.records import dataclass

GLOBAL, SHARED, CLUSTER = "global", "shared", "shared::cluster"
"""Where an atomic is: of addresses in the last (`ClusterInstructions.address_in_cta`) the pointer is an i32."""
_POINTERS = {GLOBAL: ("ptr addrspace(1)", "l"), SHARED: ("ptr addrspace(3)", "r"), CLUSTER: ("i32", "r")}
_LLVM_ORDERINGS = {"relaxed": "monotonic", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel"}
_LLVM_SCOPES = {"gpu": ' syncscope("device")', "cta": ' syncscope("block")', "sys": ""}
_LLVM_OPS = {
    "add": "add",
    "fadd": "fadd",
    "max": "max",
    "min": "min",
    "umax": "umax",
    "umin": "umin",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "exch": "xchg",
}
_CLASSES = {"half": "h", "bfloat": "h", "float": "f", "double": "d", "i16": "h", "i32": "r", "i64": "l"}
_FLOAT_KINDS = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}


@dataclass(frozen=True)
class AtomicOrder:
    """What an atomic orders: PTX's semantics and scope."""

    semantics: str = "relaxed"
    """``relaxed``, ``acquire``, ``release`` or ``acq_rel``."""
    scope: str = "gpu"
    """``gpu``, ``cta``, ``cluster`` or ``sys``."""


class AtomicInstructions:
    """Read-modify-write and compare-and-swap of elements in global memory."""

    facts: NvptxFacts

    def atomic_width(self, kind: str, scalar: str) -> int:
        """Return how many neighbouring elements one atomic may combine, aligned to their size."""
        if kind != "fadd":
            return 1
        is_hopper = self.facts.capability >= 90 and self.facts.ptx_version >= 81
        match scalar:
            case "half":
                return 8 if is_hopper else 2
            case "bfloat":
                return 8 if is_hopper else 1
            case "float":
                return 4 if is_hopper else 1
            case _:
                return 1

    def atomic_rmw(
        self,
        text: FunctionText,
        kind: str,
        pointer: str,
        scalar: str,
        bits: int,
        values: Sequence[str],
        *,
        order: AtomicOrder,
        predicate: str | None,
        wants_old: bool,
        space: str = GLOBAL,
    ) -> list[str]:
        """The elements as they were, in one of the spaces above; not known where the predicate is false.

        `kind` is one of add, fadd, max, min, umax, umin, and, or, xor, exch; several values only as `atomic_width`
        allows.
        """
        type, letter = _POINTERS[space]
        if not self.has_atomic(kind, scalar, bits, len(values)):
            return [self._in_branch(text, kind, f"{type} {pointer}", scalar, values[0], order, predicate)]
        words = _Words(scalar, bits, len(values), as_integers=kind == "exch")
        count, register = words.count, _CLASSES.get(words.type, "r")
        uses_red = not wants_old and order.semantics in ("relaxed", "release") and kind != "exch"
        results = 0 if uses_red else count
        constraints = [f"={register}"] * results + [letter, *[register] * count]
        operands = [(type, pointer), *((words.type, word) for word in words.pack(text, values))]
        guard = ""
        if predicate is not None:
            constraints.append("b")
            operands.append(("i1", predicate))
            guard = f"@${len(constraints) - 1} "
        opcode = f"{order.semantics}.{order.scope}.{space}.{_operation(kind)}{_suffix(kind, scalar, bits, len(values))}"
        accessed = f"[${results}], {_braced(results + 1, count)}"
        asm = (
            f"{guard}red.{opcode} {accessed};" if uses_red else f"{guard}atom.{opcode} {_braced(0, count)}, {accessed};"
        )
        old = inline_asm(text, asm, ",".join(constraints), [words.type] * results, operands, clobbers_memory=True)
        return words.unpack(text, old) if wants_old else []

    def atomic_cas(
        self,
        text: FunctionText,
        pointer: str,
        bits: int,
        compare: str,
        value: str,
        *,
        order: AtomicOrder,
        predicate: str | None,
    ) -> str:
        """The integer as it was; the memory takes `value` where it equals `compare`."""
        register, type = _CLASSES[f"i{bits}"], f"i{bits}"
        constraints = [f"={register}", "l", register, register]
        operands = [("ptr addrspace(1)", pointer), (type, compare), (type, value)]
        guard = ""
        if predicate is not None:
            constraints.append("b")
            operands.append(("i1", predicate))
            guard = "@$4 "
        asm = f"{guard}atom.{order.semantics}.{order.scope}.global.cas.b{bits} $0, [$1], $2, $3;"
        return inline_asm(text, asm, ",".join(constraints), [type], operands, clobbers_memory=True)[0]

    def atomic_load(
        self, text: FunctionText, pointer: str, bits: int, *, order: AtomicOrder, predicate: str | None
    ) -> str:
        """The integer there: `@$2 ld.acquire.gpu.global.b32 $0, [$1];` (0 where the predicate is false)."""
        type, register, wide = _integer_words(bits)
        constraints, operands, guard = [f"={register}", "l"], [("ptr addrspace(1)", pointer)], ""
        if predicate is not None:
            constraints += ["0", "b"]
            operands += [(wide, "0"), ("i1", predicate)]
            guard = "@$3 "
        asm = f"{guard}ld.{order.semantics}.{order.scope}.global.b{bits} $0, [$1];"
        [value] = inline_asm(text, asm, ",".join(constraints), [wide], operands, clobbers_memory=True)
        return value if wide == type else text.cast("trunc", wide, value, type)

    def atomic_store(
        self, text: FunctionText, pointer: str, bits: int, value: str, *, order: AtomicOrder, predicate: str | None
    ) -> None:
        """Write an integer: `@$2 st.release.gpu.global.b32 [$0], $1;`."""
        type, register, wide = _integer_words(bits)
        if wide != type:
            value = text.cast("zext", type, value, wide)
        constraints, operands, guard = ["l", register], [("ptr addrspace(1)", pointer), (wide, value)], ""
        if predicate is not None:
            constraints.append("b")
            operands.append(("i1", predicate))
            guard = "@$2 "
        asm = f"{guard}st.{order.semantics}.{order.scope}.global.b{bits} [$0], $1;"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def nanoseconds(self, text: FunctionText) -> str:
        """The GPU's clock, as i64."""
        return inline_asm(text, "mov.u64 $0, %globaltimer;", "=l", ["i64"], [], clobbers_memory=True)[0]

    def has_atomic(self, kind: str, scalar: str, bits: int, count: int = 1) -> bool:
        """Return whether one instruction does it; of addresses in other CTAs there is nothing else."""
        if kind == "fadd":
            return scalar != "bfloat" or self.facts.capability >= 90
        return bits in (32, 64) and count == 1

    def _in_branch(
        self,
        text: FunctionText,
        kind: str,
        pointer: str,
        scalar: str,
        value: str,
        order: AtomicOrder,
        predicate: str | None,
    ) -> str:
        ordering = f"{_LLVM_SCOPES[order.scope]} {_LLVM_ORDERINGS[order.semantics]}"
        instruction = f"atomicrmw {_LLVM_OPS[kind]} {pointer}, {scalar} {value}{ordering}"
        if predicate is None:
            return text.value(instruction)
        body, done, before = text.new_label("atomic"), text.new_label("done"), text.label
        text.branch_if(predicate, body, done)
        text.start(body)
        old = text.value(instruction)
        text.branch(done)
        text.start(done)
        phi = text.phi(scalar)
        phi.add("0" if scalar.startswith("i") else "zeroinitializer", before)
        phi.add(old, body)
        return phi.name


def _integer_words(bits: int) -> tuple[str, str, str]:
    """An integer type, the class of registers that hold it in inline PTX, and the type that it has there."""
    wide = "i16" if bits == 8 else f"i{bits}"
    return f"i{bits}", _CLASSES[wide], wide


def _operation(kind: str) -> str:
    return {"fadd": "add", "umax": "max", "umin": "min"}.get(kind, kind)


def _suffix(kind: str, scalar: str, bits: int, count: int) -> str:
    match kind:
        case "fadd":
            name = _FLOAT_KINDS[scalar]
            if bits == 16:
                packed = min(count, 2)
                vector = f".v{count // packed}" if count > packed else ""
                return f".noftz{vector}.{name}{'x2' if packed == 2 else ''}"
            return f".v{count}.{name}" if count > 1 else f".{name}"
        case "add" | "umax" | "umin":
            return f".u{bits}"
        case "max" | "min":
            return f".s{bits}"
        case _:
            return f".b{bits}"


class _Words:
    """How elements travel through inline PTX: pairs of 16 bits as vectors, exchanged floats as integers."""

    def __init__(self, scalar: str, bits: int, count: int, *, as_integers: bool) -> None:
        self.scalar = scalar
        self.is_paired = bits == 16 and count > 1
        self.is_cast = as_integers and not scalar.startswith("i")
        self.count = count // 2 if self.is_paired else count
        self.type = f"<2 x {scalar}>" if self.is_paired else f"i{bits}" if self.is_cast else scalar

    def pack(self, text: FunctionText, values: Sequence[str]) -> list[str]:
        """The words of elements."""
        if self.is_paired:
            return [build_vector(text, self.scalar, values[start : start + 2]) for start in range(0, len(values), 2)]
        if self.is_cast:
            return [text.cast("bitcast", self.scalar, value, self.type) for value in values]
        return list(values)

    def unpack(self, text: FunctionText, words: Sequence[str]) -> list[str]:
        """The elements of words."""
        if self.is_paired:
            pairs = [(word, index) for word in words for index in range(2)]
            return [text.extract_element(self.type, word, index) for word, index in pairs]
        if self.is_cast:
            return [text.cast("bitcast", self.type, word, self.scalar) for word in words]
        return list(words)


def _braced(first: int, count: int) -> str:
    names = ", ".join(f"${first + index}" for index in range(count))
    return f"{{ {names} }}" if count > 1 else names
