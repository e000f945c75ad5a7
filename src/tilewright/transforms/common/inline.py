"""`inline`: calls become the bodies of the functions that they call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set

from xdsl.dialects.builtin import (
    CallSiteLoc,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import cf, func, tt
from tilewright.dialects.coroutines import COROUTINE
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.ir.effects import EffectTable
from tilewright.ir.locations import call_site
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.splicing import move_ops_before
from tilewright.ir.walking import find_ops, ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.canonicalize import canonicalize
from tilewright.transforms.common.cse import CommonSubexpressionElimination
from tilewright.transforms.common.lift_cf_to_scf import structurize
from tilewright.transforms.common.symbol_dce import is_private, referenced_symbols

Func = tt.FuncOp | func.FuncOp
Call = tt.CallOp | func.CallOp


def _name_of(function: Func) -> str:
    name = function.properties["sym_name"]
    assert isinstance(name, StringAttr)
    return name.data


def _callee_of(call: Call) -> str:
    callee = call.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    return callee.root_reference.data


def asks_to_stay(function: Func) -> bool:
    """Return whether a function asks not to be inlined."""
    for attributes in (function.attributes, function.properties):
        match attributes.get("noinline", attributes.get("no_inline")):
            case IntegerAttr() as flag if flag.value.data:
                return True
            case UnitAttr():
                return True
            case _:
                continue
    return False


class _CallGraph:
    """The functions of a module, and for each the calls in its body."""

    def __init__(self, module: ModuleOp) -> None:
        self.functions = {_name_of(op): op for op in module.ops if isinstance(op, Func)}

    def calls_of(self, function: Func) -> list[Call]:
        """Calls in the body of a function, in program order, whose callee has a definition in the module."""
        return [call for call in find_ops(function, tt.CallOp, func.CallOp) if _callee_of(call) in self.functions]

    def bottom_up(self) -> list[Func]:
        """Every function after all those that it calls. Raises PassError for functions that call themselves."""
        done: dict[str, None] = {}
        path: dict[str, Call | None] = {}
        for name in self.functions:
            self._visit(name, None, path, done)
        return [self.functions[name] for name in done]

    def _visit(self, name: str, call: Call | None, path: dict[str, Call | None], done: dict[str, None]) -> None:
        if name in done:
            return
        if name in path:
            names = list(path)
            cycle = " -> ".join((*names[names.index(name) :], name))
            assert call is not None
            raise op_error(call, f"recursive calls cannot be compiled: {cycle}", pass_name="inline")
        path[name] = call
        for inner in self.calls_of(self.functions[name]):
            self._visit(_callee_of(inner), inner, path, done)
        del path[name]
        done[name] = None


class _CallSites:
    """Makes locations "there, called from here", each once. They are looked up by identity: comparing or hashing one
    takes as long as calls are nested deep."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], CallSiteLoc] = {}

    def get(self, callee: LocationAttr, caller: LocationAttr) -> CallSiteLoc:
        key = (id(callee), id(caller))
        if (found := self._made.get(key)) is None:
            found = self._made[key] = call_site(callee, caller)  # which keeps both alive, and so the key valid
        return found


