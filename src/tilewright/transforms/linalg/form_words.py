"""The pass `linalg-form-words`."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp, TensorType, i8, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.analysis.combiners import combiner_of
from tilewright.dialects import arith, linalg, linalg_ext, tensor
from tilewright.dialects.arith.constant import find_constant_int
from tilewright.dialects.linalg_ext import WORD_BYTES
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.producers import (
    changes_unit_dims_only,
    is_copy,
    is_movable,
    substitute,
    through_collapse,
    through_expand,
)
from tilewright.transforms.linalg.structured import access_of, loop_extents, shape_or_scalar

Access = tuple[AffineExpr, ...]

_ALL_ONES = 0x01010101
"""Four bytes of 1: the sum of bytes is their product with it."""

_BYTE = 255
_LARGEST_SMALL = 127


@register_pass
class LinalgFormWordsPass(Pass):
    """Computes byte dot products by words of four bytes, which one instruction multiplies and sums.

    ```mlir
    %l = linalg.generic {andi %b, 15} ins(%x : tensor<8x32xi8>) -> tensor<8x32xi8>
    %a = linalg.generic {extui} ins(%l) -> tensor<8x32xi32>
    %b = linalg.generic {extsi} ins(%y : tensor<8x32xi8>) -> tensor<8x32xi32>
    %p = linalg.generic {muli} ins(%a, %b) -> tensor<8x32xi32>
    %s = linalg.generic {addi} ins(%p) outs(%zero : tensor<8xi32>)            // over the last dimension
    // becomes
    %v = linalg_ext.as_words %x : tensor<8x32xi8> -> tensor<8x8xi32>
    %w = linalg_ext.as_words %y : tensor<8x32xi8> -> tensor<8x8xi32>
    %l = linalg.generic {andi %v, 0x0f0f0f0f} -> tensor<8x8xi32>
    %s = linalg.generic {dot_bytes small_lhs, addi} ins(%l, %w) outs(%zero : tensor<8xi32>)
    ```
    Bitwise ops on bytes, and shifts by constants, work on words. A sum of four products is no longer a reduction. Plain
    sums of bytes are dot products with ones. The summed dimension must be the last one of both byte tensors.
    """

    name = "linalg-form-words"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        words: dict[SSAValue, SSAValue] = {}
        for op in find_ops(module, linalg.StructuredOp):
            if (found := find_byte_product(op)) is not None:
                replace_sum(found, words)


@dataclass(frozen=True, slots=True)
class Bytes:
    """A tensor of bytes, and which of its elements an iteration of the sum takes."""

    value: SSAValue
    access: Access
    is_unsigned: bool

    @property
    def is_small(self) -> bool:
        """Return whether all of them are from 0 to 127."""
        return self.is_unsigned and largest(self.value) <= _LARGEST_SMALL


@dataclass(frozen=True, slots=True)
class ByteProduct:
    """A sum of products of bytes over one dimension; with one factor, a sum of bytes."""

    sum: linalg.StructuredOp
    dim: int
    factors: tuple[Bytes, ...]


def find_byte_product(op: linalg.StructuredOp) -> ByteProduct | None:
    """The sum of products of bytes that a reduction is."""
    reduced = [dim for dim, kind in enumerate(op.iterators) if kind == "reduction"]
    if len(reduced) != 1 or len(op.inputs) != 1 or len(op.results) != 1 or element_type(op.results[0].type) != i32:
        return None
    combiner = combiner_of(op.body.block, 0)
    total = op.body.block.first_op
    if combiner is None or not isinstance(total, arith.AddiOp) or op.body.block.args[0] not in total.operands:
        return None
    (dim,) = reduced
    if loop_extents(op)[dim] % WORD_BYTES or loop_extents(op)[dim] < WORD_BYTES:
        return None
    value, access = origin(op.inputs[0], access_of(op.maps[0]))
    product = _single_op(value, arith.MuliOp)
    if product is None:
        parts = [(value, access)]
    else:
        generic, inner = product
        arguments = list[SSAValue](generic.body.block.args)
        indices = [arguments.index(operand) for operand in inner.operands if operand in arguments]
        if len(indices) != len(inner.operands):
            return None
        parts = [(generic.inputs[index], _through(generic, index, access)) for index in indices]
    factors = [_find_bytes(part, at, dim) for part, at in parts]
    if any(factor is None for factor in factors):
        return None
    return ByteProduct(op, dim, tuple(factor for factor in factors if factor is not None))


def _find_bytes(value: SSAValue, access: Access, dim: int) -> Bytes | None:
    """The tensor of bytes that a value is widened from, if the summed dimension is its last one and no other."""
    value, access = origin(value, access)
    widened = _single_op(value, arith.ExtUIOp) or _single_op(value, arith.ExtSIOp)
    if widened is None:
        return None
    generic, inner = widened
    if inner.operands[0] is not generic.body.block.args[0] or element_type(generic.inputs[0].type) != i8:
        return None
    value, access = origin(generic.inputs[0], _through(generic, 0, access))
    uses = [expr.used_dims() for expr in access]
    if not access or access[-1] != AffineDimExpr(dim) or any(dim in used for used in uses[:-1]):
        return None
    return Bytes(value, access, isinstance(inner, arith.ExtUIOp))


def _single_op(value: SSAValue, cls: type[Operation]) -> tuple[linalg.StructuredOp, Operation] | None:
    """The elementwise generic that makes a value by one op of a class."""
    generic = value.owner
    if not isinstance(generic, linalg.StructuredOp) or not is_movable(generic):
        return None
    body = generic.body.block
    first, end = body.first_op, body.last_op
    if not isinstance(first, cls) or end is None or first.next_op is not end or end.operands[0] is not first.results[0]:
        return None
    return generic, first


def _through(generic: linalg.StructuredOp, index: int, access: Access) -> Access:
    """The access of an operand of a generic, from that of its result."""
    loops: list[AffineExpr] = [AffineConstantExpr(0)] * len(generic.iterators)
    for expr, outer in zip(generic.maps[-1].results, access, strict=True):
        assert isinstance(expr, AffineDimExpr)
        loops[expr.position] = outer
    return tuple(substitute(expr, loops) for expr in generic.maps[index].results)


def origin(value: SSAValue, access: Access) -> tuple[SSAValue, Access]:
    """Return where the elements of a value come from: through copies, transposes and unit dimensions."""
    while True:
        op, inner = value.owner, None
        match op:
            case tensor.ExpandShapeOp() if changes_unit_dims_only(op):
                inner = through_expand(op, access)
            case tensor.CollapseShapeOp() if changes_unit_dims_only(op):
                inner = through_collapse(op, access)
            case linalg.StructuredOp() if is_copy(op):
                inner = _through(op, 0, access)
            case _:
                pass
        if inner is None:
            return value, access
        assert isinstance(op, Operation)
        value, access = op.operands[0], inner


# ------------------------------------------------------------------------------------------------ bytes by words


def largest(value: SSAValue) -> int:
    """Return an upper bound of an unsigned byte, from a mask or a shift."""
    if (found := _splat_byte(value)) is not None:
        return found
    made = _bitwise(value)
    if made is None:
        return _BYTE
    _, inner, operands = made
    bounds = [largest(operand) for operand in operands]
    match inner:
        case arith.AndIOp():
            return min(bounds)
        case arith.OrIOp() | arith.XOrIOp():
            return (1 << max(bounds).bit_length()) - 1
        case arith.ShRUIOp():
            return bounds[0] >> bounds[1]
        case _:
            return _BYTE


def _splat_byte(value: SSAValue) -> int | None:
    """The byte of a splat."""
    owner = value.owner
    scalar = owner.inputs[0] if isinstance(owner, linalg.FillOp) else value
    number = find_constant_int(scalar)
    return None if number is None else number & _BYTE


def _bitwise(value: SSAValue) -> tuple[linalg.StructuredOp, Operation, list[SSAValue]] | None:
    """The op that makes each byte of a value from bytes at the same index, and the tensors of these, if words do."""
    for cls in (*_BITWISE, *_SHIFTS):
        if (found := _single_op(value, cls)) is None:
            continue
        generic, inner = found
        arguments, output = list[SSAValue](generic.body.block.args), generic.maps[-1]
        indices = [arguments.index(operand) for operand in inner.operands if operand in arguments]
        if len(indices) != len(inner.operands) or any(generic.maps[index] != output for index in indices):
            return None
        operands = [generic.operands[index] for index in indices]
        if cls in _SHIFTS and _splat_byte(operands[1]) not in range(8):
            return None
        return generic, inner, operands
    return None


_BITWISE = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)
_SHIFTS = (arith.ShLIOp, arith.ShRUIOp)


def _splat_word(byte: int) -> int:
    """A word of four equal bytes, as a signed integer."""
    word = byte * _ALL_ONES
    return word - (1 << 32) if word >> 31 else word


def words_of(value: SSAValue, known: dict[SSAValue, SSAValue]) -> SSAValue:
    """The words of a tensor of bytes: of what it is made from by bitwise ops, if it is."""
    if (found := known.get(value)) is not None:
        return found
    made = _bitwise(value)
    builder = OpBuilder.after(value.owner)
    if made is None:
        return known.setdefault(value, builder.result(linalg_ext.AsWordsOp(value)))
    return known.setdefault(value, _bitwise_words(made, builder, known))


def _bitwise_words(
    made: tuple[linalg.StructuredOp, Operation, list[SSAValue]], builder: OpBuilder, known: dict[SSAValue, SSAValue]
) -> SSAValue:
    """One bitwise op on words. A shift moves bits into neighbouring bytes, where a mask clears them."""
    generic, inner, operands = made
    splats = [_splat_byte(operand) for operand in operands]
    inputs = [words_of(value, known) for value, splat in zip(operands, splats, strict=True) if splat is None]

    def emit(body: OpBuilder, arguments: list[SSAValue]) -> SSAValue:
        left = iter(arguments)
        values = [next(left) if splat is None else _constant(body, _splat_word(splat)) for splat in splats]
        bits = splats[1]
        if isinstance(inner, _SHIFTS) and bits is not None:
            mask = _BYTE >> bits if isinstance(inner, arith.ShRUIOp) else (_BYTE << bits) & _BYTE
            shifted = body.result(type(inner)(values[0], _constant(body, bits)))
            return body.result(arith.AndIOp(shifted, _constant(body, _splat_word(mask))))
        assert isinstance(inner, _BITWISE)
        return body.result(type(inner)(values[0], values[1]))

    shape = shape_or_scalar(generic.results[0].type)
    type_ = TensorType(i32, [*shape[:-1], shape[-1] // WORD_BYTES])
    output = builder.result(tensor.EmptyOp((), type_))
    maps = [generic.maps[-1]] * (len(inputs) + 1)
    iterators = [linalg.IteratorType.PARALLEL] * len(generic.iterators)
    return _generic(builder, inputs, output, maps, iterators, emit, generic)


def _constant(builder: OpBuilder, value: int) -> SSAValue:
    return builder.result(arith.constant_int(value, i32))


# --------------------------------------------------------------------------------------------- the sum over words


def replace_sum(found: ByteProduct, known: dict[SSAValue, SSAValue]) -> None:
    """Replace the sum by one over words."""
    op, dim, builder = found.sum, found.dim, OpBuilder.before(found.sum)
    factors = sorted(found.factors, key=lambda factor: not factor.is_small)
    inputs = [words_of(factor.value, known) for factor in factors]
    extents = list(loop_extents(op))
    is_whole = extents[dim] == WORD_BYTES
    loops: list[AffineExpr] = [AffineDimExpr(index) for index in range(len(extents))]
    if is_whole:
        loops = [*loops[:dim], AffineConstantExpr(0), *loops[dim : len(extents) - 1]]
    rank = len(extents) - is_whole
    accesses = [*(factor.access for factor in factors), access_of(op.maps[-1])]
    maps = [AffineMap(rank, 0, tuple(substitute(expr, loops) for expr in access)) for access in accesses]
    iterators = [kind for index, kind in enumerate(op.iterators) if index != dim or not is_whole]
    starts_at_zero = is_whole and _splat_is_zero(op.outputs[0])

    def emit(body: OpBuilder, arguments: list[SSAValue]) -> SSAValue:
        rhs = arguments[1] if len(factors) == 2 else _constant(body, _ALL_ONES)
        unsigned = [factor.is_unsigned for factor in factors]
        small = factors[0].is_small
        dot = linalg_ext.DotBytesOp(
            arguments[0],
            rhs,
            unsigned_lhs=unsigned[0],
            unsigned_rhs=len(unsigned) == 2 and unsigned[1],
            small_lhs=small,
        )
        total = body.result(dot)
        return total if starts_at_zero else body.result(arith.AddiOp(total, body.block.args[len(inputs)]))

    output = op.outputs[0]
    if starts_at_zero:
        assert is_tensor(output.type)
        output = builder.result(tensor.EmptyOp((), output.type))
    new = _generic(builder, inputs, output, maps, iterators, emit, op)
    op.results[0].replace_all_uses_with(new)
    op.detach()
    op.erase()


def _splat_is_zero(value: SSAValue) -> bool:
    owner = value.owner
    return find_constant_int(owner.inputs[0] if isinstance(owner, linalg.FillOp) else value) == 0


def _generic(
    builder: OpBuilder,
    inputs: list[SSAValue],
    output: SSAValue,
    maps: list[AffineMap],
    iterators: list[linalg.IteratorType],
    emit: Callable[[OpBuilder, list[SSAValue]], SSAValue],
    source: Operation,
) -> SSAValue:
    """A generic over words whose body `emit` writes; it stands for `source`."""
    block = Block(arg_types=[i32] * (len(inputs) + 1))
    body = OpBuilder.at_end(block, source.location)
    body.insert(linalg.YieldOp(emit(body, list(block.args[: len(inputs)]))))
    generic = linalg.GenericOp(inputs, [output], Region(block), maps, iterators, [output.type])
    generic.location = source.location
    return builder.result(generic)
