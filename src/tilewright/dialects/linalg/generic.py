"""`linalg.generic` and the ops of its body."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Region
from xdsl.ir.affine import AffineMap
from xdsl.irdl import AttrSizedOperandSegments, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, int_attr, segment_sizes, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operands, Result, inferred_result_def, opt_prop_def, prop_def, var_operand_def
from tilewright.dialects.linalg.attributes import IteratorType, IteratorTypeAttr, iterator_attrs
from tilewright.dialects.linalg.structured import StructuredOp, StructuredOpEffects, tensor_result_types
from tilewright.dialects.text import parse_ins_and_outs, print_ins_and_outs, print_result_types, write
from tilewright.dialects.types import I64_ATTR, INDEX
from tilewright.ir.verify import VerifiedAmongOthers


class YieldOp(Op):
    """``linalg.yield %x : f32``: the new elements of the destinations."""

    name = "linalg.yield"

    arguments: Operands = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Value) -> None:
        init_op(self, values_of(arguments))


class IndexOp(Op):
    """``%i = linalg.index 1 : index``: the counter of a loop of the enclosing op."""

    name = "linalg.index"

    dim: IntegerAttr = prop_def(I64_ATTR, converter=int_attr)
    result: Result = inferred_result_def(INDEX)

    traits = traits_def(Pure(), VerifiedAmongOthers())

    assembly_format = "$dim attr-dict `:` type($result)"

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None:
            return
        if not isinstance(parent, StructuredOp):
            raise VerifyException("expected parent op with LinalgOp interface")
        if not 0 <= self.dim.value.data < len(parent.iterators):
            raise VerifyException(f"there is no loop {self.dim.value.data}")


@lru_cache(maxsize=1024)
def _maps_of(attribute: ArrayAttr[AffineMapAttr]) -> tuple[AffineMap, ...]:
    """Passes ask for the maps of an op many times, and few kernels have a hundred different lists of them."""
    return tuple(attr.data for attr in attribute)


def _iterators_of(attribute: Any) -> tuple[IteratorType, ...]:
    known: tuple[IteratorType, ...] | None = attribute.__dict__.get("_iterators")
    if known is None:
        known = attribute.__dict__["_iterators"] = tuple([attr.data for attr in attribute.data])
    return known


class GenericOp(StructuredOp):
    """Loops over any maps with any body.

    ``%r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>)
    outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32): ... linalg.yield %x : f32 } -> tensor<4xf32>``
    """

    name = "linalg.generic"

    inputs: Operands = var_operand_def()
    outputs: Operands = var_operand_def()
    indexing_maps: ArrayAttr[AffineMapAttr] = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types: ArrayAttr[IteratorTypeAttr] = prop_def(ArrayAttr[IteratorTypeAttr])
    doc: StringAttr | None = opt_prop_def(StringAttr)
    library_call: StringAttr | None = opt_prop_def(StringAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(StructuredOpEffects())

    def __init__(
        self,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        body: Region | Block,
        indexing_maps: ArrayAttr[AffineMapAttr] | Sequence[AffineMapAttr | AffineMap],
        iterator_types: ArrayAttr[IteratorTypeAttr] | Sequence[Attribute | IteratorType | str],
        result_types: Sequence[Attribute] | None = None,
        *,
        doc: str | None = None,
        library_call: str | None = None,
    ) -> None:
        ins, outs = values_of(inputs), values_of(outputs)
        if not isinstance(indexing_maps, ArrayAttr):
            indexing_maps = ArrayAttr(AffineMapAttr(m) if isinstance(m, AffineMap) else m for m in indexing_maps)
        if not isinstance(iterator_types, ArrayAttr):
            iterator_types = ArrayAttr(iterator_attrs(iterator_types))
        properties: dict[str, Attribute] = {
            "indexing_maps": indexing_maps,
            "iterator_types": iterator_types,
            "operandSegmentSizes": segment_sizes(len(ins), len(outs)),
        }
        if doc is not None:
            properties["doc"] = StringAttr(doc)
        if library_call is not None:
            properties["library_call"] = StringAttr(library_call)
        types = tensor_result_types(outs) if result_types is None else result_types
        region = body if isinstance(body, Region) else Region(body)
        init_op(self, [*ins, *outs], types, properties, regions=(region,))

    @property
    def maps(self) -> Sequence[AffineMap]:
        return _maps_of(self.indexing_maps)

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return _iterators_of(self.iterator_types)

    def verify_(self) -> None:
        self.verify_structure()

    @classmethod
    def parse(cls, parser: Parser) -> GenericOp:
        position = parser.pos
        trait = parser.parse_optional_attr_dict()
        maps, iterators = trait.pop("indexing_maps", None), trait.pop("iterator_types", None)
        if not isinstance(maps, ArrayAttr) or not isinstance(iterators, ArrayAttr):
            parser.raise_error("expected indexing_maps and iterator_types", position, parser.pos)
        for kind in cast(ArrayAttr[Attribute], iterators).data:
            if isinstance(kind, StringAttr) and kind.data not in set(IteratorType):
                place = parser.pos
                parser.raise_error(f"custom op '{cls.name}' unexpected iterator_type ({kind.data})", place, place)
        inputs, outputs = parse_ins_and_outs(parser)
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("attrs"):
            parser.parse_punctuation("=")
            attributes = dict(parser.parse_optional_attr_dict())
        body = parser.parse_region()
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->"):
            several = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            # xDSL and older printers leave the parentheses out.
            types = (
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
                if several is None
                else several
            )
        map_attrs, iterator_attrs = cast(ArrayAttr[AffineMapAttr], maps), cast(ArrayAttr, iterators).data
        op = cls(inputs, outputs, body, map_attrs, iterator_attrs, types)
        for name in ("doc", "library_call"):
            if name in trait:
                op.properties[name] = trait.pop(name)
        op.attributes.update(trait | attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" {")
        if self.doc is not None:
            write(printer, "doc = ", self.doc, ", ")
        write(printer, "indexing_maps = ", self.indexing_maps)
        kinds = ", ".join(f'"{kind}"' for kind in self.iterators)
        printer.print_string(f", iterator_types = [{kinds}]")
        if self.library_call is not None:
            write(printer, ", library_call = ", self.library_call)
        printer.print_string("}")
        print_ins_and_outs(printer, self.inputs, self.outputs)
        if self.attributes:
            printer.print_string(" attrs = ")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body)
        print_result_types(printer, self.result_types)
