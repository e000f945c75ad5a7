"""`triton-loop-aware-cse`: common subexpressions, counting carried values of a loop that are always equal as one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf
from tilewright.ir.effects import is_memory_free
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import apply_rules
from tilewright.ir.walking import ops_inside_out
from tilewright.transforms.common.cse import (
    eliminate_common_subexpressions,
    operation_key,
)
from tilewright.transforms.common.loop_rules import DropCarriedValues


class _Equality:
    """Whether two values of a loop body are equal in every iteration, when certain pairs of carried values are."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self._assumed: set[tuple[int, int]] = set()

    def are_carried_values_equal(self, first: int, second: int) -> bool:
        """Return whether two carried values start equal, and stay equal if they were before: by induction they always
        are.
        """
        loop = self._loop
        if loop.iter_args[first] is not loop.iter_args[second]:
            return False
        self._assumed = {(first, second)}
        return self._are_equal(loop.yielded[first], loop.yielded[second], {})

    def _are_equal(self, a: SSAValue, b: SSAValue, known: dict[tuple[SSAValue, SSAValue], bool]) -> bool:
        if a is b:
            return True
        if (a, b) in known:
            return known[(a, b)]
        known[(a, b)] = False
        match a, b:
            case BlockArgument(), BlockArgument():
                equal = a.block is b.block is self._loop.body.block and (a.index - 1, b.index - 1) in self._assumed
            case OpResult(), OpResult():
                equal = a.index == b.index and self._are_equal_ops(a.op, b.op, known)
            case _:
                equal = False
        known[(a, b)] = equal
        return equal

    def _are_equal_ops(self, a: Operation, b: Operation, known: dict[tuple[SSAValue, SSAValue], bool]) -> bool:
        if a.regions or len(a.operands) != len(b.operands) or not is_memory_free(a):
            return False
        key_a, key_b = operation_key(a), operation_key(b)
        assert isinstance(key_a, tuple) and isinstance(key_b, tuple)
        count = len(a.operands)
        if key_a[0] is not key_b[0] or key_a[1 + count :] != key_b[1 + count :] or a.result_types != b.result_types:
            return False
        return all(self._are_equal(x, y, known) for x, y in zip(a.operands, b.operands, strict=True))


def _merge(loop: scf.ForOp) -> bool:
    equality = _Equality(loop)
    arguments: Sequence[SSAValue] = loop.region_iter_args
    changed = False
    for first in range(len(arguments)):
        for second in range(first + 1, len(arguments)):
            if arguments[second].first_use is None and loop.results[second].first_use is None:
                continue
            if equality.are_carried_values_equal(first, second):
                arguments[second].replace_all_uses_with(arguments[first])
                loop.results[second].replace_all_uses_with(loop.results[first])
                changed = True
    return changed


def merge_carried_values(module: ModuleOp) -> bool:
    """Use one of several carried values that are always equal; returns whether anything changed."""
    changed = False
    for op in ops_inside_out(module):
        if isinstance(op, scf.ForOp):
            changed |= _merge(op)
    return changed


@register_pass
class LoopAwareCsePass(Pass):
    """Does what `cse` does, and also merges loop-carried values that are always equal.

    Before:
    ```mlir
    %r:2 = scf.for %i = %lb to %ub step %s iter_args(%a = %x, %b = %x) -> (i32, i32) : i32 {
      "use"(%a, %b) : (i32, i32) -> ()
      %c = arith.addi %a, %k : i32
      %d = arith.addi %b, %k : i32
      scf.yield %c, %d : i32, i32
    }
    ```
    After:
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%a = %x) -> (i32) : i32 {
      "use"(%a, %a) : (i32, i32) -> ()
      %c = arith.addi %a, %k : i32
      scf.yield %c : i32
    }
    ```
    """

    name = "triton-loop-aware-cse"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        eliminate_common_subexpressions(module)
        if merge_carried_values(module):
            apply_rules(module, [DropCarriedValues()], name=self.name)
            eliminate_common_subexpressions(module)
