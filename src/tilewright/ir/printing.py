"""Printing IR the way upstream MLIR prints it.

xDSL's ops print themselves through a printer; `MLIRPrinter` is one whose words are upstream's: names (`naming`),
aliases (`aliases`), attributes and locations (`attribute_printing`), `%a:2`, `// pred: ^bb0`, a table of locations at
the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from tilewright.ir.aliases import join_pieces
from tilewright.ir.attribute_printing import AttributePrinter
from tilewright.ir.diagnostics import op_name
from tilewright.ir.naming import ValueNames

_DEFAULT_DIALECT = {"builtin.module": "builtin.", "func.func": "func."}
"""Ops inside of which the ops of one dialect are written without its name."""


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


class MLIRPrinter(AttributePrinter):
    """An xDSL printer that collects pieces of text in upstream's spelling."""

    def __init__(self, *, locations: bool = False, generic: bool = False) -> None:
        super().__init__(locations=locations, generic=generic)
        self.names: ValueNames | None = None
        self.skip_regions = False
        self._line_break = "\n"
        self._elided_dialect = ""

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
            self.print_written_location(arg.location)

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
        location = self.use_location(op.location, deferrable=True) if self.print_debuginfo else None
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


def _top_level_op(value: SSAValue) -> Operation:
    owner = value.owner
    op = owner if isinstance(owner, Operation) else owner.parent_op()
    assert op is not None, "printing a value of a block that belongs to no op"
    while (parent := op.parent_op()) is not None:
        op = parent
    return op
