"""The pass `linalg-merge-siblings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import cf, func, linalg, memref, scf, tensor, tt
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.linalg.effects import Writers, may_write
from tilewright.transforms.linalg.hoisting import Hoisting
from tilewright.transforms.linalg.loads import Disjointness, ancestor_in
from tilewright.transforms.linalg.structured import access_of, is_elementwise, loop_extents

MOST_TRIED = 64
"""How many of the loops before it a loop may try to join: where hundreds read the same tile and none can be merged,
trying all pairs costs more than the rest of a compilation."""

MOST_INPUTS = 8
MOST_RESULTS = 4
"""A loop over more tiles than this would run out of registers for addresses, and of streams to prefetch."""

MOST_OPS = 1000
"""Of a body that mergers make: what two longer ones gain does not show next to their length, and what compiles a body
may walk along all of it."""

ADDRESS_BITS = 64

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
            hoisting, writers = Hoisting(Disjointness(function)), Writers()
            for op in ops_within(function):
                if not isinstance(op, linalg.StructuredOp):
                    for region in op.regions:
                        for block in region.blocks:
                            merge_block(block, hoisting, writers)


def merge_block(block: Block, hoisting: Hoisting, writers: Writers) -> None:
    """Merge the generics of one block, each into the last one before it that it may join."""
    heads: list[_Loop | None] = []
    touching: dict[SSAValue, set[int]] = {}
    """From a value to the heads that read or make it, by number: only these have anything in common with a reader."""
    writes = _Writes()
    before: dict[Operation, _Writes] = {}
    for op in list(block.ops):
        before[op] = writes
        writes = writes.with_those_of(op, writers)
        if not isinstance(op, linalg.GenericOp) or not is_mergeable(op):
            continue
        loop = _Loop.of(op)
        position: int | None = None
        while True:  # what joined one may now join another, too
            values = (*loop.op.inputs, *loop.op.results) if position is not None else loop.op.inputs
            near = {number for value in values for number in _with_room(touching.get(value), heads)}
            merged = _merge_with_one(loop, position, sorted(near, reverse=True)[:MOST_TRIED], heads, before, hoisting)
            if merged is None:
                break
            if position is not None:
                heads[position] = None
            position, loop = merged
            heads[position] = loop
            for value in (*loop.op.inputs, *loop.op.results):
                touching.setdefault(value, set()).add(position)
        if position is None:
            position = len(heads)
            heads.append(loop)
            for value in (*loop.op.inputs, *loop.op.results):
                touching.setdefault(value, set()).add(position)


def _merge_with_one(
    loop: _Loop,
    position: int | None,
    near: Sequence[int],
    heads: Sequence[_Loop | None],
    before: dict[Operation, _Writes],
    hoisting: Hoisting,
) -> tuple[int, _Loop] | None:
    """Merge a loop, which may be one of the heads itself, with the first of some heads before it that it fits."""
    for number in near:
        head = heads[number]
        if head is None or number == position:
            continue
        if position is not None and not head.op.is_before_in_block(loop.op):
            continue
        if (place := place_to_merge(head, loop, before, hoisting)) is not None:
            merged = _Merge(head, loop, place).write(hoisting)
            before[merged.op] = before[place]
            return number, merged
    return None


def _with_room(numbers: set[int] | None, heads: Sequence[_Loop | None]) -> set[int]:
    """The heads of some numbers that may get further results; the others are struck out for good."""
    if numbers is None:
        return set()
    numbers -= {number for number in numbers if (head := heads[number]) is None or _is_full(head.op)}
    return numbers


def _is_full(op: linalg.GenericOp) -> bool:
    """Return whether a loop cannot get further results, whatever they read."""
    return len(op.results) >= MOST_RESULTS and len(op.inputs) < MOST_INPUTS


@dataclass(slots=True)
class _Loop:
    """A generic that may be merged, and what is known of it: a body may be the work of hundreds of mergers, each of
    which is to cost no more than what it adds."""

    op: linalg.GenericOp
    extents: tuple[int, ...]
    widest_inside: int
    """Bits of the widest number that the ops of the body make."""
    length: int
    """How many ops the body has, at most."""
    reads_memory: bool
    computed: dict[object, Operation] | None = None
    """The pure ops of the body, by what they compute; None as long as some may compute the same."""

    @classmethod
    def of(cls, op: linalg.GenericOp) -> _Loop:
        inside = max((_bits(result.type) for inner in op.body.block.ops for result in inner.results), default=1)
        ops = ops_within(op.body)
        return cls(op, loop_extents(op), inside, len(ops), any(_reads_memory(inner) for inner in ops))

    @property
    def widest(self) -> int:
        """Bits of the widest number of the body, which decides how many lanes a vector has."""
        return max(self.widest_inside, *(_bits(argument.type) for argument in self.op.body.block.args))


def _bits(kind: Attribute) -> int:
    """Bits of a number or pointer; i1 and index do not count."""
    if isinstance(kind, IndexType | MemRefType):
        return 1
    return ADDRESS_BITS if isinstance(kind, tt.PointerType) else bit_width(kind)


@dataclass(frozen=True, slots=True)
class _Writes:
    """How many ops of a block before one may write memory."""

    any: int = 0
    lasting: int = 0
    """To memory that is not allocated here."""

    def with_those_of(self, op: Operation, writers: Writers) -> _Writes:
        if not writers.may_write(op):
            return self
        roots = writers.written(op)
        is_local = roots is not None and all(isinstance(root.owner, memref.AllocOp) for root in roots)
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
    return not any(
        (inner.regions and not _is_guarded_load(inner)) or may_write(inner) or isinstance(inner, cf.AssertOp)
        for inner in op.body.block.ops
    )


def _is_guarded_load(op: Operation) -> bool:
    """Return whether an op loads elements where a condition holds, and does nothing else with regions."""
    if not isinstance(op, scf.IfOp):
        return False
    return not any(inner.regions for region in op.regions for inner in ops_within(region))


def place_to_merge(
    head: _Loop, loop: _Loop, before: Mapping[Operation, _Writes], hoisting: Hoisting
) -> linalg.GenericOp | None:
    """Return which of the two, of which `head` stands first in the same block, the other should join; None: neither.

    `loop` moves up where all that it reads is known there, or can move along. Else `head` moves down, if nothing in
    between reads its results or writes memory: what it reads would have to be kept beyond that.
    """
    if not _fit(head, loop):
        return None
    first, op = head.op, loop.op
    if any(value.owner is first for value in _captured(op)):
        return None  # a gather: any iteration may read what any other makes
    if before[first].any != before[op].any and loop.reads_memory:
        return None
    outer = (value for value in _read_values(op) if value.owner is not first)
    if all(hoisting.is_possible(value, first) for value in outer):
        return first
    if before[first].lasting != before[op].lasting or head.reads_memory:
        return None
    return op if all(_is_read_after(result, op, hoisting) for result in first.results) else None


def _fit(head: _Loop, loop: _Loop) -> bool:
    """Return whether two generics make a good one: over the same elements, with something in common, and not too
    large. Loops that each read many tiles are large anyhow: most of the second's reads should be gone.
    """
    first, op = head.op, loop.op
    if head.extents != loop.extents or head.widest != loop.widest or head.length + loop.length > MOST_OPS:
        return False
    known = {(value, access_of(map_)) for value, map_ in zip(first.inputs, first.maps, strict=False)}
    own_place = _own_place(op)
    shared = extra = 0
    for value, map_ in zip(op.inputs, op.maps, strict=False):
        if value.owner is first:
            if access_of(map_) != own_place:
                return False
            shared += 1
        elif (value, access_of(map_)) in known:
            shared += access_of(map_) == own_place
        else:
            extra += 1
    if len(known) + extra <= MOST_INPUTS and len(first.results) + len(op.results) <= MOST_RESULTS:
        return shared > 0
    return min(len(known), len(op.inputs)) >= MOST_INPUTS and shared >= extra


def _read_values(op: linalg.GenericOp) -> Iterator[SSAValue]:
    """Yield what a generic reads from around it: its inputs and what its body captures."""
    yield from op.inputs
    yield from _captured(op)


def _captured(op: linalg.GenericOp) -> Iterator[SSAValue]:
    """Yield what the body of a generic reads from around it."""
    for inner in ops_within(op.body):
        yield from (operand for operand in inner.operands if not _is_inside(operand, op))


def _is_read_after(value: SSAValue, op: Operation, hoisting: Hoisting) -> bool:
    """Return whether whatever refers to a value is `op`, or comes after it in its block."""
    block = op.parent_block()
    assert block is not None
    order = hoisting.order.of_block(block)
    users = (ancestor_in(block, use.operation) for use in value.uses)
    return all(user is op or (user is not None and order.is_before(op, user)) for user in users)


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
    """Two generics, about to become one, in the body of the first."""

    head: _Loop
    loop: _Loop
    place: linalg.GenericOp
    """Where the merged op stands: in the place of one of them."""

    def write(self, hoisting: Hoisting) -> _Loop:
        """Build the merged op; results that nothing reads any more are left out."""
        first, op = self.head.op, self.loop.op
        for value in _read_values(op) if self.place is first else ():
            if value.owner is not first:
                hoisting.perform(value, first)
        block = first.body.detach_block(first.body.block)
        inputs: dict[tuple[SSAValue, Access], SSAValue] = {}
        yielded, computed = self._open(block, inputs)
        made = dict[SSAValue, SSAValue](zip(first.results, yielded, strict=True))
        yielded += self._move_into(block, inputs, made, computed)
        results = [*first.results, *op.results]
        for result in results:
            self._replace_placeholders(result)
        kept = [number for number, result in enumerate(results) if self._is_read_elsewhere(result)]
        new = self._build(block, inputs, [results[number].type for number in kept], [yielded[n] for n in kept])
        for number, result in zip(kept, new.results, strict=True):
            results[number].replace_all_uses_with(result)
        for old in (op, first):
            old.detach()
            old.erase(safe_erase=False)
        widest = max(self.head.widest_inside, self.loop.widest_inside)
        reads_memory = self.head.reads_memory or self.loop.reads_memory
        return _Loop(new, self.head.extents, widest, self.head.length + self.loop.length, reads_memory, computed)

    def _is_read_elsewhere(self, result: SSAValue) -> bool:
        """Return whether a result has a reader besides the op that is merged."""
        return any(use.operation is not self.loop.op for use in result.uses)

    def _replace_placeholders(self, result: SSAValue) -> None:
        """Put an empty tensor where a result only gives the shape of another op's output."""
        for use in list(result.uses):
            user = use.operation
            if not isinstance(user, linalg.GenericOp) or use.index < len(user.inputs) or user is self.loop.op:
                continue
            if not user.body.block.args[use.index].uses.get_length():
                user.operands[use.index] = self._empty(result.type)

    def _empty(self, kind: Attribute) -> SSAValue:
        parent = self.place.parent_block()
        assert parent is not None
        empty = tensor.EmptyOp.create(result_types=[kind])
        empty.location = self.head.op.location
        parent.insert_op_before(empty, self.place)
        return empty.results[0]

    def _open(
        self, block: Block, inputs: dict[tuple[SSAValue, Access], SSAValue]
    ) -> tuple[list[SSAValue], dict[object, Operation]]:
        """Make a body that can be added to of the first one's: arguments for its inputs alone, no yield. Returns what
        it yielded, and its pure ops by what they compute."""
        op = self.head.op
        end = block.last_op
        assert isinstance(end, linalg.YieldOp)
        arguments = list(block.args)
        for argument, value, map_ in zip(arguments, op.inputs, op.maps, strict=False):
            key = (value, access_of(map_))
            if key in inputs:
                argument.replace_all_uses_with(inputs[key])
                block.erase_arg(argument)
            else:
                inputs[key] = argument
        for argument in arguments[len(op.inputs) :]:
            block.erase_arg(argument)
        computed = self.head.computed
        if computed is None:
            computed = dict[object, Operation]()
            for inner in block.ops:
                self._unify(inner, computed)
        yielded = list(end.operands)
        end.detach()
        end.erase()
        return yielded, computed

    def _move_into(
        self,
        block: Block,
        inputs: dict[tuple[SSAValue, Access], SSAValue],
        made: dict[SSAValue, SSAValue],
        computed: dict[object, Operation],
    ) -> list[SSAValue]:
        """Put the second body after the first, without the pure ops that `computed` has; returns what it yields."""
        op = self.loop.op
        body = op.body.block
        for argument, value, map_ in zip(body.args, op.inputs, op.maps, strict=False):
            if value in made:
                argument.replace_all_uses_with(made[value])
                continue
            key = (value, access_of(map_))
            if key not in inputs:
                kind = element_type(value.type) if is_tensor(value.type) else value.type
                inputs[key] = block.insert_arg(kind, len(block.args))
            argument.replace_all_uses_with(inputs[key])
        for inner in body.ops:
            if isinstance(inner, linalg.YieldOp):
                return list(inner.operands)
            if not self._unify(inner, computed):
                inner.detach()
                block.add_op(inner)
        raise AssertionError("a body ends in a yield")

    @staticmethod
    def _unify(op: Operation, computed: dict[object, Operation]) -> bool:
        """Use an op that computes the same in the place of a pure one, or note this one; whether there was one."""
        key = _value_key(op)
        if key is None:
            return False
        found = computed.setdefault(key, op)
        if found is op:
            return False
        for old, new in zip(op.results, found.results, strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
        return True

    def _build(
        self,
        block: Block,
        inputs: dict[tuple[SSAValue, Access], SSAValue],
        types: Sequence[Attribute],
        yielded: Sequence[SSAValue],
    ) -> linalg.GenericOp:
        head, parent = self.head.op, self.place.parent_block()
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
        new.location = self.loop.op.location
        parent.insert_op_before(new, self.place)
        return new


def _value_key(op: Operation) -> object:
    """Return what two ops that compute the same have in common; None for ops that may give something else each time.
    A body writes nothing: what it loads twice from one place is the same."""
    if _is_guarded_load(op):
        return _key_of_all(op)
    if op.regions or not (
        is_arithmetic(op) or _reads_memory(op) or isinstance(op, linalg.IndexOp | memref.ReinterpretCastOp)
    ):
        return None
    return _key_of_one(op, {})


def _key_of_one(op: Operation, inside: Mapping[SSAValue, int]) -> object:
    operands = tuple(inside.get(value, value) for value in op.operands)
    kinds = tuple(result.type for result in op.results)
    return (op.name, operands, tuple(op.properties.items()), tuple(op.attributes.items()), kinds)


def _key_of_all(op: Operation) -> object:
    """The same for an op with regions: what is made there is told apart by its position."""
    inside: dict[SSAValue, int] = {}
    parts = [_key_of_one(op, inside)]
    for region in op.regions:
        for inner in ops_within(region):
            parts.append(_key_of_one(inner, inside))
            inside.update((result, len(inside) + number) for number, result in enumerate(inner.results))
    return tuple(parts)
