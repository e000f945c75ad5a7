"""The pass `linalg-fuse-matmul-stores`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import arith, bufferization, func, linalg, linalg_ext, memref, scf, tensor
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.types import element_type
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_matmuls.first_iteration import NoMatchError
from tilewright.lowering.linalg_matmuls.matmul_operands import find_cast, is_zero_tile
from tilewright.lowering.linalg_matmuls.panel_plans import find_constant_arguments, plan_cached_panels
from tilewright.lowering.linalg_to_loops.emitter import Cursor, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.microkernel_attributes import find_routine
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import root_of_memref
from tilewright.transforms.linalg.index_proofs import constant_of
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.sink_producers import find_store

_TRANSPARENT = (
    *(memref.ReinterpretCastOp, memref.SubviewOp, memref.CastOp),
    *(tensor.ExtractSliceOp, tensor.EmptyOp),
)


@register_pass
class LinalgFuseMatmulStoresPass(Pass):
    """Lets matmuls of views write their results directly to the memory that these are stored to, if a whole tile is
    stored.

    ```mlir
    %c = scf.if %adjoin -> (tensor<64x64xf32>) {
      %d = linalg_ext.view_matmul ins(%a, %b : ...) outs(%zero : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %d
    } else { ... }
    %s = tensor.extract_slice %c[0, 0] [%m, %n] [1, 1]
    bufferization.materialize_in_destination %s in writable %v
    // becomes
    %whole = ...                                                         // %m >= 64 and %n >= 64 and %row_stride >= 64
    %c, %stored = scf.if %adjoin -> (tensor<64x64xf32>, i1) {
      %d, %i = linalg_ext.view_matmul ins(%a, %b : ...) outs(%zero : ...) into(%v : ...) if %whole -> ..., i1
      scf.yield %d, %i
    } else { ...; scf.yield %l, %false }
    scf.if %stored {} else { the slice and its store }
    ```
    If the result is rounded to a narrower type before it is stored, micro-kernels that can do so round it.

    Between the micro-kernel's steps along k, the sums stay in a buffer, whose rows are close together. Copying them
    afterwards to memory that is not cached would cost a twentieth of a matmul with a thousand terms; written tile by
    tile, the copy overlaps with the multiplications. A tile that is cut off at the edge of its matrix is copied.

    Nothing may read or write memory between the branch and the store, and the address of the store must be computed
    before the branch. Micro-kernels with a second destination exist only for panels of B that programs share, and for
    sums that start from zero.
    """

    name = "linalg-fuse-matmul-stores"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            entry = function.body.blocks.first if isinstance(function, func.FuncOp) else None
            matmuls = find_ops(function, linalg_ext.ViewMatmulOp)
            if entry is None or not matmuls:
                continue
            assert isinstance(function, func.FuncOp)
            constants, apart, emitter = find_constant_arguments(function), Disjointness(function), LoopEmitter(entry)
            for matmul in matmuls:
                outputs = _outputs(matmul, constants, context.facts or DEFAULT_FACTS)
                if outputs:
                    try:
                        _fuse(emitter, matmul, apart, outputs)
                    except NoMatchError as error:
                        context.remark(matmul, f"its result is copied to where it is stored: {error}")


def _outputs(matmul: linalg_ext.ViewMatmulOp, constants: frozenset[SSAValue], facts: TargetFacts) -> Sequence[str]:
    """The types in which the micro-kernel of a matmul can write to a second destination."""
    kernel = find_routine(matmul)
    if not isinstance(kernel, MatmulKernel) or not is_zero_tile(matmul.init):
        return ()
    if root_of_memref(matmul.b) not in constants:
        return ()
    plan = plan_cached_panels(kernel, tensor_shape(matmul.result), facts)
    return () if plan is None else plan.outputs


@dataclass(frozen=True, slots=True)
class _Store:
    """Where a matmul's result is stored, how much of it, and what rounds it before."""

    op: bufferization.MaterializeInDestinationOp
    sizes: Sequence[Index]
    narrowing: linalg.GenericOp | None

    @classmethod
    def of(cls, matmul: linalg_ext.ViewMatmulOp, branch: scf.IfOp) -> _Store:
        """The store that is the only reader of a branch's tile. Raises NoMatchError where there is none."""
        narrowing = _find_narrowing(branch.results[0])
        store = find_store(branch.results[0] if narrowing is None else narrowing.results[0])
        if store is None or store.parent_block() is not branch.parent_block():
            raise NoMatchError("it has other readers than a store")
        shape = tensor_shape(matmul.result)
        counts = find_cast(matmul.a).mixed_sizes[0], find_cast(matmul.b).mixed_sizes[1]
        sizes: list[Index] = list(shape)
        cut = store.source.owner
        if isinstance(cut, tensor.ExtractSliceOp):
            if any(start != 0 for start in cut.mixed_offsets) or any(step != 1 for step in cut.mixed_strides):
                raise NoMatchError("what is stored of it does not start at its first element")
            # Where fewer rows or columns are multiplied than the tile has, these are the ones that are stored.
            pairs = zip(cut.mixed_sizes, counts, shape, strict=True)
            sizes = [size if count == extent else extent for size, count, extent in pairs]
        return cls(store, sizes, narrowing)

    def ops(self) -> list[Operation]:
        """The ops that read the result, in order: the rounding, the slice, the store."""
        cut = self.op.source.owner
        found = (self.narrowing, cut if isinstance(cut, tensor.ExtractSliceOp) else None, self.op)
        return [op for op in found if op is not None]


