"""Printing attributes, types and locations the way upstream MLIR prints them: the half of the printer that needs no op.

What is written twice, or is long, gets an alias (`aliases`); of a type, and of an attribute that takes many pieces, the
text is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    CallSiteLoc,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRLexer

from tilewright.ir.affine_text import format_map, format_set
from tilewright.ir.aliases import Alias, AliasTable, Pieces, alias_base, join_pieces
from tilewright.ir.floats import float_from_bits, format_float

_HEX_ABOVE = 100
"""Dense constants with more elements than this are printed as one hexadecimal string."""

_MANY, _LONG = 1 << 11, 1 << 14
"""Pieces from which on an attribute may be long, and characters from which on it is. A long one gets an alias: where
it is used twice by one that is used twice, and so on, its text would double at each step."""


class AttributePrinter(Printer):
    """An xDSL printer that collects pieces of text, of attributes in upstream's spelling."""

    def __init__(self, *, locations: bool = False, generic: bool = False) -> None:
        super().__init__(print_generic_format=generic, print_debuginfo=locations)
        self.pieces: Pieces = []
        self.aliases = AliasTable()
        self.inline_aliases = False
        self.abridges = False
        """Whether of long texts only the beginning is wanted."""
        self.most_elements: int | None = None
        self._known_pieces: dict[int, tuple[Attribute, Pieces]] = {}

    def print_list(self, elems: Iterable[Any], print_fn: Callable[[Any], Any], delimiter: str = ", ") -> None:
        first = True
        for elem in elems:
            if not first:
                self.pieces.append(delimiter)
            first = False
            print_fn(elem)

    def print_op_attributes(
        self,
        attributes: Mapping[str, Attribute],
        *,
        reserved_attr_names: Iterable[str] = (),
        print_keyword: bool = False,
    ) -> bool:
        hidden = {*reserved_attr_names, "op_name__"}
        shown = {name: value for name, value in attributes.items() if name not in hidden} if attributes else {}
        if not shown:
            return False
        self.pieces.append(" attributes " if print_keyword else " ")
        self.print_attr_dict(shown)
        return True

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        self.pieces.append("{")
        separator = ""
        for name in sorted(attr_dict):
            value = attr_dict[name]
            if isinstance(value, UnitAttr):
                self.pieces.append(f"{separator}{_key_text(name)}")
            else:
                self.pieces.append(f"{separator}{_key_text(name)} = ")
                self.print_attribute(value)
            separator = ", "
        self.pieces.append("}")

    def print_attribute(self, attribute: Attribute) -> None:
        known = self._known_pieces.get(id(attribute))
        if known is not None:
            self.pieces += known[1]
            return
        if not self.aliases.never_aliased(type(attribute)) and not self.inline_aliases:
            base = alias_base(attribute)
            if base is not None:
                self.pieces.append(self.aliases.use(attribute, base, lambda out: self._print_body_to(out, attribute)))
                return
        start = len(self.pieces)
        self._print_attribute_body(attribute)
        if isinstance(attribute, TypeAttribute):
            written = self._shorten(attribute, _merge(self.pieces[start:]))
        elif self.inline_aliases or len(self.pieces) - start > _MANY:
            written = self._shorten(attribute, self.pieces[start:])
        else:
            return
        self._known_pieces[id(attribute)] = attribute, written
        self.pieces[start:] = written

    def _shorten(self, attribute: Attribute, pieces: Pieces) -> Pieces:
        """An alias in place of a long text; in an error message, which has no room for aliases, its beginning."""
        if sum(map(_length, pieces)) <= _LONG:
            return pieces
        if self.inline_aliases:
            return [f"{join_pieces(pieces)[:_LONG]}..."] if self.abridges else pieces
        return [self.aliases.use(attribute, "long", lambda out: out.extend(pieces))]

    def _print_body_to(self, out: Pieces, attribute: Attribute) -> None:
        outer, self.pieces = self.pieces, out
        self._print_attribute_body(attribute)
        self.pieces = outer

    def _print_attribute_body(self, attribute: Attribute) -> None:
        match attribute:
            case AffineMapAttr():
                self.pieces.append(f"affine_map<{format_map(attribute.data)}>")
            case AffineSetAttr():
                self.pieces.append(f"affine_set<{format_set(attribute.data)}>")
            case DenseIntOrFPElementsAttr():
                self._print_dense(attribute)
            case ArrayAttr():
                self.pieces.append("[")
                self.print_list(attribute.data, self._print_element)
                self.pieces.append("]")
            case MemRefType() | UnrankedMemRefType() if isinstance(attribute.memory_space, IntegerAttr):
                self._print_memref_with_space(attribute)
            case FileLineColLoc() | NameLoc() | CallSiteLoc() | FusedLoc() | UnknownLoc():
                self.print_written_location(attribute)
            case _:
                super().print_attribute(attribute)

    def _print_element(self, attribute: Attribute) -> None:
        """An element of an array: 64-bit numbers go without their type."""
        match attribute:
            case IntegerAttr() if attribute.get_type() == i64:
                self.pieces.append(str(attribute.value.data))
            case FloatAttr() if attribute.get_type() == f64:
                self.print_float(attribute.value.data, f64)
            case _:
                self.print_attribute(attribute)

    def _print_memref_with_space(self, type: MemRefType | UnrankedMemRefType) -> None:
        """``memref<4x?xf32, strided<[1, 4]>, 3>``."""
        self.pieces.append("memref<")
        if isinstance(type, UnrankedMemRefType):
            self.pieces.append("*x")
        else:
            self.pieces += ("?x" if extent == DYNAMIC_INDEX else f"{extent}x" for extent in type.get_shape())
        self.print_attribute(type.element_type)
        if isinstance(type, MemRefType) and not isinstance(type.layout, NoneAttr):
            self.pieces.append(", ")
            self.print_attribute(type.layout)
        self.pieces.append(", ")
        self._print_element(type.memory_space)
        self.pieces.append(">")

    def print_float(self, value: float, type: AnyFloat) -> None:
        self.pieces.append(format_float(value, type))

    def _print_dense(self, attribute: DenseIntOrFPElementsAttr) -> None:
        element_type = attribute.get_element_type()
        if isinstance(element_type, ComplexType):
            super().print_attribute(attribute)
            return
        text = f"dense<{_dense_body(attribute, element_type)}>"
        count = len(attribute.data.data) // element_type.compile_time_size
        if self.most_elements is not None and count > self.most_elements and not attribute.is_splat():
            text = "dense_resource<__elided__>"
        self.pieces.append(f"{text} : ")
        self.print_attribute(attribute.type)

    # Locations.

    def use_location(self, location: Attribute, *, deferrable: bool) -> Any:
        if self.inline_aliases:
            return self._written_out(location)
        return self.aliases.use(
            location, "loc", lambda out: self._define_location(location, out, deferrable), deferrable=deferrable
        )

    def print_written_location(self, location: Attribute) -> None:
        """``loc("x"(#loc))`` where upstream writes out the outermost location, as after arguments. The alias that it
        would have is defined all the same."""
        if self.print_debuginfo and not self.inline_aliases:
            self.use_location(location, deferrable=False)
        self._define_location(location, self.pieces, deferrable=False)

    def _define_location(self, location: Attribute, out: Pieces, deferrable: bool) -> None:
        out.append("loc(")
        self._print_location_body(location, out, deferrable=deferrable)
        out.append(")")

    def _print_location_body(self, location: Attribute, out: Pieces, *, deferrable: bool) -> None:
        """Print the location between the parentheses of ``loc(...)``; locations inside are aliases."""
        outer, self.pieces = self.pieces, out
        match location:
            case FileLineColLoc():
                self.print_string_literal(location.filename.data)
                out.append(f":{location.line.data}:{location.column.data}")
            case NameLoc():
                self.print_string_literal(location.desc.data)
                if not isinstance(location.location, NoneAttr | UnknownLoc):
                    out += ("(", self.use_location(location.location, deferrable=deferrable), ")")
            case CallSiteLoc():
                out += ("callsite(", self.use_location(location.callee, deferrable=deferrable), " at ")
                out += (self.use_location(location.caller, deferrable=deferrable), ")")
            case FusedLoc(locations=ArrayAttr(data=parts)):
                out.append("fused")
                if not isinstance(location.metadata, NoneAttr):
                    out.append("<")
                    self.print_attribute(location.metadata)
                    out.append(">")
                for index, part in enumerate(parts):
                    out += (", " if index else "[", self.use_location(part, deferrable=deferrable))
                out.append("]")
            case _:
                out.append("unknown")
        self.pieces = outer

    def _written_out(self, location: Attribute) -> str:
        known = self._known_pieces.get(id(location))
        if known is None:
            pieces: Pieces = []
            self._print_location_body(location, pieces, deferrable=False)
            known = self._known_pieces[id(location)] = location, self._shorten(location, _merge(pieces))
        return join_pieces(known[1])


