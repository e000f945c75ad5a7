"""Values computed anew in another layout, in place of a conversion; the second half of
`tritongpu-remove-layout-conversions`.

`Rematerializer.rewrite` makes every value of a slice once more, in the layout that the slice wants it in: ops are
repeated beside the old ones, loops carry one more value, conditionals give one more. What becomes dead is left to the
clean-up.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.folds import is_dense
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.ttg.verification import ProgramShape
from tilewright.dialects.types import as_tensor
from tilewright.ir.appending import append_argument, append_operands, append_result
from tilewright.ir.block_order import ProgramOrder
from tilewright.ir.builder import OpBuilder
from tilewright.ir.dominance import properly_dominates
from tilewright.ir.walking import find_ops
from tilewright.layouts.distributed import DotOperandLayout
from tilewright.transforms.ttg.conversion_cost import conversion_cost, recomputation_cost
from tilewright.transforms.ttg.layout_inference import infer_operand_encoding, layout_of, with_encoding
from tilewright.transforms.ttg.layout_slices import LayoutSlice, Stop, find_slice


def conversions_in(function: tt.FuncOp) -> list[ttg.ConvertLayoutOp]:
    """The conversions of a function, in order."""
    return find_ops(function, ttg.ConvertLayoutOp)


class Rematerializer:
    """What exists in which layout, in one function."""

    def __init__(self, function: tt.FuncOp, program: ProgramShape) -> None:
        self._function = function
        self._program = program
        self._known: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        self.converted: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        """Conversions that stand right after what they convert."""
        self._keys: dict[SSAValue, list[tuple[SSAValue, Attribute]]] = {}
        """From a value to what is known to be it in a layout."""
        self._order = ProgramOrder()

    def find(self, value: SSAValue, encoding: Attribute, user: Operation) -> SSAValue | None:
        """A value in another layout, if it exists where `user` may use it."""
        known = self._known.get((value, encoding))
        return known if known is not None and self._is_defined_before(known, user) else None

    def note(self, value: SSAValue, encoding: Attribute, copy: SSAValue) -> None:
        """Record that `copy` is `value` in a layout."""
        self._known[value, encoding] = copy
        self._keys.setdefault(copy, []).append((value, encoding))

    def moved(self, op: Operation) -> None:
        """Tell that an op has come to another place."""
        assert op.parent is not None
        self._order.of_block(op.parent).forget(op)

    def _is_defined_before(self, value: SSAValue, op: Operation) -> bool:
        """Return whether a value may be used at an op."""
        if isinstance(value, OpResult):
            block, holder = value.op.parent, op
            while holder is not None and holder.parent is not block:
                holder = holder.parent_op()
            if block is None or holder is None:
                return properly_dominates(value.op, op)
            return self._order.of_block(block).is_before(value.op, holder)
        assert isinstance(value, BlockArgument)
        region = value.owner.parent
        return region is not None and region.is_ancestor(op)

    def slice_of(
        self, user: Operation, index: int, encoding: Attribute, *, stop: Stop | None = None
    ) -> LayoutSlice | None:
        """The slice of an operand whose ops may all run once more."""
        if stop is None:
            return find_slice(user, index, encoding, existing=self.find, program=self._program)
        return find_slice(user, index, encoding, stop=stop, existing=self.find, program=self._program)

    def remove_conversions(self) -> bool:
        """Compute values anew in place of conversions where that costs less; whether any conversion went."""
        changed = False
        for conversion in conversions_in(self._function):
            if self._remove(conversion):
                changed = True
            else:
                self.note(conversion.src, as_tensor(conversion.result.type).encoding, conversion.result)
        return changed

    def _remove(self, conversion: ttg.ConvertLayoutOp) -> bool:
        encoding = as_tensor(conversion.result.type).encoding
        if isinstance(layout_of(encoding), DotOperandLayout):
            return False
        found = self.find(conversion.src, encoding, conversion)
        if found is not None:
            self.replace(conversion, found)
            return True
        slice = self.slice_of(conversion, 0, encoding)
        if slice is None:
            return False
        cost = recomputation_cost(slice, conversion)
        if cost is None or cost > conversion_cost(conversion):
            return False
        self.rewrite(slice, conversion, {})
        return True

    def replace(self, conversion: ttg.ConvertLayoutOp, value: SSAValue) -> None:
        """Put a value in place of a conversion."""
        conversion.result.replace_all_uses_with(value)
        for key in self._keys.pop(conversion.result, ()):
            if self._known[key] is conversion.result:
                self.note(*key, value)
        conversion.detach()
        conversion.erase()

    def rewrite(self, slice: LayoutSlice, conversion: ttg.ConvertLayoutOp, made: dict[SSAValue, SSAValue]) -> None:
        """Make the values of a slice, but for those in `made`, in their layouts, in place of a conversion."""
        made.update(slice.existing)
        rest = {value: encoding for value, encoding in slice.layouts.items() if value not in made}
        copies = _Copies(rest, slice.layouts, made)
        copies.make(self._order)
        for value, encoding in rest.items():
            self.note(value, encoding, made[value])
        self.replace(conversion, made[conversion.src])


class _Copies:
    """Makes values once more, in order of the program."""

    def __init__(
        self, wanted: dict[SSAValue, Attribute], layouts: dict[SSAValue, Attribute], made: dict[SSAValue, SSAValue]
    ) -> None:
        self._wanted = wanted
        self._layouts = layouts
        self._made = made
        self._ops: dict[Operation, None] = {}
        self._yields: dict[Operation, list[int]] = {}
        for value in wanted:
            self._plan(value)

    def make(self, order: ProgramOrder) -> None:
        """Visit the ops that take part; copies stand before what they are copies of."""
        for op in order.sorted([*self._ops, *self._yields]):
            if op in self._ops:
                self._copy(op)
            else:
                self._extend_yield(op, self._yields[op])

    def _plan(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            self._ops[value.op] = None
            if isinstance(value.op, scf.IfOp):
                for region in value.op.regions:
                    self._plan_yield(region.block.last_op, value.index)
            return
        assert isinstance(value, BlockArgument)
        loop = value.owner.parent_op()
        assert isinstance(loop, scf.ForOp)
        self._ops[loop] = None
        self._plan_yield(value.owner.last_op, value.index - 1)

    def _plan_yield(self, terminator: Operation | None, index: int) -> None:
        assert terminator is not None
        self._yields.setdefault(terminator, []).append(index)

    def _extend_yield(self, op: Operation, indices: Iterable[int]) -> None:
        append_operands(op, [self._made[op.operands[index]] for index in sorted(indices)])

    def _copy(self, op: Operation) -> None:
        match op:
            case scf.ForOp():
                self._extend_loop(op)
            case scf.IfOp():
                for result in tuple(op.results):
                    if result in self._wanted:
                        self._made[result] = append_result(op, with_encoding(result.type, self._wanted[result]))
            case _:
                self._repeat(op)

    def _extend_loop(self, op: scf.ForOp) -> None:
        for argument, initial in zip(tuple(op.region_iter_args), tuple(op.iter_args), strict=True):
            encoding = self._wanted.get(argument)
            if encoding is None:
                continue
            type = with_encoding(argument.type, encoding)
            append_operands(op, [self._made[initial]])
            append_result(op, type)
            self._made[argument] = append_argument(op.body.block, type)

    def _repeat(self, op: Operation) -> None:
        """An op once more, on operands in the layouts that its new results ask for."""
        encoding = next(self._wanted[result] for result in op.results if result in self._wanted)
        if isinstance(op, ttg.ConvertLayoutOp):
            self._repeat_conversion(op, encoding)
            return
        copy = repeated(op, encoding, self._operands(op, encoding))
        OpBuilder.before(op).insert(copy)
        for old, new in zip(op.results, copy.results, strict=True):
            if old in self._wanted:
                self._made[old] = new

    def _operands(self, op: Operation, encoding: Attribute) -> list[SSAValue]:
        wanted = infer_operand_encoding(op, encoding)
        return [
            self._made[operand]
            if is_tensor(operand.type)
            and operand in self._made
            and self._layouts.get(operand) == wanted
            and operand.type.encoding != wanted
            else operand
            for operand in op.operands
        ]

    def _repeat_conversion(self, op: ttg.ConvertLayoutOp, encoding: Attribute) -> None:
        if self._layouts.get(op.src) == encoding and op.src in self._made:
            self._made[op.result] = self._made[op.src]
        elif as_tensor(op.src.type).encoding == encoding:
            self._made[op.result] = op.src
        else:
            copy = ttg.ConvertLayoutOp(op.src, with_encoding(op.result.type, encoding))
            self._made[op.result] = OpBuilder.before(op).result(copy)


def repeated(op: Operation, encoding: Attribute, operands: list[SSAValue]) -> Operation:
    """A copy of an op on other operands, with its tensor results in another layout."""
    types = [with_encoding(type, encoding) if is_tensor(type) else type for type in op.result_types]
    if isinstance(op, ConstantOp):
        value = op.value
        assert is_dense(value)
        return ConstantOp(dense_attr(types[0], value.data))
    return type(op).create(
        operands=operands,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        regions=[region.clone() for region in op.regions],
    )