class Inliner:
    """Inlines callees into callers, bottom up, each canonicalized first so that what is copied is small.

    `merges_calls`: copy what several calls compute alike once. Not for tiles whose layouts are still to be chosen: one
    tile for two uses would need one layout for both.
    """

    def __init__(
        self,
        module: ModuleOp,
        context: PassContext,
        *,
        insists: Callable[[Func], bool] = lambda _: False,
        simplify: Callable[[Operation, Set[Operation]], object] = canonicalize,
        merges_calls: bool = True,
    ) -> None:
        self._module = module
        self._insists = insists
        self._simplify = simplify
        self._context = context
        self._graph = _CallGraph(module)
        self._uses: dict[str, int] = {}
        self._normal: set[Operation] = set()
        self._memory_free: set[str] = set()
        self._merges_calls = merges_calls
        self._call_sites = _CallSites()

    def run(self) -> None:
        """Inline every call that may be, and erase private functions that nothing calls any more."""
        order = self._graph.bottom_up()
        for function in order:
            for call in self._graph.calls_of(function):
                self._uses[_callee_of(call)] = self._uses.get(_callee_of(call), 0) + 1
        for function in order:
            calls = self._merged_calls(function)
            self._normal = set()
            for call in calls:
                self._inline(call)
            if calls or self._uses.get(_name_of(function)):
                self._simplify(function, self._normal)
            if self._uses.get(_name_of(function)) and self._is_memory_free(function):
                self._memory_free.add(_name_of(function))
        self._erase_dead(order)

    def _merged_calls(self, function: Func) -> list[Call]:
        """The calls of a function, after those that compute the same are one: each would be copied, to be merged op by
        op later."""
        calls = self._graph.calls_of(function)
        callees = Counter(map(_callee_of, calls))
        if not (self._merges_calls and any(count > 1 and name in self._memory_free for name, count in callees.items())):
            return calls
        CommonSubexpressionElimination(self._is_pure_call).run(function)
        remaining = self._graph.calls_of(function)
        for name, count in (callees - Counter(map(_callee_of, remaining))).items():
            self._uses[name] -= count
        return remaining

    def _is_pure_call(self, op: Operation) -> bool:
        return isinstance(op, Call) and _callee_of(op) in self._memory_free

    def _is_memory_free(self, function: Func) -> bool:
        """Return whether what a function returns depends on its operands alone. Of a declaration nothing is known."""
        effects = EffectTable().effects
        return function.body.blocks.first is not None and all(
            self._is_pure_call(op) or isinstance(op, tt.ReturnOp | func.ReturnOp) or not effects(op)
            for block in function.body.blocks
            for op in block.ops
        )

    def _inline(self, call: Call) -> None:
        callee = self._graph.functions[_callee_of(call)]
        if callee.body.blocks.first is None or COROUTINE in callee.attributes:
            return
        if asks_to_stay(callee) and not self._insists(callee):
            return
        if callee.body.blocks.first is not callee.body.blocks.last and not self._has_room_for_blocks(call):
            reason = structurize(callee.body)
            if reason is not None:
                self._context.remark(call, f"call stays: '{_name_of(callee)}' has several blocks and {reason}")
                return
        name = _name_of(callee)
        is_last = is_private(callee) and self._uses[name] == 1
        self._uses[name] -= 1
        body = _take_body(callee) if is_last else _copy_body(callee)
        self._receive(body, call.location, is_copy=not is_last)
        self._unsettle(body)
        if body.blocks.first is body.blocks.last:
            _splice_block(call, body.block)
        else:
            _splice_region(call, body)

    def _receive(self, body: Region, caller: LocationAttr, *, is_copy: bool) -> None:
        """Give inlined ops the location "where they are, called from `caller`", and count the calls among copies. The
        ops are in normal form, as their function was."""
        ops = ops_within(body)
        self._normal.update(ops)
        made: dict[int, LocationAttr] = {}  # by identity of locations, which the call sites keep alive
        for inner in ops:
            location = inner.location
            if isinstance(location, UnknownLoc):
                continue
            found = made.get(id(location))
            if found is None:
                found = made[id(location)] = self._call_sites.get(location, caller)
            inner.location = found
        if is_copy:
            for inner in ops:
                if isinstance(inner, Call) and _callee_of(inner) in self._graph.functions:
                    self._uses[_callee_of(inner)] = self._uses.get(_callee_of(inner), 0) + 1

    def _unsettle(self, body: Region) -> None:
        """Mark the users of a body's arguments for another look: they may simplify when arguments become known."""
        first = body.blocks.first
        assert first is not None
        for argument in first.args:
            for use in argument.uses:
                user: Operation | None = use.operation
                self._normal.discard(use.operation)
                while user is not None and user.next_op is None:
                    user = user.parent_op()
                    if user is not None:
                        self._normal.discard(user)

    def _has_room_for_blocks(self, call: Call) -> bool:
        return isinstance(call.parent_op(), Func | tt.MapElementwiseOp)

    def _erase_dead(self, order: Sequence[Func]) -> None:
        candidates = [f for f in order if is_private(f) and self._uses.get(_name_of(f)) == 0]
        if not candidates:
            return
        references = {id(op): referenced_symbols(op) for op in self._module.ops}
        counts = Counter(name for names in references.values() for name in names)
        for function in reversed(candidates):
            if counts[_name_of(function)] == 0:
                counts.subtract(references[id(function)])
                self._module.body.block.erase_op(function, safe_erase=False)


