"""Two elementwise generics as one: what is known of them, and the op that does the work of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IndexType, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import linalg, memref, scf, tensor, tt
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.hoisting import Hoisting
from tilewright.transforms.linalg.structured import access_of, loop_extents

Access = tuple[AffineExpr, ...]

ADDRESS_BITS = 64


@dataclass(slots=True)
class SiblingLoop:
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
    def of(cls, op: linalg.GenericOp) -> SiblingLoop:
        inside = max((_bits(result.type) for inner in op.body.block.ops for result in inner.results), default=1)
        ops = ops_within(op.body)
        return cls(op, loop_extents(op), inside, len(ops), any(loads_elements(inner) for inner in ops))

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
class Merge:
    """Two generics, about to become one, in the body of the first."""

    head: SiblingLoop
    loop: SiblingLoop
    anchor: linalg.GenericOp
    """The op that the merged one replaces."""

    def write(self, hoisting: Hoisting) -> SiblingLoop:
        """Build the merged op; results that nothing reads any more are left out."""
        first, op = self.head.op, self.loop.op
        for value in read_values(op) if self.anchor is first else ():
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
        kept = [index for index, result in enumerate(results) if self._is_read_elsewhere(result)]
        new = self._build(block, inputs, [results[index].type for index in kept], [yielded[n] for n in kept])
        for index, result in zip(kept, new.results, strict=True):
            results[index].replace_all_uses_with(result)
        for old in (op, first):
            old.detach()
            old.erase(safe_erase=False)
        widest = max(self.head.widest_inside, self.loop.widest_inside)
        reads_memory = self.head.reads_memory or self.loop.reads_memory
        return SiblingLoop(new, self.head.extents, widest, self.head.length + self.loop.length, reads_memory, computed)

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
        parent = self.anchor.parent_block()
        assert parent is not None
        empty = tensor.EmptyOp.create(result_types=[kind])
        empty.location = self.head.op.location
        parent.insert_op_before(empty, self.anchor)
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
        """Replace a pure op by one that computes the same, or note this one; return whether there was one."""
        key = value_key(op)
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
        head, parent = self.head.op, self.anchor.parent_block()
        assert parent is not None
        outputs: list[SSAValue] = []
        for kind in types:
            outputs.append(self._empty(kind))
            block.insert_arg(element_type(kind), len(block.args))
        block.add_op(linalg.YieldOp.create(operands=yielded))
        rank = len(head.iterators)
        accesses = [access for _, access in inputs] + [own_index_of(head)] * len(types)
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
        parent.insert_op_before(new, self.anchor)
        return new


def value_key(op: Operation) -> object:
    """Return what two ops that compute the same have in common; None for ops that may give something else each time.
    A body writes nothing: what it loads twice from one address is the same."""
    if is_guarded_load(op):
        return _key_of_all(op)
    if op.regions or not (
        is_arithmetic(op) or loads_elements(op) or isinstance(op, linalg.IndexOp | memref.ReinterpretCastOp)
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
            inside.update((result, len(inside) + index) for index, result in enumerate(inner.results))
    return tuple(parts)


def is_guarded_load(op: Operation) -> bool:
    """Return whether an op loads elements where a condition holds, and does nothing else with regions."""
    if not isinstance(op, scf.IfOp):
        return False
    return not any(inner.regions for region in op.regions for inner in ops_within(region))


def read_values(op: linalg.GenericOp) -> Iterator[SSAValue]:
    """Yield what a generic reads from around it: its inputs and what its body captures."""
    yield from op.inputs
    yield from captured(op)


def captured(op: linalg.StructuredOp) -> Iterator[SSAValue]:
    """Yield what the body of a generic reads from around it."""
    for inner in ops_within(op.body):
        yield from (operand for operand in inner.operands if not _is_inside(operand, op))


def own_index_of(op: linalg.GenericOp) -> Access:
    return tuple(AffineDimExpr(dim) for dim in range(len(op.iterators)))


def loads_elements(op: Operation) -> bool:
    return isinstance(op, memref.LoadOp | tensor.ExtractOp)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    owner: Operation | Block | None = value.owner
    while owner is not None:
        if owner is op:
            return True
        owner = owner.parent_op() if isinstance(owner, Block) else owner.parent_block()
    return False
