"""The pass `chain-byte-products`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Block, SSAValue

from tilewright.dialects import arith, linalg_ext, vector
from tilewright.dialects.arith.constant import find_constant_int
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_to_loops.byte_sums import find_sums, only_user, replace_sum, terms_of
from tilewright.support.facts import DEFAULT_FACTS
from tilewright.support.records import dataclass

_SIGN_BITS = -0x7F7F7F80
"""Of the four bytes of a word: 0x80808080 as a signed integer."""


@register_pass
class ChainByteProductsPass(Pass):
    """Sums of byte products become chains of products that are each added to the one before, as VNNI does it.

    ```mlir
    %a = linalg_ext.dot_bytes unsigned_lhs %w, %x : vector<8xi32>
    %b = linalg_ext.dot_bytes unsigned_lhs %v, %y : vector<8xi32>
    %s = arith.addi %a, %b : vector<8xi32>
    // becomes
    %a = linalg_ext.dot_bytes unsigned_lhs %w, %x : vector<8xi32>
    %s = linalg_ext.dot_bytes unsigned_lhs %v, %y plus %a : vector<8xi32>
    ```
    The instruction multiplies bytes without a sign by signed ones. Where both have signs, those of one side get 128
    more, and the sum 128 times those of the other side less:

    ```mlir
    %u = arith.xori %x, 0x80808080
    %a = linalg_ext.dot_bytes unsigned_lhs %u, %w : vector<8xi32>
    %b = linalg_ext.dot_bytes unsigned_lhs %z, %v plus %a : vector<8xi32>
    %c = linalg_ext.dot_bytes unsigned_lhs 0x80808080, %w : vector<8xi32>
    %d = linalg_ext.dot_bytes unsigned_lhs 0x80808080, %v plus %c : vector<8xi32>
    %s = arith.subi %b, %d : vector<8xi32>
    ```
    What is subtracted is computed once for all sums in a block with the same other side, so that side is the one that
    more products read: eight vectors times a matrix take two instructions a word, and two more for all of them.
    What a loop carries is added at the end, as chains through it would wait for all their products.

    Machines without the instruction are left alone.
    """

    name = "chain-byte-products"
    takes = ("loops", "linalg_ext")

    everywhere: bool = False
    """Whether to do it for machines without the instruction, too."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        facts = context.facts or DEFAULT_FACTS
        if not facts.has_byte_dots and not self.everywhere:
            return
        order = {op: index for index, op in enumerate(find_ops(module, linalg_ext.DotBytesOp))}
        shared = _Shared()
        for total, block in find_sums(module, facts):
            _chain(total, block, order, shared)


@dataclass(slots=True)
class _Shared:
    """What several sums of a block read."""

    sign_bits: dict[tuple[Block, Attribute], SSAValue] = field(default_factory=dict[tuple[Block, Attribute], SSAValue])
    corrections: dict[tuple[SSAValue, ...], SSAValue] = field(default_factory=dict[tuple[SSAValue, ...], SSAValue])
    """128 times the sums of the bytes of some words; all uses are in the block of the first one."""

    def bits(self, block: Block, type_: Attribute) -> SSAValue:
        """The sign bits of all bytes."""
        if (found := self.sign_bits.get((block, type_))) is None:
            first = block.first_op
            assert first is not None
            builder = OpBuilder.before(first)
            word = builder.result(arith.ConstantOp(IntegerAttr(_SIGN_BITS, i32)))
            found = self.sign_bits[block, type_] = builder.result(vector.BroadcastOp(word, type_))
        return found

    def correction(self, products: Sequence[tuple[linalg_ext.DotBytesOp, SSAValue]], block: Block) -> SSAValue:
        """Return by how much the sum of some products, each with the side of unchanged bytes, is too large."""
        kept = tuple(value for _, value in products)
        key = (self.bits(block, kept[0].type), *kept)
        if (found := self.corrections.get(key)) is None:
            for op, value in products:
                product = linalg_ext.DotBytesOp(key[0], value, addend=found, unsigned_lhs=True)
                found = OpBuilder.before(op).result(product)
            assert found is not None
            self.corrections[key] = found
        return found


def _chain(total: arith.AddiOp, block: Block, order: Mapping[linalg_ext.DotBytesOp, int], shared: _Shared) -> None:
    """Write one sum anew, where it has products that can be chained."""
    terms = list(terms_of(total))
    products = [owner for value in terms if isinstance(owner := value.owner, linalg_ext.DotBytesOp)]
    products = sorted((op for op in products if _is_free(op, block)), key=order.__getitem__)
    if len(products) < 2:
        return
    replaced = {op.result for op in products}
    raised: list[tuple[linalg_ext.DotBytesOp, SSAValue]] = []
    last: SSAValue | None = None
    for op in products:
        builder = OpBuilder.before(op)
        if op.unsigned_lhs is None and op.unsigned_rhs is None:
            kept, other = _sides(op)
            raised.append((op, kept))
            bytes_ = builder.result(arith.XOrIOp(other, shared.bits(block, other.type)))
            last = builder.result(linalg_ext.DotBytesOp(bytes_, kept, addend=last, unsigned_lhs=True))
        else:
            signs = {name: getattr(op, name) is not None for name in ("unsigned_lhs", "unsigned_rhs", "small_lhs")}
            last = builder.result(linalg_ext.DotBytesOp(op.lhs, op.rhs, addend=last, **signs))
    assert last is not None
    less = shared.correction(raised, block) if raised else None
    builder = OpBuilder.before(total)
    if less is not None:
        last = builder.result(arith.SubiOp(last, less))
    for value in terms:
        if value not in replaced and not _is_zero(value):
            last = builder.result(arith.AddiOp(last, value))
    replace_sum(total, last)


def _is_free(op: linalg_ext.DotBytesOp, block: Block) -> bool:
    """Return whether one instruction multiplies and adds, and nothing else reads the products."""
    is_read_once = only_user(op) is not None and op.parent_block() is block and op.addend is None
    return is_read_once and (op.unsigned_lhs is None or op.unsigned_rhs is None)


def _sides(op: linalg_ext.DotBytesOp) -> tuple[SSAValue, SSAValue]:
    """The side of signed products that more of them read, and the other one."""
    if op.lhs.uses.get_length() > op.rhs.uses.get_length():
        return op.lhs, op.rhs
    return op.rhs, op.lhs


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    return find_constant_int(owner.source if isinstance(owner, vector.BroadcastOp) else value) == 0
