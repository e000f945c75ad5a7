"""What a kernel is compiled for, read from text: one entry for each parameter, in order or by name.

"*fp32:16, *fp32:16, i32, 1024"          types; `:16` promises a multiple of 16, `:1` the value 1; constants
"*fp32, *fp32, i32, BLOCK=1024"          the rest by name
"*fp16, i64, ACT='relu', T=tl.float16"   strings, dtypes, True, False, None
"tensordesc<fp16[32, 64]>, i32"          tensor descriptors, with the shape of blocks
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from tilewright.language import dtypes
from tilewright.language.callables import JITCallable
from tilewright.runtime.tensor_descriptor import MAX_RANK
from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass

C_TYPES = {
    "i1": "bool", "u1": "bool", "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t",
    "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "fp16": "uint16_t", "bf16": "uint16_t", "fp32": "float",
    "fp64": "double", "fp8e4nv": "uint8_t", "fp8e4b8": "uint8_t", "fp8e4b15": "uint8_t", "fp8e5": "uint8_t",
    "fp8e5b16": "uint8_t",
}  # fmt: skip
"""The C type of each element type; 16-bit and 8-bit floats are passed as their bits."""

_KEYWORDS = """
    alignas alignof asm auto bool break case catch char class const constexpr continue default delete do double else
    enum explicit export extern false float for friend goto if inline int long mutable namespace new nullptr operator
    private protected public register restrict return short signed sizeof static struct switch template this throw true
    try typedef typename typeof union unsigned using virtual void volatile wchar_t while xor and or not
"""
C_KEYWORDS = frozenset(_KEYWORDS.split())
"""Of C and C++, which both read the headers."""

TAKEN = frozenset(("stream", "algorithm", "grid_x", "grid_y", "grid_z", "main"))
"""Names that the functions have uses of their own for; all others of theirs begin with `tw_`."""

DESCRIPTOR = re.compile(r"tensordesc<\s*(?P<element>\w+)\s*\[(?P<block>\s*\d+\s*(,\s*\d+\s*)*)\]\s*>")
"""Tensor descriptors in signatures: `tensordesc<fp16[32, 64]>`."""

HINTS = {"": 0, "1": 1, "16": 16}


def c_name(name: str) -> str:
    """A Python name as C takes it: keywords and names in use get an underscore, letters beyond ASCII their codes."""
    plain = "".join(letter if letter.isascii() else f"u{ord(letter):04x}" for letter in name)
    return f"{plain}_" if plain in C_KEYWORDS or plain in TAKEN or plain.startswith("tw_") else plain


class SignatureError(TilewrightError):
    """A signature that does not describe the kernel's parameters."""


@dataclass(frozen=True)
class Argument:
    """One parameter: a run-time value of a type, perhaps with a promise, or a constant."""

    name: str
    type: str = ""
    """As in Triton's signatures, such as `*fp32`; empty for constants."""
    hint: int = 0
    """16 where the value is a multiple of 16, 1 where it is 1, else 0."""
    constant: Any = None

    @property
    def c_name(self) -> str:
        """Its name in C."""
        return c_name(self.name)

    @property
    def is_passed(self) -> bool:
        """True if the C function has this parameter."""
        return bool(self.type)

    @property
    def is_in_kernel(self) -> bool:
        """True if the kernel takes it when it runs."""
        return self.is_passed and self.hint != 1

    @property
    def is_pointer(self) -> bool:
        return self.type.startswith("*")

    @property
    def rank(self) -> int:
        """The dimensions of a tensor descriptor; 0 for anything else."""
        return 0 if (found := DESCRIPTOR.fullmatch(self.type)) is None else found["block"].count(",") + 1

    @property
    def element(self) -> str:
        """The type, or what a pointer or descriptor points to."""
        found = DESCRIPTOR.fullmatch(self.type)
        return self.type.removeprefix("*").removeprefix("k") if found is None else found["element"]


