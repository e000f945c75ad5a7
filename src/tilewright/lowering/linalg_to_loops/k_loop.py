"""Interchange of the loop over k with the loops over blocks of C: the accumulators stay in registers for all of k.

    scf.for %i = 0 to %trips iter_args(%acc, %pa, %pb) {
      %a = window(%pa, strides [%sam, %sak]), padded with 0 past %K - %i * 64
      %b = window(%pb, strides [%sbk, 1]), padded with 0 past %K - %i * 64
      %next = linalg.matmul ins(%a, %b) outs(%acc)
      yield %next, %pa + %da, %pb + %db
    }
      ->
    if (%da == 64 * %sak and %db == 64 * %sbk) {
      one product with clamp(%K, 0, %trips * 64) terms, operands in place
    } else { the loop as it is }

That the windows of successive iterations adjoin is tested when the program runs, so nothing has to be proved about how
the addresses are spelled; only their form, linear in the loop, is matched here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType, i1
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import arith, bufferization, linalg, linalg_ext, memref, scf, tensor
from tilewright.dialects.types import bit_width, element_type, is_memref, is_unranked_memref
from tilewright.lowering.linalg_to_loops.cached_panels import is_shared, multiply_by_cached, plan_cached_panels
from tilewright.lowering.linalg_to_loops.direct_store import DirectStore, plan_direct_store
from tilewright.lowering.linalg_to_loops.dot import emit_calls, starts_from_zero
from tilewright.lowering.linalg_to_loops.dot_operands import Panel, in_place
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.first_iteration import FirstIteration, NoMatchError, to_index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, tensor_shape
from tilewright.lowering.linalg_to_loops.provable import constant_of, find_cut, is_same, known
from tilewright.lowering.linalg_to_loops.sources import Source, Window, permute
from tilewright.lowering.linalg_to_loops.unit_stride_guard import holds_for_first, says_which_lanes_follow
from tilewright.lowering.microkernel_attributes import find_routine
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.structured import shape_or_scalar


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand of the product: the view that is read in place, under conditions, how far it reaches."""

    view: SSAValue
    choices: tuple[scf.IfOp, ...]
    k_high: Index
    outer_high: Index
    """How many of the rows of A, or the columns of B, are not padding."""
    outer_dim: int
    """The dimension of the view that is that of the rows of A, or the columns of B."""
    is_turned: bool
    """Whether the operand is the transpose of the view."""


@dataclass(frozen=True, slots=True)
class FastPath:
    """What the interchanged form needs, emitted before the loop."""

    condition: SSAValue
    kernel: MatmulKernel
    a: Panel
    b: Panel
    b_root: SSAValue
    """The pointer that B is read from."""
    counts: tuple[Index, Index]
    """Rows and columns of C that are wanted."""
    depth: Index
    factors: tuple[Window, Window]
    """The memory of the first terms."""
    result: SSAValue
    is_shared: SSAValue | bool
    """Whether other programs may multiply by the same B."""


def plan_k_loop(lowering: FunctionLowering, loop: scf.ForOp) -> FastPath | None:
    """Match a loop and emit what the interchanged form needs before it; None where it is of another form."""
    product = find_product(loop)
    if product is None:
        return None
    kernel = find_routine(product)
    if not isinstance(kernel, MatmulKernel):
        return None
    try:
        return _match(lowering, loop, product, kernel)
    except NoMatchError:
        return None


def find_product(loop: scf.ForOp) -> linalg.MatmulOp | None:
    """The product that is all that a loop does to its only carried tile."""
    body = loop.body.block
    yield_op = body.last_op
    assert yield_op is not None
    products = [op for op in body.ops if isinstance(op, linalg.MatmulOp)]
    if len(products) != 1 or not products[0].results:
        return None
    product = products[0]
    for position, (argument, after) in enumerate(zip(body.args[1:], yield_op.operands, strict=True)):
        if after is product.results[0]:
            if product.outputs[0] is not argument or argument.uses.get_length() != 1:
                return None
            if product.results[0].uses.get_length() != 1:
                return None
        elif loop.results[position].uses.get_length() or isinstance(argument.type, MemRefType | UnrankedMemRefType):
            return None
    for op in body.ops:
        if isinstance(op, linalg_ext.ExchangeNetworkOp):
            return None
        if (
            isinstance(op, linalg.StructuredOp)
            and not isinstance(op, linalg.TransposeOp | linalg.MatmulOp)
            and op.inputs
        ):
            return None
        if not isinstance(op, scf.IfOp) and may_write(op):
            return None
        if isinstance(op, scf.IfOp) and not _is_choice(op):
            return None
    return product


