"""The pass `linalg-merge-siblings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import func, linalg, memref, tensor
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.transforms.linalg.effects import may_write, root_of_memref, written_memory
from tilewright.transforms.linalg.hoisting import Hoisting
from tilewright.transforms.linalg.loads import Disjointness, ancestor_in
from tilewright.transforms.linalg.structured import access_of, is_elementwise, loop_extents

MOST_INPUTS = 8
MOST_RESULTS = 4
"""A loop over more tiles than this would run out of registers for addresses, and of streams to prefetch."""

Access = tuple[AffineExpr, ...]


@register_pass
class LinalgMergeSiblingsPass(Pass):
    """Elementwise generics over the same elements of the same tiles become one generic with several results.

    ```mlir
    %share = linalg.generic {divf} ins(%one, %count) outs(%e) -> tensor<64xf32>
    %mean = linalg.generic {subf, mulf, addf} ins(%m, %x, %share) outs(%e) -> tensor<64xf32>
    bufferization.materialize_in_destination %mean in writable %out
    %next = linalg.generic {subf, mulf, mulf, addf} ins(%q, %m, %x, %share) outs(%e) -> tensor<64xf32>
    // becomes
    %mean, %next = linalg.generic {divf, subf, mulf, addf, mulf, mulf, addf} ins(%one, %count, %m, %x, %q) outs(%e, %e2)
      -> tensor<64xf32>, tensor<64xf32>
    bufferization.materialize_in_destination %mean in writable %out
    ```
    What both compute is computed once, what both read is read once, and what the first only makes for the second stays
    in registers. The second moves up to the first, with scalar arithmetic and loads that it needs, where the rest of
    what it reads is known there; or the first down to the second, where nothing in between reads its results or writes
    the caller's memory.
    """

    name = "linalg-merge-siblings"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if not isinstance(function, func.FuncOp) or function.body.blocks.first is None:
                continue
            hoisting = Hoisting(Disjointness(function))
            for op in function.walk():
                if not isinstance(op, linalg.StructuredOp):
                    for region in op.regions:
                        for block in region.blocks:
                            merge_block(block, hoisting)


def merge_block(block: Block, hoisting: Hoisting) -> None:
    """Merge the generics of one block, each into the last one before it that it may join."""
    heads: list[linalg.GenericOp] = []
    touching: dict[SSAValue, list[int]] = {}
    """From a value to the heads that read or make it, by number: only these have anything in common with a reader."""
    writes = _Writes()
    before: dict[Operation, _Writes] = {}
    for op in list(block.ops):
        before[op] = writes
        writes = writes.with_those_of(op)
        if not isinstance(op, linalg.GenericOp) or not is_mergeable(op):
            continue
        for position in sorted({n for value in op.inputs for n in touching.get(value, ())}, reverse=True):
            head = heads[position]
            if (place := place_to_merge(head, op, before, hoisting)) is not None:
                merged = heads[position] = _Merge(head, op, place).write(hoisting)
                before[merged] = before[place]
                break
        else:
            position, merged = len(heads), op
            heads.append(op)
        for value in (*merged.inputs, *merged.results):
            touching.setdefault(value, []).append(position)


@dataclass(frozen=True, slots=True)
class _Writes:
    """How many ops of a block in front of one may write memory."""

    any: int = 0
    lasting: int = 0
    """To memory that is not allocated here."""

    def with_those_of(self, op: Operation) -> _Writes:
        if not may_write(op):
            return self
        written = written_memory(op)
        is_local = written is not None and all(isinstance(root_of_memref(to).owner, memref.AllocOp) for to in written)
        return _Writes(self.any + 1, self.lasting + (not is_local))


def is_mergeable(op: linalg.GenericOp) -> bool:
    """Elementwise, without effects, each result at the loops' own place, none computed from what its tile held."""
    if not op.results or not is_elementwise(op) or not op.iterators:
        return False
    if any(argument.uses.get_length() for argument in op.body.block.args[len(op.inputs) :]):
        return False
    own_place = _own_place(op)
    if any(access_of(map_) != own_place for map_ in op.maps[len(op.inputs) :]):
        return False
    if any(not isinstance(expr, AffineDimExpr | AffineConstantExpr) for map_ in op.maps for expr in map_.results):
        return False
    return not any(inner.regions or may_write(inner) or inner.name.startswith("cf.") for inner in op.body.block.ops)