def _find_narrowing(value: SSAValue) -> linalg.GenericOp | None:
    """The only reader of a value, where it rounds all its elements to a narrower float type and does nothing else."""
    uses = list(value.uses)
    user = uses[0].operation if len(uses) == 1 else None
    if not isinstance(user, linalg.GenericOp) or list(user.inputs) != [value] or len(user.outputs) != 1:
        return None
    identity = AffineMap.identity(len(tensor_shape(value)))
    body = list(user.body.block.ops)
    if len(body) != 2 or not isinstance(body[0], arith.TruncFOp) or any(map_ != identity for map_ in user.maps):
        return None
    return user if body[0].rounding is RoundingMode.TO_NEAREST_EVEN else None


def _fuse(emitter: LoopEmitter, matmul: linalg_ext.ViewMatmulOp, apart: Disjointness, outputs: Sequence[str]) -> None:
    branch = matmul.parent_op()
    if not isinstance(branch, scf.IfOp) or [use.operation for use in matmul.result.uses] != [_end(matmul)]:
        raise NoMatchError("it is not all that a branch makes")
    store = _Store.of(matmul, branch)
    if str(element_type(store.op.dest.type)) not in outputs:
        raise NoMatchError("its micro-kernel writes no elements of that type")
    if not _only_addresses_between(branch, store):
        raise NoMatchError("something happens before it is stored")
    block = branch.parent_block()
    assert block is not None
    emitter.cursor, emitter.location = Cursor(block, branch), branch.location
    earlier = _Earlier(emitter, branch)
    dest = earlier.value(store.op.dest)
    strides = find_strides(dest)
    if strides is None or len(strides) != 2 or constant_of(strides[1]) != 1:
        raise NoMatchError("the elements of its rows are not stored next to each other")
    roots = [root_of_memref(view) for view in (matmul.a, matmul.b)]
    if not all(apart.is_disjoint(root, root_of_memref(dest)) for root in roots):
        raise NoMatchError("it may be stored over its operands")
    shape = tensor_shape(matmul.result)
    # Rows that overlap are written one after the other, the last one last.
    whole = emitter.compare("sge", strides[0], shape[1])
    for size, extent in zip(store.sizes, shape, strict=True):
        if not (isinstance(size, int) and size >= extent):
            size = size if isinstance(size, int) else earlier.value(size)
            whole = emitter.both(whole, emitter.compare("sge", size, extent))
    if whole is False:
        raise NoMatchError("only a part of it is stored")
    _rewrite(emitter, matmul, branch, store, dest, emitter.truth(whole))


