"""Printing IR the way upstream MLIR prints it.

xDSL's ops print themselves through a printer; `MLIRPrinter` is one whose words are upstream's: names (`naming`),
aliases (`aliases`), float literals (`floats`), affine maps (`affine_text`), sorted attribute dictionaries, `%a:2`,
`// pred: ^bb0`, locations as a table at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
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
    UnregisteredOp,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue, TypeAttribute
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.mlir_lexer import MLIRLexer

from tilewright.ir.affine_text import format_map, format_set
from tilewright.ir.aliases import Alias, AliasTable, Pieces, alias_base, join_pieces
from tilewright.ir.diagnostics import op_name
from tilewright.ir.floats import float_from_bits, format_float
from tilewright.ir.naming import ValueNames

_DEFAULT_DIALECT = {"builtin.module": "builtin.", "func.func": "func."}
"""Ops inside of which the ops of one dialect are written without its name."""

_HEX_ABOVE = 100
"""Dense constants with more elements than this are printed as one hexadecimal string."""

_MANY, _LONG = 1 << 11, 1 << 14
"""Pieces from which on an attribute may be long, and characters from which on it is. A long one gets an alias: where
it is used twice by one that is used twice, and so on, its text would double at each step."""


def print_op(
    op: Operation,
    *,
    locations: bool = False,
    generic: bool = False,
    names_from_locations: bool | None = None,
    local_scope: bool = False,
    skip_regions: bool = False,
    most_elements: int | None = None,
) -> str:
    """The text of an op (and what it contains), in upstream MLIR's spelling, ending in a newline.

    With `locations`, every op ends in ``loc(#locN)`` and a table of them follows; values then take the names of the
    user's variables where locations carry them, as Triton prints its IR (`names_from_locations` decides otherwise).
    `local_scope` writes out what else is an alias. `skip_regions` and constants of more than `most_elements` elements
    leave out what then cannot be read back.
    """
    by_location = locations if names_from_locations is None else names_from_locations
    printer = MLIRPrinter(locations=locations, generic=generic)
    printer.inline_aliases, printer.skip_regions, printer.most_elements = local_scope, skip_regions, most_elements
    printer.names = ValueNames(op, special=not generic, from_locations=by_location)
    printer.print_op(op)
    return printer.text()


def print_inner_op(op: Operation) -> str:
    """An op in generic form and full, as notes of diagnostics show it: values have the names of the whole function."""
    root = op
    while not root.has_trait(IsolatedFromAbove, value_if_unregistered=False) and (outer := root.parent_op()):
        root = outer
    printer = MLIRPrinter(generic=True)
    printer.inline_aliases = True
    printer.names = ValueNames(root, special=False)
    printer.print_op(op)
    return printer.text().rstrip("\n")


def print_attribute(attribute: Attribute) -> str:
    """The text of an attribute or type, without aliases."""
    printer = MLIRPrinter()
    printer.inline_aliases = printer.abridges = True
    printer.print_attribute(attribute)
    return join_pieces(printer.pieces)


class HasTextName(ABC):
    """An op that some versions of Triton write under another name than its own."""

    @abstractmethod
    def text_name(self) -> str:
        """Return the name that is printed."""


class MLIRPrinter(Printer):
    """An xDSL printer that collects pieces of text in upstream's spelling."""

    def __init__(self, *, locations: bool = False, generic: bool = False) -> None:
        super().__init__(print_generic_format=generic, print_debuginfo=locations)
        self.pieces: Pieces = []
        self.aliases = AliasTable()
        self.names: ValueNames | None = None
        self.inline_aliases = False
        self.abridges = False
        """Whether of long texts only the beginning is wanted."""
        self.skip_regions = False
        self.most_elements: int | None = None
        self._line_break = "\n"
        self._elided_dialect = ""
        self._known_pieces: dict[int, tuple[Attribute, Pieces]] = {}

    def text(self) -> str:
        """Everything printed so far, between the definitions of the aliases it uses."""
        self.aliases.choose_names()
        early = "".join(self.aliases.definitions(deferred=False))
        late = "".join(self.aliases.definitions(deferred=True))
        return f"{early}{join_pieces(self.pieces)}\n{late}"

    # Text and layout.

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text and indent != 0:
            text = text.replace("\n", self._line_break if indent is None else "\n" + "  " * indent)
        self.pieces.append(text)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self.pieces.append(self._line_break if indent is None else "\n" + "  " * indent)

    @contextmanager
    def indented(self, amount: int = 1) -> Generator[None]:
        outer = self._line_break
        self._line_break = outer + "  " * amount
        try:
            yield
        finally:
            self._line_break = outer

    def print_list(self, elems: Iterable[Any], print_fn: Callable[[Any], Any], delimiter: str = ", ") -> None:
        first = True
        for elem in elems:
            if not first:
                self.pieces.append(delimiter)
            first = False
            print_fn(elem)

    # Values and blocks.

    def print_ssa_value(self, value: SSAValue) -> str:
        if self.names is None:
            self.names = ValueNames(_top_level_op(value))
        name = self.names.values.get(value) or self.names.of_unknown(value)
        self.pieces.append(name)
        return name[1:]

    def print_operand(self, operand: SSAValue) -> None:
        self.print_ssa_value(operand)

    def print_block_name(self, block: Block) -> str:
        name = self.names.blocks.get(block, "bb?") if self.names is not None else "bb?"
        self.pieces.append(f"^{name}")
        return name

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        self.print_region_argument(arg, {}, print_type=print_type)

    def print_region_argument(
        self, arg: BlockArgument, attributes: Mapping[str, Attribute], *, print_type: bool = True
    ) -> None:
        """``%arg0: i32 {tt.divisibility = 16 : i32} loc("n"(#loc))``: an argument in a signature."""
        self.print_ssa_value(arg)
        if not print_type:
            return
        self.pieces.append(": ")
        self.print_attribute(arg.type)
        self.print_op_attributes(attributes)
        if self.print_debuginfo:
            self.pieces.append(" ")
            self._print_written_location(arg.location)

    def print_block(self, block: Block, print_block_args: bool = True, print_block_terminator: bool = True) -> None:
        if print_block_args:
            self._print_block_header(block)
        outer = self._line_break
        self._line_break = outer + "  "
        for op in block.ops:
            if not print_block_terminator and op.has_trait(IsTerminator, value_if_unregistered=False):
                continue
            self.pieces.append(self._line_break)
            self.print_op(op)
        self._line_break = outer

    def _print_block_header(self, block: Block) -> None:
        self.pieces.append(self._line_break)
        self.print_block_name(block)
        if block.args:
            self.pieces.append("(")
            self.print_list(block.args, self.print_block_argument)
            self.pieces.append(")")
        self.pieces.append(":" + self._predecessor_comment(block))

    def _predecessor_comment(self, block: Block) -> str:
        names = self.names
        if block.parent is None or block.parent.first_block is block or names is None:
            return ""
        found = {use.operation.parent for use in block.uses if use.operation.parent is not None}
        ordered = sorted(found, key=lambda pred: names.block_order.get(pred, 0))
        if not ordered:
            return "  // no predecessors"
        listed = ", ".join(f"^{names.blocks.get(pred, 'bb?')}" for pred in ordered)
        return f"  // pred: {listed}" if len(ordered) == 1 else f"  // {len(ordered)} preds: {listed}"

    def print_region(
        self,
        region: Region,
        print_entry_block_args: bool = True,
        print_empty_block: bool = True,
        print_block_terminators: bool = True,
    ) -> None:
        outer = self._elided_dialect
        parent = region.parent
        self._elided_dialect = _DEFAULT_DIALECT.get(parent.name, "") if parent is not None else ""
        self.pieces.append("{")
        entry = region.first_block
        if self.skip_regions:
            self.pieces.append("...}")
            self._elided_dialect = outer
            return
        if entry is not None:
            has_header = (print_entry_block_args and bool(entry.args)) or (print_empty_block and entry.first_op is None)
            self.print_block(entry, has_header, print_block_terminators)
            block = entry.next_block
            while block is not None:
                self.print_block(block, True, print_block_terminators)
                block = block.next_block
        self.pieces.append(self._line_break + "}")
        self._elided_dialect = outer

    def print_regions(self, regions: Sequence[Region]) -> None:
        if regions:
            self.pieces.append(" (")
            self.print_list(regions, self.print_region)
            self.pieces.append(")")

    # Ops.

    def print_op(self, op: Operation) -> None:
        location = self._use_location(op.location, deferrable=True) if self.print_debuginfo else None
        if op.results:
            self._print_left_side(op)
        custom = not self.print_generic_format and type(op).print is not Operation.print
        if custom and not isinstance(op, UnregisteredOp):
            self._print_op_name(op.text_name() if isinstance(op, HasTextName) else op.name)
            if op.name == "builtin.module":
                self._print_module(op)
            else:
                op.print(self)
        else:
            self.pieces.append(f'"{op_name(op)}"')
            self.print_op_with_default_format(op)
        if location is not None:
            self.pieces += (" loc(", location, ")")

    def _print_left_side(self, op: Operation) -> None:
        header = self.names.headers.get(op) if self.names is not None else None
        if header is not None:
            self.pieces.append(header)
        else:
            self.print_list(op.results[:1], self.print_ssa_value)
        self.pieces.append(" = ")

    def _print_op_name(self, name: str) -> None:
        for prefix in (self._elided_dialect, "builtin.module"):
            if prefix == "builtin.module" and name == prefix:
                name = "module"
            elif prefix and name.startswith(prefix) and name.count(".") == 1:
                name = name[len(prefix) :]
        self.pieces.append(name)

    def _print_module(self, op: Operation) -> None:
        name = op.properties.get("sym_name")
        if name is not None:
            self.pieces.append(" ")
            self.print_symbol_name(getattr(name, "data", ""))
        self.print_op_attributes(op.attributes, print_keyword=True)
        self.pieces.append(" ")
        self.print_region(op.regions[0], print_empty_block=False)

    def print_op_with_default_format(self, op: Operation) -> None:
        self.pieces.append("(")
        self.print_list(op.operands, self.print_ssa_value)
        self.pieces.append(")")
        if op.successors:
            self.pieces.append("[")
            self.print_list(op.successors, self.print_block_name)
            self.pieces.append("]")
        # Upstream numbers the aliases of what is within an op before those of the op.
        start = len(self.pieces)
        self.print_regions(op.regions)
        regions = self.pieces[start:]
        del self.pieces[start:]
        if op.properties:
            self.pieces.append(" <")
            self.print_attr_dict(op.properties)
            self.pieces.append(">")
        self.pieces += regions
        self.print_op_attributes(op.attributes)
        self.pieces.append(" : ")
        self.print_operation_type(op)

    def print_operation_type(self, op: Operation) -> None:
        self.print_function_type(op.operand_types, op.result_types)

    # Attributes.

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
                self._print_written_location(attribute)
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

    def _use_location(self, location: Attribute, *, deferrable: bool) -> Any:
        if self.inline_aliases:
            return self._written_out(location)
        return self.aliases.use(
            location, "loc", lambda out: self._define_location(location, out, deferrable), deferrable=deferrable
        )

    def _print_written_location(self, location: Attribute) -> None:
        """``loc("x"(#loc))`` where upstream writes out the outermost location, as after arguments. The alias that it
        would have is defined all the same."""
        if self.print_debuginfo and not self.inline_aliases:
            self._use_location(location, deferrable=False)
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
                    out += ("(", self._use_location(location.location, deferrable=deferrable), ")")
            case CallSiteLoc():
                out += ("callsite(", self._use_location(location.callee, deferrable=deferrable), " at ")
                out += (self._use_location(location.caller, deferrable=deferrable), ")")
            case FusedLoc(locations=ArrayAttr(data=parts)):
                out.append("fused")
                if not isinstance(location.metadata, NoneAttr):
                    out.append("<")
                    self.print_attribute(location.metadata)
                    out.append(">")
                for index, part in enumerate(parts):
                    out += (", " if index else "[", self._use_location(part, deferrable=deferrable))
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


def _top_level_op(value: SSAValue) -> Operation:
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    assert op is not None, "printing a value of a block that belongs to no op"
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


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