def place_to_merge(
    head: linalg.GenericOp, op: linalg.GenericOp, before: Mapping[Operation, _Writes], hoisting: Hoisting
) -> linalg.GenericOp | None:
    """Which of the two, of which `head` stands first in the same block, the other should join; None: neither.

    `op` moves up where all that it reads is known there, or can move along. Else `head` moves down, if nothing in
    between reads its results or writes memory: what it reads would have to be kept beyond that.
    """
    if not _fit(head, op):
        return None
    if before[head].any != before[op].any and any(_reads_memory(inner) for inner in op.body.block.walk()):
        return None
    outer = (value for value in _read_values(op) if value.owner is not head)
    if all(hoisting.is_possible(value, head) for value in outer):
        return head
    if before[head].lasting != before[op].lasting or any(_reads_memory(inner) for inner in head.body.block.walk()):
        return None
    return op if all(_is_read_behind(result, op) for result in head.results) else None


def _fit(head: linalg.GenericOp, op: linalg.GenericOp) -> bool:
    """Whether two generics make a good one: over the same elements, with something in common, and not too large."""
    if loop_extents(head) != loop_extents(op) or _widest_element(head) != _widest_element(op):
        return False
    if len(head.results) + len(op.results) > MOST_RESULTS:
        return False
    known = {(value, access_of(map_)) for value, map_ in zip(head.inputs, head.maps, strict=False)}
    own_place = _own_place(op)
    shared = extra = 0
    for value, map_ in zip(op.inputs, op.maps, strict=False):
        if value.owner is head:
            if access_of(map_) != own_place:
                return False
            shared += 1
        elif (value, access_of(map_)) in known:
            shared += access_of(map_) == own_place
        else:
            extra += 1
    return shared > 0 and len(known) + extra <= MOST_INPUTS


def _read_values(op: linalg.GenericOp) -> Iterator[SSAValue]:
    """What a generic reads from around it: its inputs and what its body captures."""
    yield from op.inputs
    for inner in op.body.block.walk():
        yield from (operand for operand in inner.operands if not _is_inside(operand, op))


def _is_read_behind(value: SSAValue, op: Operation) -> bool:
    """Whether whatever refers to a value is `op`, or stands behind it in its block."""
    block = op.parent_block()
    assert block is not None
    users = (ancestor_in(block, use.operation) for use in value.uses)
    return all(user is op or (user is not None and op.is_before_in_block(user)) for user in users)


def _widest_element(op: linalg.GenericOp) -> int:
    """Bits of the widest number of a body, which decides how many lanes a vector has; i1 and index do not count."""
    body = op.body.block
    kinds = [argument.type for argument in body.args] + [result.type for inner in body.ops for result in inner.results]
    return max((bit_width(kind) for kind in kinds if not isinstance(kind, IndexType | MemRefType)), default=1)


def _own_place(op: linalg.GenericOp) -> Access:
    return tuple(AffineDimExpr(dim) for dim in range(len(op.iterators)))


def _reads_memory(op: Operation) -> bool:
    return isinstance(op, memref.LoadOp | tensor.ExtractOp)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    owner: Operation | Block | None = value.owner
    while owner is not None:
        if owner is op:
            return True
        owner = owner.parent_op() if isinstance(owner, Block) else owner.parent_block()
    return False