@dataclass(frozen=True)
class Signature:
    """What one variant of a kernel is compiled for."""

    arguments: tuple[Argument, ...]

    @property
    def types(self) -> tuple[tuple[str, str], ...]:
        """Names and types of what the C function takes: equal for variants of one function."""
        return tuple((argument.name, argument.type) for argument in self.arguments if argument.is_passed)

    @property
    def constants(self) -> tuple[tuple[str, str], ...]:
        """The constants by which algorithms are told apart, as pairs of name and value."""
        return tuple((argument.name, repr(argument.constant)) for argument in self.arguments if not argument.is_passed)

    @property
    def suffix(self) -> str:
        """Triton's: the number of each parameter, with `d` for a multiple of 16 and `c` for the value 1."""
        marks = {0: "", 1: "c", 16: "d"}
        return "".join(f"{index}{marks[argument.hint]}" for index, argument in enumerate(self.arguments))

    def name(self, base: str, *more: object) -> str:
        """Triton's name of a variant: `add_kernel_5f3a09c1_0d1d2`."""
        shown = repr([(argument.type, argument.hint, repr(argument.constant)) for argument in self.arguments])
        return f"{base}_{hashlib.sha256(repr((shown, *more)).encode()).hexdigest()[:8]}_{self.suffix}"


def read_signature(text: str, function: JITCallable) -> Signature:
    """The signature of a kernel. Raises SignatureError that names the parameter and what is expected."""
    given: dict[str, str] = {}
    for index, entry in enumerate(entries_of(text)):
        name, separator, value = entry.partition("=")
        if not separator:
            if index >= len(function.arg_names):
                raise SignatureError(f"{len(entries_of(text))} entries in {text!r}, but {_described(function)}")
            name, value = function.arg_names[index], entry
        name = name.strip()
        if name not in function.arg_names or name in given:
            what = "given twice" if name in given else "not a parameter"
            raise SignatureError(f"{name!r} is {what}: {_described(function)}")
        given[name] = value.strip()
    return Signature(tuple(_argument(parameter.name, given, function) for parameter in function.params))


def entries_of(text: str) -> list[str]:
    """The entries between commas, those inside of brackets and quotes left alone."""
    entries: list[str] = []
    depth, quote, current = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        if character == "," and not depth and not quote:
            entries.append(current.strip())
            current = ""
        else:
            current += character
    return [*entries, current.strip()] if current.strip() else entries


def _argument(name: str, given: dict[str, str], function: JITCallable) -> Argument:
    parameter = next(parameter for parameter in function.params if parameter.name == name)
    if name not in given:
        default = function.signature.parameters[name].default
        if default is not function.signature.empty:
            return Argument(name, constant=default)
        raise SignatureError(f"parameter {name!r} is missing: {_described(function)}")
    text = given[name]
    if parameter.is_constexpr:
        return Argument(name, constant=_constant(name, text))
    if text.startswith("tensordesc"):
        return _descriptor(name, text)
    kind, _, hint = text.partition(":")
    kind, hint = kind.strip(), hint.strip()
    if kind.removeprefix("*").removeprefix("k") not in C_TYPES:
        return Argument(name, constant=_constant(name, text))
    if hint not in HINTS:
        raise SignatureError(f"parameter {name!r}: {text!r} promises {hint}; expected :16 (a multiple of it) or :1")
    if hint == "1" and (kind.startswith("*") or kind[0] not in "iu"):
        raise SignatureError(f"parameter {name!r}: {text!r} promises 1, which is for integers")
    if hint == "16" and not kind.startswith("*") and kind[0] not in "iu":
        raise SignatureError(
            f"parameter {name!r}: {text!r} promises a multiple of 16, which is for integers and pointers"
        )
    return Argument(name, kind, HINTS[hint])


def _descriptor(name: str, text: str) -> Argument:
    """A tensor descriptor, which makes promises of its own."""
    argument = Argument(name, text)
    if argument.element not in C_TYPES or not 1 <= argument.rank <= MAX_RANK:
        raise SignatureError(
            f"parameter {name!r}: {text!r} is not a tensor descriptor: expected an element type and the shape of "
            f"blocks in at most {MAX_RANK} dimensions, as tensordesc<fp16[32, 64]>"
        )
    return argument


def _constant(name: str, text: str) -> Any:
    """A constant's value: a Python literal, or a dtype by its name."""
    found = getattr(dtypes, text.rpartition(".")[2], None)
    if isinstance(found, dtypes.dtype):
        return found
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        types = ", ".join(sorted(C_TYPES))
        raise SignatureError(
            f"parameter {name!r}: {text!r} is neither a type ({types}, with * for pointers) nor a constant (a number, "
            "string, True, False, None, or dtype)"
        ) from None


def _described(function: JITCallable) -> str:
    shown: Sequence[str] = [f"{p.name}: constexpr" if p.is_constexpr else p.name for p in function.params]
    return f"kernel {function.fn.__name__} has the parameters {', '.join(shown)}"