def _is_choice(op: scf.IfOp) -> bool:
    """A branch that yields a view, in place or of a copy: whatever it writes is its own buffer."""
    return len(op.results) == 1 and is_memref(op.results[0].type)


def _match(lowering: FunctionLowering, loop: scf.ForOp, product: linalg.MatmulOp, kernel: MatmulKernel) -> FastPath:
    emitter = lowering.emitter
    first = FirstIteration(emitter, loop)
    lhs, rhs = product.inputs
    rows, depth = tensor_shape(lhs)
    columns = tensor_shape(rhs)[1]
    a, b = _operand(lhs, k_dim=1), _operand(rhs, k_dim=0)
    a_window, b_window = _window(lowering, first, a), _window(lowering, first, b)
    if constant_of(b_window.strides[1]) != 1:
        if constant_of(b_window.strides[0]) != 1:
            raise NoMatchError
        kernel = replace(kernel, transposed_b=True)
    a_change, b_change = _view_change(first, a.view), _view_change(first, b.view)
    condition: SSAValue | bool = emitter.compare("eq", a_change, emitter.mul(a_window.strides[1], depth))
    condition = emitter.both(condition, emitter.compare("eq", b_change, emitter.mul(b_window.strides[0], depth)))
    if not is_same(a.k_high, b.k_high):
        raise NoMatchError
    total = _total_depth(emitter, first, a.k_high, depth)
    result = loop.results[_carried(loop, product)]
    wanted = lowering.demand.of(result)
    counts: list[Index] = []
    for operand, window, bound, limit in (
        (a, a_window.strides[0], wanted[0], kernel.rows), (b, b_window.strides[1], wanted[1], kernel.columns)
    ):  # fmt: skip
        extent = rows if operand is a else columns
        count, holds = _outer_count(lowering, first, operand, (extent, window), bound if extent <= limit else extent)
        condition = emitter.both(condition, holds)
        counts.append(count)
    if condition is False:
        raise NoMatchError
    if condition is True:
        condition = emitter.cmpi("eq", emitter.constant(0, INDEX), emitter.constant(0, INDEX))
    panels = in_place(emitter, a_window), in_place(emitter, b_window)
    b_root = b_window.root if b_window.is_all_of_root() else b_window.flat
    shared = is_shared(lowering, loop, b_window, wanted[1], columns)
    sizes, factors = (counts[0], counts[1]), (a_window, b_window)
    return FastPath(condition, kernel, *panels, b_root, sizes, total, factors, result, shared)


def _outer_count(
    lowering: FunctionLowering, first: FirstIteration, operand: _Operand, outer: tuple[int, Index], bound: Index
) -> tuple[Index, SSAValue | bool]:
    """Return how many of the rows of A, or the columns of B, are multiplied: all of them or, where others are padding
    or lie elsewhere, the `bound` that anybody reads; and what that takes. `outer`: their extent, and their stride.
    """
    emitter, (extent, stride), high = lowering.emitter, outer, operand.outer_high
    if not all(first.is_loop_invariant(choice.cond) for choice in operand.choices):
        raise NoMatchError
    is_padded = not (isinstance(high, int) and high >= extent)
    if (
        operand.choices and not is_padded and isinstance(bound, SSAValue)
        and all(says_which_lanes_follow(choice, operand.outer_dim) for choice in operand.choices)
        and lowering.demand.make_available(bound, first.loop)
    ):  # fmt: skip
        tests = [holds_for_first(first, choice.cond, extent, stride, bound) for choice in operand.choices]
        return bound, reduce(emitter.both, tests)
    holds: SSAValue | bool = True
    for choice in operand.choices:
        value = first.first(choice.cond)
        assert isinstance(value, SSAValue)
        holds = emitter.both(holds, value)
    if not is_padded:
        return extent, holds
    if not first.is_loop_invariant(high):
        raise NoMatchError
    start = first.first(high)
    if is_same(high, bound):
        # Nobody reads the rows of C that the padding makes.
        return start, holds
    return extent, emitter.both(holds, emitter.compare("sge", start, extent))


def _carried(loop: scf.ForOp, product: linalg.MatmulOp) -> int:
    """Return which of the carried values is the product's."""
    yield_op = loop.body.block.last_op
    assert yield_op is not None
    return next(number for number, value in enumerate(yield_op.operands) if value is product.results[0])


