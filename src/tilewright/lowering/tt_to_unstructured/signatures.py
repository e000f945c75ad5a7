"""Pointers as arguments of device functions: a base, and its offset where a call passes anything but a base.

```mlir
tt.call @f(%q) : (!tt.ptr<f32>) -> ()                 // %q = tt.addptr %p, %n
tt.func private @f(%x: !tt.ptr<f32>) { ... %x ... }
// becomes
tt.call @f(%q, %c0_i64) : (!tt.ptr<f32>, i64) -> ()   // and, once accesses are rewritten, @f(%p, %n)
tt.func private @f(%x: !tt.ptr<f32>, %o: i64) { %y = tt.addptr %x, %o ... %y ... }
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, UnitAttr, i8, i64
from xdsl.ir import Block, SSAValue

from tilewright.analysis.origins import is_address
from tilewright.dialects import arith, tt
from tilewright.dialects.attributes import ADDRESS_ZERO
from tilewright.dialects.tt.types import pointer_type
from tilewright.dialects.types import is_tensor
from tilewright.ir.appending import append_argument, append_operands
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import find_ops

MOST_ALIGNED = 1 << 30
"""Bytes that address 0 is said to be a multiple of: more than any element has."""

Pairs = dict[tt.CallOp, list[tuple[int, int]]]
"""For calls, which operand is a pointer and which one its offset."""


def give_offsets(module: ModuleOp) -> Pairs:
    """Give private functions an offset for each pointer argument that is not a base at every call. All offsets are zero
    at first."""
    functions = {f.sym_name.data: f for f in find_ops(module, tt.FuncOp) if not f.is_public and not f.is_declaration}
    calls: dict[str, list[tt.CallOp]] = {name: [] for name in functions}
    for call in find_ops(module, tt.CallOp) if functions else ():
        if (name := call.callee.string_value()) in calls:
            calls[name].append(call)
    pairs: Pairs = {}
    given: set[tuple[str, int]] = set()
    pending = True
    while pending:  # an argument with an offset is no base where it is passed on
        pending = False
        for name, function in functions.items():
            for position in _moved_arguments(function, calls[name]):
                if (name, position) not in given:
                    given.add((name, position))
                    _take_offset(function, position, calls[name], pairs)
                    pending = True
    return pairs


def _moved_arguments(function: tt.FuncOp, calls: Sequence[tt.CallOp]) -> Iterator[int]:
    for position, argument in enumerate(function.args):
        is_pointer = is_address(argument.type) and not is_tensor(argument.type)
        if is_pointer and not all(_is_base(call.operands[position]) for call in calls):
            yield position


def _is_base(value: SSAValue) -> bool:
    return isinstance(value.owner, Block) and isinstance(value.owner.parent_op(), tt.FuncOp)


def _take_offset(function: tt.FuncOp, position: int, calls: Sequence[tt.CallOp], pairs: Pairs) -> None:
    entry = function.body.blocks[0]
    offset = append_argument(entry, i64)
    base = entry.args[position]
    moved = tt.AddPtrOp(base, offset)
    moved.location = function.location
    base.replace_all_uses_with(moved.result)
    moved.operands[0] = base
    OpBuilder.at_start(entry).insert(moved)
    kind = function.function_type
    function.properties["function_type"] = FunctionType.from_lists([*kind.inputs, i64], kind.outputs.data)
    if function.arg_attrs is not None:
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs, DictionaryAttr({})])
    for call in calls:
        _append_zero(call, position, pairs)


def _append_zero(op: tt.CallOp, position: int, pairs: Pairs) -> None:
    zero = OpBuilder.before(op).result(arith.constant_splat(0, i64))
    pairs.setdefault(op, []).append((position, len(op.operands)))
    append_operands(op, [zero])


def append_address_zero(function: tt.FuncOp) -> SSAValue:
    """Give a kernel an argument that no launch passes, a null pointer; returns it."""
    argument = append_argument(function.body.blocks[0], pointer_type(i8))
    kind, given = function.function_type, function.arg_attrs
    function.properties["function_type"] = FunctionType.from_lists([*kind.inputs, argument.type], kind.outputs.data)
    facts = DictionaryAttr({"tt.divisibility": IntegerAttr(MOST_ALIGNED, 32), ADDRESS_ZERO: UnitAttr()})
    others = [DictionaryAttr({})] * len(kind.inputs) if given is None else given.data
    function.properties["arg_attrs"] = ArrayAttr([*others, facts])
    return argument
