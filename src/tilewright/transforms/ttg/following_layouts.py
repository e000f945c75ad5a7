"""Layouts that follow from others: from a value in a known layout to all that it is computed from and with.

```mlir
%0 = tt.make_range {...} : tensor<128xi32, #gluon.auto_encoding>       // %0 and %1 follow: #blocked
%1 = arith.addi %0, %c : tensor<128xi32, #gluon.auto_encoding>
%2 = gluon.set_auto_layout %1 : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>
```
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.analysis.call_graph import CallGraph, call_graph_of
from tilewright.analysis.value_flow import flows_of
from tilewright.dialects import tt, ttg, ttng
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.printing import print_attribute
from tilewright.ir.walking import ops_within
from tilewright.layouts.draw import corner
from tilewright.support.errors import AmbiguousLayoutError
from tilewright.transforms.ttg.layout_inference import (
    RESHAPING,
    infer_operand_encoding,
    infer_result_encoding,
    keeps_layout_class,
    with_encoding,
)
from tilewright.transforms.ttg.propagate_layouts import restate_constant

DERIVING = (*RESHAPING, ttg.Fp4ToFpOp)
"""Ops whose results have another layout than their operands, each following from the other."""


def encoding_of(value: SSAValue) -> Attribute | None:
    """The encoding of a tensor, None for any other value."""
    return value.type.encoding if is_tensor(value.type) else None


class FollowingLayouts:
    """The layouts of all tensors whose encoding is `placeholder`, as far as they are known."""

    def __init__(self, module: ModuleOp, placeholder: Attribute, pass_name: str) -> None:
        self._module, self._placeholder, self._pass_name = module, placeholder, pass_name
        self.known: dict[SSAValue, Attribute] = {}
        self._same: dict[SSAValue, list[SSAValue]] = defaultdict(list)
        self._derived: dict[SSAValue, list[Operation]] = defaultdict(list)
        self._pending: list[SSAValue] = []
        graph = call_graph_of(module)
        for op in ops_within(module):
            for group in _groups(op, graph):
                self._link(group)
            if isinstance(op, DERIVING):
                for value in (*op.operands, *op.results):
                    self._derived[value].append(op)

    def _link(self, values: Iterable[SSAValue]) -> None:
        tensors = [value for value in values if is_tensor(value.type)]
        for left, right in pairwise(tensors):
            self._same[left].append(right)
            self._same[right].append(left)

    def seed(self, value: SSAValue, encoding: Attribute) -> None:
        """Say that a value has a layout. Raises PassError where it has another."""
        if encoding_of(value) != self._placeholder:
            return
        found = self.known.get(value)
        if found is None:
            self.known[value] = encoding
            self._pending.append(value)
        elif found != encoding:
            raise self._conflict(value, found, encoding)

    def propagate(self) -> None:
        """Reach everything that follows from the seeds. Raises PassError for a value that would have two layouts."""
        while self._pending:
            value = self._pending.pop()
            encoding = self.known[value]
            for other in self._same[value]:
                self.seed(other, encoding)
            for op in self._derived[value]:
                is_operand = value in op.operands
                infer, others = (
                    (infer_result_encoding, op.results) if is_operand else (infer_operand_encoding, op.operands)
                )
                inferred = infer(op, encoding)
                if inferred is None:
                    continue
                for other in others:
                    if not self._is_known_otherwise(other, inferred):
                        self.seed(other, inferred)

    def _is_known_otherwise(self, value: SSAValue, encoding: Attribute) -> bool:
        """Return whether a value has another form of a layout: one op deriving its operand's layout from its result's,
        and the result's from that, writes a linear layout where there was a blocked one."""
        found = self.known.get(value)
        shape = as_tensor(value.type).get_shape()
        return isinstance(found, ttg.DistributedEncoding) and found.is_equivalent(encoding, shape)

    def apply(self) -> None:
        """Put the layouts into the types."""
        for value, encoding in self.known.items():
            Rewriter.replace_value_with_new_type(value, with_encoding(value.type, encoding))
        for op in list(ops_within(self._module)):
            if isinstance(op, ConstantOp) and is_tensor(op.result.type):
                restate_constant(op)

    def _conflict(self, value: SSAValue, first: Attribute, second: Attribute) -> Exception:
        pictures = "".join(
            corner(what, ttg.layout_of(encoding), as_tensor(value.type).get_shape())
            for what, encoding in (("one", first), ("other", second))
        )
        reason = (
            f"the layout is ambiguous: {print_attribute(first)} follows from one use and {print_attribute(second)} "
            f"from another; gl.convert_layout makes one of the other{pictures}"
        )
        return op_error(owner_of(value), reason, pass_name=self._pass_name, kind=AmbiguousLayoutError)


def owner_of(value: SSAValue) -> Operation:
    """The op that makes a value, or whose region it is an argument of."""
    owner = value.owner
    if isinstance(owner, Block):
        parent = owner.parent_op()
        assert parent is not None
        return parent
    return owner


def _groups(op: Operation, graph: CallGraph) -> Iterator[Sequence[SSAValue]]:
    """The values that an op gives one layout."""
    yield from flows_of(op, graph) or ()
    match op:
        case tt.ReduceOp() | tt.JoinOp() | tt.SplitOp():
            yield op.operands
            yield op.results
        case tt.GatherOp() | ttg.LocalGatherOp():
            yield op.indices, op.result
        case ttg.LocalScatterOp() | ttg.LocalAtomicScatterRMWOp():
            yield (*op.operands, *op.results)
        case tt.DotOp():
            yield op.c, op.d
        case ttng.WarpGroupDotWaitOp():
            yield from zip(op.inputs, op.outputs, strict=True)
        case tt.LoadOp() | tt.StoreOp() | tt.HistogramOp() | ttg.AsyncCopyGlobalToLocalOp():
            results = () if isinstance(op, tt.HistogramOp) else op.results
            yield (*op.operands, *results)
        case _ if keeps_layout_class(type(op)):
            yield (*op.operands, *op.results)
        case _:
            return
