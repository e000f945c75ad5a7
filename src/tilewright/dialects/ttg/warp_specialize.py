"""Different code for different warps of a CTA."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, i32
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure, RecursiveMemoryEffect, ReturnLike
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_array, init_op, static_values, values_of
from tilewright.dialects.fields import (
    Bodies,
    Body,
    I64Array,
    Operands,
    Results,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from tilewright.dialects.text import write
from tilewright.dialects.ttg.constraints import TritonGPUOp
from tilewright.ir.verify import VerifiedAmongOthers

I32_ARRAY = DenseArrayBase.constr(i32)


class WarpSpecializePartitionsOp(TritonGPUOp):
    """Holds the partitions of a `ttg.warp_specialize`, isolated from what is around them.

    `"ttg.warp_specialize.partitions"() ({ ... }, { ... }) : () -> ()`, in generic form alone.
    """

    name = "ttg.warp_specialize.partitions"

    partition_regions: Bodies = var_region_def()

    traits = traits_def(IsolatedFromAbove(), IsTerminator(), RecursiveMemoryEffect())

    def verify_(self) -> None:
        if not isinstance(self.parent_op(), WarpSpecializeOp):
            raise VerifyException("expects parent op 'ttg.warp_specialize'")


class WarpSpecializeOp(HasCanonicalizationPatternsInterface, TritonGPUOp):
    """Runs the default region on the kernel's own warps and each partition on warps of its own, all at once.

    ```mlir
    %r = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %v : i32
    }
    partition0(%p: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
    """

    name = "ttg.warp_specialize"

    explicit_captures: Operands = var_operand_def()
    partition_num_warps: I64Array = prop_def(I32_ARRAY, prop_name="partitionNumWarps")
    warp_group_start_ids: I64Array | None = opt_prop_def(I32_ARRAY, prop_name="warpGroupStartIds")
    requested_registers: I64Array | None = opt_prop_def(I32_ARRAY, prop_name="requestedRegisters")
    actual_registers: I64Array | None = opt_prop_def(I32_ARRAY, prop_name="actualRegisters")
    default_region: Body = region_def()
    partition_holder: Body = region_def("single_block")
    default_passthrough: Results = var_result_def()

    traits = traits_def(RecursiveMemoryEffect(), VerifiedAmongOthers())

    def __init__(
        self,
        captures: Sequence[Value],
        result_types: Sequence[Attribute],
        default_region: Region,
        partitions: Sequence[Region],
        num_warps: Sequence[int],
        properties: dict[str, Attribute] | None = None,
    ):
        holder = Region(Block([WarpSpecializePartitionsOp(partitions)]))
        given = {**(properties or {}), "partitionNumWarps": i32_array(tuple(num_warps))}
        init_op(self, values_of(captures), result_types, given, regions=(default_region, holder))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import RemoveCaptures

        return (RemoveCaptures(),)

    @property
    def partitions(self) -> Sequence[Region]:
        """The regions of the partitions."""
        block = self.partition_holder.blocks.first
        holder = None if block is None else block.last_op
        return holder.regions if isinstance(holder, WarpSpecializePartitionsOp) else ()

    @property
    def num_warps(self) -> tuple[int, ...]:
        """Warps of each partition."""
        return static_values(self.partition_num_warps)

    def verify_(self) -> None:
        if not isinstance(getattr(self.partition_holder.blocks.first, "last_op", None), WarpSpecializePartitionsOp):
            raise VerifyException(
                "expected to find only a `ttg.warp_specialize.partitions` op inside its second region"
            )
        if len(self.num_warps) != len(self.partitions):
            raise VerifyException(
                f"has {len(self.partitions)} partitions but `partitionNumWarps` has {len(self.num_warps)} elements"
            )
        for index, count in enumerate(self.num_warps):
            if count <= 0 or count & (count - 1):
                raise VerifyException(f"partition #{index} number of warps ({count}) must be a power of 2")
        starts = None if self.warp_group_start_ids is None else static_values(self.warp_group_start_ids)
        if starts is not None and len(starts) != len(self.num_warps):
            raise VerifyException(f"has {len(starts)} warp group start IDs but expected {len(self.num_warps)}")
        captured = [value.type for value in self.operands]
        for index, region in enumerate(self.partitions):
            block = region.blocks.first
            if block is None or [argument.type for argument in block.args] != captured:
                raise VerifyException(f"partition region #{index} must have one argument per capture, of its type")
        self._verify_yields()
        if _is_inside_partition(self):
            raise VerifyException("cannot be nested inside another `ttg.warp_specialize` op")

    def _verify_yields(self) -> None:
        for block in self.default_region.blocks:
            terminator = block.last_op
            if isinstance(terminator, WarpYieldOp) and [v.type for v in terminator.operands] != [
                result.type for result in self.results
            ]:
                raise VerifyException("ttg.warp_yield must give values of the result types")

    @classmethod
    def parse(cls, parser: Parser) -> WarpSpecializeOp:
        captures = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_keyword("default")
        default = parser.parse_region()
        regions: list[Region] = []
        counts: list[int] = []
        while parser.parse_optional_keyword(f"partition{len(regions)}"):
            arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_argument(parser))
            parser.parse_keyword("num_warps")
            with parser.in_parens():
                counts.append(parser.parse_integer())
            regions.append(parser.parse_region(arguments))
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        values = parser.resolve_operands(captures, type.inputs.data, parser.pos)
        given = dict(attributes.data) if attributes is not None else {}
        names = cls.get_irdl_definition().properties
        properties = {name: given.pop(name) for name in list(given) if name in names}
        op = cls(values, type.outputs.data, default, regions, counts, properties)
        op.attributes.update(given)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, "(", self.operands, ")")
        shown = {name: value for name, value in self.properties.items() if name != "partitionNumWarps"}
        printer.print_op_attributes({**self.attributes, **shown}, print_keyword=True)
        printer.print_string("\ndefault ")
        printer.print_region(self.default_region, print_entry_block_args=False)
        for index, (region, count) in enumerate(zip(self.partitions, self.num_warps, strict=True)):
            printer.print_string(f"\npartition{index}(")
            printer.print_list(region.block.args if region.blocks.first else (), printer.print_block_argument)
            printer.print_string(f") num_warps({count}) ")
            printer.print_region(region, print_entry_block_args=False)
        printer.print_string(" : ")
        operand_types = [value.type for value in self.operands]
        printer.print_attribute(FunctionType.from_lists(operand_types, [result.type for result in self.results]))


def _parse_argument(parser: Parser) -> Parser.Argument:
    """An argument of a partition, with or without where it comes from."""
    argument = parser.parse_argument()
    parser.parse_optional_location()
    return argument


def _is_inside_partition(op: WarpSpecializeOp) -> bool:
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, WarpSpecializeOp):
            return True
        parent = parent.parent_op()
    return False


class WarpYieldOp(TritonGPUOp):
    """The results of a warp specialisation, from its default region: `ttg.warp_yield %v : i32`."""

    name = "ttg.warp_yield"

    values: Operands = var_operand_def(default=())

    assembly_format = "($values^)? attr-dict (`:` type($values)^)?"
    traits = traits_def(HasParent(WarpSpecializeOp), IsTerminator(), ReturnLike(), Pure())


class WarpReturnOp(TritonGPUOp):
    """The end of a partition: `ttg.warp_return`."""

    name = "ttg.warp_return"

    assembly_format = "attr-dict"
    traits = traits_def(HasParent(WarpSpecializePartitionsOp), IsTerminator(), ReturnLike(), Pure())