def _rewrite(
    emitter: LoopEmitter,
    matmul: linalg_ext.ViewMatmulOp,
    branch: scf.IfOp,
    store: _Store,
    dest: SSAValue,
    whole: SSAValue,
) -> None:
    new = linalg_ext.ViewMatmulOp(matmul.a, matmul.b, matmul.init, matmul.is_shared, dest, whole, i1)
    new.attributes, new.location = dict(matmul.attributes), matmul.location
    block, other_end = matmul.parent_block(), branch.false_region.block.last_op
    assert block is not None and other_end is not None and new.stored is not None
    ends = _end(matmul), other_end
    block.insert_op_before(new, matmul)
    matmul.result.replace_all_uses_with(new.result)
    matmul.detach()
    matmul.erase()
    for end, is_stored in zip(ends, (new.stored, emitter.truth(False)), strict=True):
        end.operands = [*end.operands, is_stored]
    both = emitter.create(
        scf.IfOp, [branch.cond], [branch.results[0].type, i1], regions=[branch.detach_region(r) for r in branch.regions]
    )
    branch.results[0].replace_all_uses_with(both.results[0])
    branch.detach()
    branch.erase()
    moved = store.ops()
    outer = store.op.parent_block()
    assert outer is not None
    with emitter.at(Cursor(outer, store.op)):
        _, then_block, else_block = emitter.open_if(both.results[1])
    with emitter.at(then_block):
        emitter.yield_()
    for op in moved:
        op.detach()
        else_block.add_op(op)
    with emitter.at(else_block):
        emitter.yield_()


def _end(matmul: linalg_ext.ViewMatmulOp) -> Operation:
    block = matmul.parent_block()
    assert block is not None and block.last_op is not None
    return block.last_op


def find_strides(view: SSAValue) -> Sequence[Index] | None:
    """The strides of a view whose dimensions are those of the memory; None where they are not known."""
    match view.owner:
        case memref.CastOp() as op:
            return find_strides(op.source)
        case memref.SubviewOp() as op if all(step == 1 for step in op.mixed_strides):
            return find_strides(op.source) if len(op.mixed_sizes) == op.result.type.get_num_dims() else None
        case memref.ReinterpretCastOp() as op:
            return op.mixed_strides
        case _:
            return None


def _only_addresses_between(branch: Operation, store: _Store) -> bool:
    op = branch.next_op
    while op is not None and op is not store.op:
        if op is not store.narrowing and not (is_arithmetic(op) or isinstance(op, _TRANSPARENT)):
            return False
        op = op.next_op
    return op is store.op


class _Earlier:
    """Values after a branch, computed at the cursor before it."""

    def __init__(self, emitter: LoopEmitter, branch: Operation) -> None:
        self._emitter = emitter
        self._branch = branch
        self._known: dict[SSAValue, SSAValue] = {}
        self._after: set[Operation] = set()
        op = branch.next_op
        while op is not None:
            self._after.add(op)
            op = op.next_op

    def value(self, value: SSAValue) -> SSAValue:
        """The same value; itself if it is there already. Raises NoMatchError for a result of the branch."""
        op = value.owner
        if op is self._branch:
            raise NoMatchError("where it is stored depends on it")
        if not isinstance(op, Operation) or op not in self._after:
            return value
        if (found := self._known.get(value)) is None:
            copy = type(op).create(
                operands=[self.value(operand) for operand in op.operands],
                result_types=[result.type for result in op.results],
                properties=dict(op.properties),
            )
            self._emitter.insert(copy)
            found = self._known[value] = copy.results[op.results.index(value)]  # pyright: ignore[reportArgumentType]
        return found