def _length(piece: str | Alias) -> int:
    return len(piece) if isinstance(piece, str) else len(piece.base)


def _merge(pieces: Pieces) -> Pieces:
    """The same pieces, in one string where no alias is among them."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return ["".join(texts)] if len(texts) == len(pieces) else pieces


_key_texts: dict[str, str] = {}


def _key_text(name: str) -> str:
    """An attribute's name, in quotes if it is not an identifier."""
    text = _key_texts.get(name)
    if text is None:
        plain = MLIRLexer.bare_identifier_regex.fullmatch(name) is not None
        text = _key_texts[name] = name if plain else '"' + name.replace("\\", "\\\\").replace('"', "\\22") + '"'
    return text


def _dense_body(attribute: DenseIntOrFPElementsAttr, element_type: Any) -> str:
    """Return what stands between the brackets of ``dense<...>``: nothing, one splat value, nested lists, or a hex
    string.
    """
    data = attribute.data.data
    size = element_type.compile_time_size
    count = len(data) // size
    if count == 0:
        return ""
    if data == data[:size] * count:
        return _element_text(data[:size], element_type)
    if count > _HEX_ABOVE and element_type != i1:
        return f'"0x{data.hex().upper()}"'
    elements = [_element_text(data[start : start + size], element_type) for start in range(0, len(data), size)]
    for extent in reversed(attribute.get_shape()):
        elements = [f"[{', '.join(elements[i : i + extent])}]" for i in range(0, len(elements), extent)]
    return elements[0]


def _element_text(data: bytes, element_type: Any) -> str:
    """One element from its bytes; the bits of a NaN are kept."""
    if isinstance(element_type, IntegerType | IndexType):
        value = next(iter(element_type.iter_unpack(data)))
        if element_type == i1:
            return "true" if value else "false"
        return str(value)
    bits = int.from_bytes(data, "little")
    number = float_from_bits(bits, element_type)
    return format_float(number, element_type) if number == number else f"0x{bits:X}"
