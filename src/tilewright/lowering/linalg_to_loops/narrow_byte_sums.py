"""The pass `narrow-byte-sums`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith, linalg_ext, vector
from tilewright.dialects.arith.constant import find_constant_int
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.linalg_to_loops.byte_sums import find_sums, only_user, replace_sum, terms_of
from tilewright.support.facts import DEFAULT_FACTS

_WORD = (1 << 32) - 1
_MOST = (1 << 15) - 1
"""What a sum of pairs may come to."""

_PAIR = 2 * 128
"""What two products with signed bytes come to at most, for each unit of the other factors."""


@register_pass
class NarrowByteSumsPass(Pass):
    """Sums of products of small bytes are added up in 16 bits as long as these hold them.

    ```mlir
    %a = linalg_ext.dot_bytes unsigned_lhs small_lhs %w, %x : vector<8xi32>       // bytes of %w and %v are at most 15
    %b = linalg_ext.dot_bytes unsigned_lhs small_lhs %v, %y : vector<8xi32>
    %c = arith.addi %a, %acc : vector<8xi32>
    %d = arith.addi %b, %c : vector<8xi32>
    // becomes
    %a = linalg_ext.dot_pairs %w, %x : vector<8xi32> -> vector<16xi16>
    %b = linalg_ext.dot_pairs %v, %y : vector<8xi32> -> vector<16xi16>
    %s = arith.addi %a, %b : vector<16xi16>
    %t = linalg_ext.sum_pairs %s : vector<16xi16> -> vector<8xi32>
    %d = arith.addi %t, %acc : vector<8xi32>
    ```
    An instruction that multiplies pairs of bytes needs another one for sums of 32 bits: one for all of a sum, not one
    for each product. How large bytes are is known by the masks and shifts that they come from. Machines with an
    instruction for the whole are left alone.
    """

    name = "narrow-byte-sums"
    takes = ("loops", "linalg_ext")

    def run(self, module: ModuleOp, context: PassContext) -> None:
        facts = context.facts or DEFAULT_FACTS
        if not facts.triple.startswith("x86_64") or facts.has_byte_dots or not facts.has("ssse3"):
            return
        for op, block in find_sums(module, facts):
            _narrow(op, block)


def _narrow(total: arith.AddiOp, block: Block) -> None:
    """Write one sum anew, where it has products that fit together into 16 bits."""
    terms = list(terms_of(total))
    dots = {owner for value in terms if isinstance(owner := value.owner, linalg_ext.DotBytesOp) and _is_narrow(owner)}
    groups: list[list[linalg_ext.DotBytesOp]] = []
    left = 0
    for op in block.ops if len(dots) > 1 else ():
        if isinstance(op, linalg_ext.DotBytesOp) and op in dots:
            bound = _PAIR * largest_byte(op.lhs)
            if bound > left:
                groups.append([])
                left = _MOST
            groups[-1].append(op)
            left -= bound
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return
    replaced = {op.result for group in groups for op in group}
    wide = [_sum_group(group, total) for group in groups] + [value for value in terms if value not in replaced]
    builder = OpBuilder.before(total)
    while len(wide) > 1:
        wide = [*wide[2:], builder.result(arith.AddiOp(wide[0], wide[1]))]
    replace_sum(total, wide[0])


def _is_narrow(op: linalg_ext.DotBytesOp) -> bool:
    """Return whether the sum of two of the products has 16 bits, and nothing else reads it."""
    if op.unsigned_lhs is None or op.unsigned_rhs is not None or only_user(op) is None:
        return False
    return 2 * _PAIR * largest_byte(op.lhs) <= _MOST


def _sum_group(group: list[linalg_ext.DotBytesOp], total: arith.AddiOp) -> SSAValue:
    """The sum of some products; each is computed, and added to those before it, where it was."""
    sum_: SSAValue | None = None
    for op in group:
        builder = OpBuilder.before(op)
        pairs = builder.result(linalg_ext.DotPairsOp(op.lhs, op.rhs))
        sum_ = pairs if sum_ is None else builder.result(arith.AddiOp(sum_, pairs))
    assert sum_ is not None
    return OpBuilder.before(total).result(linalg_ext.SumPairsOp(sum_))


def largest_byte(value: SSAValue) -> int:
    """Return how large the bytes of words can be, as far as masks and shifts tell."""
    return max(_possible_bits(value).to_bytes(4, "little"))


def _possible_bits(value: SSAValue) -> int:
    """The bits that words may have."""
    owner = value.owner
    match owner:
        case vector.BroadcastOp():
            return _possible_bits(owner.source)
        case arith.ConstantOp():
            number = find_constant_int(value)
            return _WORD if number is None else number & _WORD
        case arith.AndIOp():
            return _possible_bits(owner.lhs) & _possible_bits(owner.rhs)
        case arith.OrIOp() | arith.XOrIOp():
            return _possible_bits(owner.lhs) | _possible_bits(owner.rhs)
        case arith.ShRUIOp() if (count := _shift(owner.rhs)) is not None:
            return _possible_bits(owner.lhs) >> count
        case arith.ShLIOp() if (count := _shift(owner.rhs)) is not None:
            return _possible_bits(owner.lhs) << count & _WORD
        case _:
            return _WORD


def _shift(value: SSAValue) -> int | None:
    """The number of bits that all words are shifted by."""
    owner = value.owner
    number = find_constant_int(owner.source if isinstance(owner, vector.BroadcastOp) else value)
    return number if number is not None and 0 <= number < 32 else None