def _operand(value: SSAValue, k_dim: int) -> _Operand:
    """A tensor as a view padded with zeros."""
    if value.uses.get_length() != 1 or not isinstance(value.owner, Operation):
        raise NoMatchError
    shape = tensor_shape(value)
    op = value.owner
    if isinstance(op, linalg.TransposeOp):
        inner = _operand(op.inputs[0], 1 - k_dim)
        return replace(inner, is_turned=not inner.is_turned)
    highs: list[Index] = list(shape)
    if isinstance(op, tensor.PadOp):
        highs = _pad_bounds(op, shape)
        source = op.source.owner
        if op.source.uses.get_length() != 1 or not isinstance(source, Operation):
            raise NoMatchError
        op = source
    if not isinstance(op, bufferization.ToTensorOp):
        raise NoMatchError
    view, choices = op.memref, list[scf.IfOp]()
    while isinstance(view.owner, scf.IfOp):
        branch = view.owner
        choices.append(branch)
        end = branch.true_region.block.last_op
        assert end is not None
        view = end.operands[0]
    return _Operand(view, tuple(choices), highs[k_dim], highs[1 - k_dim], 1 - k_dim, is_turned=False)


def _pad_bounds(op: tensor.PadOp, shape: tuple[int, ...]) -> list[Index]:
    """Return where the padding of each dimension starts."""
    end = op.region.block.last_op
    assert end is not None
    fill = end.operands[0].owner
    number = getattr(getattr(fill, "value", None), "value", None)
    if number is None or number.data != 0 or any(entry != 0 for entry in op.mixed_low):
        raise NoMatchError
    bounds: list[Index] = []
    for extent, padding in zip(shape, op.mixed_high, strict=True):
        if isinstance(padding, int):
            bounds.append(extent - padding)
            continue
        subtraction = padding.owner
        if not isinstance(subtraction, arith.SubiOp) or known(subtraction.lhs) != extent:
            raise NoMatchError
        bounds.append(subtraction.rhs)
    return bounds


def _total_depth(emitter: LoopEmitter, first: FirstIteration, k_high: Index, depth: int) -> Index:
    """Return how many terms all iterations together have."""
    loop = first.loop
    trips = _trip_count(emitter, loop)
    most = emitter.mul(trips, depth)
    if k_high == depth:
        return most
    start, change = _remaining(emitter, first, k_high, depth)
    if change != -depth:
        raise NoMatchError
    return emitter.max(emitter.min(start, most), 0)


def _remaining(emitter: LoopEmitter, first: FirstIteration, k_high: Index, depth: int) -> tuple[Index, Index]:
    """Return how many terms are left in the first iteration, by how much that changes in each.

    `k_high` is one of `max(min(left, depth), 0)` and `max(min(k + depth, total), k) - k`.
    """
    op = k_high.owner if isinstance(k_high, SSAValue) else None
    if isinstance(op, arith.MaxSIOp) and known(op.rhs) == 0:
        inner = op.lhs.owner
        if isinstance(inner, arith.MinSIOp) and known(inner.rhs) == depth:
            return to_index(emitter, first.first(inner.lhs)), first.change(inner.lhs)
    elif (cut := find_cut(k_high, depth)) is not None:
        start = emitter.sub(to_index(emitter, first.first(cut.end)), to_index(emitter, first.first(cut.first)))
        return start, emitter.sub(first.change(cut.end), first.change(cut.first))
    raise NoMatchError