def _takes_plain_values(function: Func) -> bool:
    """Return whether calls of a private function pass numbers, tiles of them and pointers to them, and get no
    pointers; and pass one at least where the function turns numbers into pointers, which are counted from it.
    """
    inputs, outputs = function.function_type.inputs, function.function_type.outputs
    is_plain = all(_is_plain_pointer(type_) or _is_plain_value(type_) for type_ in inputs)
    lacks_base = not any(map(_is_plain_pointer, inputs)) and find_ops(function, tt.IntToPtrOp)
    return is_plain and is_private(function) and all(map(_is_plain_value, outputs)) and not lacks_base


def _is_plain_value(type_: Attribute) -> bool:
    element = element_type(type_)
    return not (isinstance(element, tt.PointerType | tt.TensorDescType) or (is_tensor(type_) and element == i1))


def _is_plain_pointer(type_: Attribute) -> bool:
    return isinstance(type_, tt.PointerType) and not isinstance(type_.pointee_type, tt.PointerType | TensorType)


def _take_body(callee: Func) -> Region:
    body = Region()
    callee.body.move_blocks(body)
    return body


def _copy_body(callee: Func) -> Region:
    body = Region()
    callee.body.clone_into(body)
    return body


def _erase_call(call: Call, values: Sequence[SSAValue]) -> None:
    for result, value in zip(call.results, values, strict=True):
        if value.name_hint is None:
            value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
    call.detach()
    call.erase()


def _splice_block(call: Call, block: Block) -> None:
    """Put the ops of a one-block body in place of the call."""
    for argument, value in zip(block.args, tuple(call.operands), strict=True):
        argument.replace_all_uses_with(value)
    terminator = block.last_op
    assert terminator is not None and call.parent is not None
    values = tuple(terminator.operands)
    terminator.detach()
    terminator.erase()
    move_ops_before(block, call)
    _erase_call(call, values)


def _splice_region(call: Call, body: Region) -> None:
    """Put the blocks of a body between the part of the block before the call and the part after it; every return
    becomes a branch to the latter."""
    before = call.parent
    assert before is not None and before.parent is not None
    region = before.parent
    following = call.next_op
    assert following is not None
    after = before.split_before(following, arg_types=call.result_types)
    entry = body.block if body.blocks.first is body.blocks.last else body.blocks.first
    assert entry is not None
    blocks = tuple(body.blocks)
    for block in blocks:
        last = block.last_op
        if isinstance(last, tt.ReturnOp | func.ReturnOp):
            branch = cf.BranchOp(after, *last.operands)
            branch.location = last.location
            last.detach()
            last.erase()
            block.add_op(branch)
        body.detach_block(block)
        region.insert_block_before(block, after)
    for argument, value in zip(tuple(entry.args), tuple(call.operands), strict=True):
        argument.replace_all_uses_with(value)
        entry.erase_arg(argument)
    jump = cf.BranchOp(entry)
    jump.location = call.location
    _erase_call(call, after.args)
    before.add_op(jump)


@register_pass
@dataclass
class InlinePass(Pass):
    """Replaces every call of an inlinable function with the function's body, in combine regions too, and erases private
    functions without callers. Recursion is an error. Callers and callees are canonicalized along the way, and calls
    that compute the same are merged before.

    Before:
    ```mlir
    tt.func private @twice(%x: f32) -> f32 attributes {noinline = false} {
      %0 = arith.addf %x, %x : f32
      tt.return %0 : f32
    }
    tt.func public @kernel(%p: !tt.ptr<f32>, %x: f32) {
      %0 = tt.call @twice(%x) : (f32) -> f32
      tt.store %p, %0 : !tt.ptr<f32>
      tt.return
    }
    ```
    After:
    ```mlir
    tt.func public @kernel(%p: !tt.ptr<f32>, %x: f32) {
      %0 = arith.addf %x, %x : f32
      tt.store %p, %0 : !tt.ptr<f32>
      tt.return
    }
    ```
    """

    name = "inline"
    title = "Inliner"

    insists: bool = False
    """Inline functions that ask not to be, too."""
    insists_on_pointers: bool = False
    """Inline functions that ask not to be, where they take or return tiles of pointers or of bits, block pointers
    or descriptors, return pointers, make pointers of integers and take none, or are public: for targets whose calls
    pass pointers, numbers and tiles of them."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        Inliner(module, context, insists=self._insists).run()

    def _insists(self, callee: Func) -> bool:
        return self.insists or (self.insists_on_pointers and not _takes_plain_values(callee))