@dataclass(frozen=True, slots=True)
class _Merge:
    """Two generics, about to become one."""

    head: linalg.GenericOp
    op: linalg.GenericOp
    place: linalg.GenericOp
    """Where the merged op stands: in the place of one of them."""

    def write(self, hoisting: Hoisting) -> linalg.GenericOp:
        """Build the merged op; results that nothing reads any more are left out."""
        inputs: dict[tuple[SSAValue, Access], SSAValue] = {}
        block = Block()
        computed: dict[object, Operation] = {}
        for value in _read_values(self.op) if self.place is self.head else ():
            if value.owner is not self.head:
                hoisting.perform(value, self.head)
        yielded = self._inline(self.head, block, inputs, {}, computed)
        made = dict[SSAValue, SSAValue](zip(self.head.results, yielded, strict=True))
        yielded += self._inline(self.op, block, inputs, made, computed)
        results = [*self.head.results, *self.op.results]
        for result in results:
            self._replace_placeholders(result)
        kept = [number for number, result in enumerate(results) if self._is_read_elsewhere(result)]
        new = self._build(block, inputs, [results[number].type for number in kept], [yielded[n] for n in kept])
        for number, result in zip(kept, new.results, strict=True):
            results[number].replace_all_uses_with(result)
        for old in (self.op, self.head):
            old.detach()
            old.erase(safe_erase=False)
        return new

    def _is_read_elsewhere(self, result: SSAValue) -> bool:
        """Whether a result has a reader besides the op that is merged."""
        return any(use.operation is not self.op for use in result.uses)

    def _replace_placeholders(self, result: SSAValue) -> None:
        """Put an empty tensor where a result only gives the shape of another op's output."""
        for use in list(result.uses):
            user = use.operation
            if not isinstance(user, linalg.GenericOp) or use.index < len(user.inputs) or user is self.op:
                continue
            if not user.body.block.args[use.index].uses.get_length():
                user.operands[use.index] = self._empty(result.type)

    def _empty(self, kind: Attribute) -> SSAValue:
        parent = self.place.parent_block()
        assert parent is not None
        empty = tensor.EmptyOp.create(result_types=[kind])
        empty.location = self.head.location
        parent.insert_op_before(empty, self.place)
        return empty.results[0]

    def _inline(
        self,
        op: linalg.GenericOp,
        block: Block,
        inputs: dict[tuple[SSAValue, Access], SSAValue],
        made: dict[SSAValue, SSAValue],
        computed: dict[object, Operation],
    ) -> list[SSAValue]:
        """Copy a body, without the pure ops that `computed` has; returns what it yields."""
        body = op.body.block
        known: dict[SSAValue, SSAValue] = {}
        for argument, value, map_ in zip(body.args, op.inputs, op.maps, strict=False):
            if value in made:
                known[argument] = made[value]
                continue
            key = (value, access_of(map_))
            if key not in inputs:
                kind = element_type(value.type) if is_tensor(value.type) else value.type
                inputs[key] = block.insert_arg(kind, len(block.args))
            known[argument] = inputs[key]
        for inner in body.ops:
            if isinstance(inner, linalg.YieldOp):
                return [known.get(operand, operand) for operand in inner.operands]
            key = _value_key(inner, known)
            if (found := computed.get(key)) is None:
                found = inner.clone(value_mapper=known)
                found.location = inner.location
                block.add_op(found)
                if key is not None:
                    computed[key] = found
            known.update(zip(inner.results, found.results, strict=True))
        raise AssertionError("a body ends in a yield")

    def _build(
        self,
        block: Block,
        inputs: dict[tuple[SSAValue, Access], SSAValue],
        types: Sequence[Attribute],
        yielded: Sequence[SSAValue],
    ) -> linalg.GenericOp:
        head, parent = self.head, self.place.parent_block()
        assert parent is not None
        outputs: list[SSAValue] = []
        for kind in types:
            outputs.append(self._empty(kind))
            block.insert_arg(element_type(kind), len(block.args))
        block.add_op(linalg.YieldOp.create(operands=yielded))
        rank = len(head.iterators)
        accesses = [access for _, access in inputs] + [_own_place(head)] * len(types)
        new = linalg.GenericOp.create(
            operands=[*(value for value, _ in inputs), *outputs],
            result_types=types,
            properties={
                "indexing_maps": ArrayAttr(AffineMapAttr(AffineMap(rank, 0, access)) for access in accesses),
                "iterator_types": ArrayAttr([linalg.PARALLEL] * rank),
                "operandSegmentSizes": segment_sizes(len(inputs), len(outputs)),
            },
            regions=[Region(block)],
        )
        new.location = self.op.location
        parent.insert_op_before(new, self.place)
        return new


def _value_key(op: Operation, known: dict[SSAValue, SSAValue]) -> object:
    """What two ops that compute the same have in common; None for ops with regions or memory accesses."""
    if op.regions or _reads_memory(op) or not op.name.startswith(("arith.", "math.", "linalg.index")):
        return None
    operands = tuple(known.get(operand, operand) for operand in op.operands)
    kinds = tuple(result.type for result in op.results)
    return (op.name, operands, tuple(op.properties.items()), tuple(op.attributes.items()), kinds)