def _trip_count(emitter: LoopEmitter, loop: scf.ForOp) -> Index:
    """max(0, ceil((upper - lower) / step)) for a constant positive step."""
    step = constant_of(loop.step)
    if step is None or step <= 0:
        raise NoMatchError
    lower, upper = (to_index(emitter, value) for value in (loop.lb, loop.ub))
    span = emitter.max(emitter.sub(upper, lower), 0)
    if step == 1:
        return span
    if isinstance(span, int):
        return -(-span // step)
    return emitter.value(arith.CeilDivSIOp, (span, emitter.ssa(step)), INDEX)


def _cast_of(view: SSAValue) -> memref.ReinterpretCastOp:
    """The pointer view below slices that start at its first element."""
    op = view.owner
    while True:
        match op:
            case memref.CastOp():
                op = op.source.owner
            case memref.SubviewOp() if all(entry == 0 for entry in op.mixed_offsets) and all(
                entry == 1 for entry in op.mixed_strides
            ):
                if len(op.mixed_sizes) != op.result.type.get_num_dims():
                    raise NoMatchError
                op = op.source.owner
            case memref.ReinterpretCastOp():
                return op
            case _:
                raise NoMatchError


def _window(lowering: FunctionLowering, first: FirstIteration, operand: _Operand) -> Window:
    """The window of the operand in the first iteration."""
    op = _cast_of(operand.view)
    source = op.source
    if not is_unranked_memref(source.type) or not first.is_invariant(source):
        raise NoMatchError
    strides = op.mixed_strides
    if len(strides) != 2 or not all(first.is_loop_invariant(stride) for stride in strides):
        raise NoMatchError
    element = element_type(source.type)
    if bit_width(element) % 8:
        raise NoMatchError
    offset = first.first(op.mixed_offsets[0])
    moved = tuple(first.first(stride) for stride in strides)
    shape = tuple(shape_or_scalar(op.result.type))  # pyright: ignore[reportAttributeAccessIssue]
    window = Window(lowering.memory.flat(source), offset, moved, shape, element, source)
    turned = permute(window, (1, 0)) if operand.is_turned else window
    assert isinstance(turned, Window)
    return turned


def _view_change(first: FirstIteration, view: SSAValue) -> Index:
    return first.change(_cast_of(view).mixed_offsets[0])


def emit_fast_path(lowering: FunctionLowering, loop: scf.ForOp, path: FastPath, target: Window, init: Source) -> None:
    """A branch before the loop: the interchanged product, or the loop, which moves into the other side.

    `init` is what the sum starts from.
    """
    emitter = lowering.emitter
    from_zero = starts_from_zero(init)
    direct = _find_direct_store(lowering, loop, path, target) if from_zero else None
    if not from_zero:
        lowering.copy(init, target)
    branch, then_block, else_block = emitter.open_if(path.condition, [] if direct is None else [i1])
    with emitter.at(then_block):
        is_stored = _multiply(lowering, path, target, init if from_zero else None, direct)
        emitter.yield_([] if direct is None else [emitter.truth(is_stored)])
    with emitter.at(else_block):
        if from_zero:
            lowering.copy(init, target)
    loop.detach()
    else_block.add_op(loop)
    with emitter.at(else_block):
        emitter.yield_([] if direct is None else [emitter.truth(False)])
    if direct is not None:
        lowering.decided.stored_directly[direct.store] = branch.results[0]


def _find_direct_store(
    lowering: FunctionLowering, loop: scf.ForOp, path: FastPath, target: Window
) -> DirectStore | None:
    """Return where the micro-kernel may write the result, if it can: it takes packed operands then."""
    plan = plan_cached_panels(lowering, path.kernel, path.b_root, target.shape)
    if plan is None or not plan.outputs:
        return None
    direct = plan_direct_store(lowering, loop, path.result, path.counts, path.factors)
    return direct if direct is not None and str(direct.target.element) in plan.outputs else None


def _multiply(
    lowering: FunctionLowering, path: FastPath, target: Window, zeros: Source | None, direct: DirectStore | None
) -> SSAValue | bool:
    """The product, by packed operands that are kept where that is possible; `zeros` are not in the target yet.

    Whether the result is where it is stored in the end, and not in the target.
    """
    emitter = lowering.emitter
    c = in_place(emitter, target)

    def multiply(kernel: MatmulKernel, b: Panel, output: Panel | None = None) -> None:
        emit_calls(emitter, kernel, (path.a, b, c), (1, *target.shape), path.depth, path.counts, output)

    def multiply_once() -> None:
        # By the kernel of the loop on the other side, which is there anyhow.
        if zeros is not None:
            lowering.copy(zeros, target)
        multiply(path.kernel, path.b)

    def multiply_by_panels(kernel: MatmulKernel, b: Panel) -> SSAValue | bool:
        if direct is None:
            multiply(kernel, b)
            return False
        element = str(direct.target.element)
        to_output = replace(kernel, output=element)
        if element == kernel.accumulator:
            multiply(to_output, b, _either(emitter, direct, c))
        else:
            stored = in_place(emitter, direct.target)
            emitter.choose(direct.condition, lambda: multiply(to_output, b, stored), lambda: multiply(kernel, b))
        return direct.condition

    from_zero = replace(path.kernel, from_zero=zeros is not None)
    plan = plan_cached_panels(lowering, from_zero, path.b_root, target.shape)
    if plan is None:
        if path.kernel.for_few_rows:
            multiply_once()
        else:
            multiply(from_zero, path.b)
        return False
    counts = path.depth, path.counts[1]
    return multiply_by_cached(
        lowering, from_zero, plan, path.b, counts, path.is_shared, multiply_by_panels, multiply_once
    )


def _either(emitter: LoopEmitter, direct: DirectStore, buffer: Panel) -> Panel:
    """The result where it is stored in the end, or in the buffer."""
    stored = in_place(emitter, direct.target)
    address = emitter.select_index(direct.condition, stored.address, buffer.address)
    row_stride = emitter.select_index(direct.condition, stored.strides[0], buffer.strides[0])
    return Panel(emitter.ssa(address), (row_stride, 1), buffer.element_bytes)


_I1 = arith.constant_bool(True).result.type
