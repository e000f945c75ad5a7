"""The pass `triton-to-ptr`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType, UnitAttr, UnrealizedConversionCastOp, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import arith, func, memref, tptr, tt
from tilewright.ir.builder import Cursor, OpBuilder
from tilewright.ir.lowerings import Lowerings
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.memory_builder import DEFAULT_ADDRESS_SPACE
from tilewright.lowering.tensor_builder import TensorBuilder, memref_of

TRANSPARENT_DIALECTS = ("cf", "linalg", "scf", "tensor")
"""Dialects whose ops pass elements on without looking at them: their pointers just change type, as `arith.select`'s."""


@register_pass
class TritonToPtrPass(Pass):
    """Scalar pointers become addresses of the `ptr` dialect: offsets count bytes, accesses go through memrefs of one
    element.

    ```mlir
    %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
    %v = tt.load %q, %mask : !tt.ptr<f32>
    // becomes, with %a the address of %p
    %size = tptr.type_offset f32 : i64
    %long = arith.extsi %n : i32 to i64
    %bytes = arith.muli %long, %size : i64
    %b = tptr.ptradd %a %bytes : <#tptr.default_memory_space>, i64 to <#tptr.default_memory_space>
    %v = scf.if %mask -> (f32) {
      %m = tptr.to_memref %b : <#tptr.default_memory_space> to memref<1xf32>
      %x = memref.load %m[%c0] : memref<1xf32>
      scf.yield %x : f32
    } else { scf.yield %zero : f32 }
    ```
    Like triton-shared's pass, it runs after `triton-arith-to-linalg{tensor-ptr-to-linalg}`, which turns ops on tensors
    of pointers into scalar ops. Loops, branches, and tensors then carry addresses; signatures, calls, and other ops
    keep `!tt.ptr`, with casts in between that `reconcile-ptr-casts` removes. None of our own pipelines uses this form.
    """

    name = "triton-to-ptr"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if isinstance(function, func.FuncOp | tt.FuncOp) and function.body.blocks.first is not None:
                _Conversion(function.body.blocks.first).run(function)


def address_type(kind: Attribute) -> Attribute | None:
    """The type of addresses that stands for a pointer type or a tensor of pointers; None for other types."""
    match kind:
        case tt.PointerType(pointee_type=pointee, address_space=space):
            is_block = isinstance(pointee, TensorType)
            return None if is_block or space.data != DEFAULT_ADDRESS_SPACE else tptr.DEFAULT_POINTER
        case TensorType(element_type=element) if isinstance(element, tt.PointerType):
            address = address_type(element)
            return None if address is None else TensorType(address, kind.get_shape(), kind.encoding)
        case _:
            return None


def _is_transparent(op: Operation) -> bool:
    return isinstance(op, arith.SelectOp) or op.dialect_name() in TRANSPARENT_DIALECTS


class _Conversion:
    """Of one function: first the types, with casts at what keeps `!tt.ptr`, then the ops of `tt`."""

    def __init__(self, entry: Block) -> None:
        self.b = TensorBuilder(entry)
        self._entry = entry
        self._addresses: dict[SSAValue, SSAValue] = {}
        self._sizes: dict[Attribute, SSAValue] = {}
        self._types: dict[Operation, tuple[Attribute, ...]] = {}
        """The operands' types before the conversion: what pointers point to."""

    def run(self, function: Operation) -> None:
        ops = ops_within(function)
        self._types = {op: tuple(op.operand_types) for op in ops}
        lowered = [op for op in ops if type(op) in LOWERINGS and all(map(_is_scalar, (*op.operands, *op.results)))]
        converted = {*lowered, *(op for op in ops if _is_transparent(op))}
        for op in ops:
            if op in converted:
                self._retype(op.results)
        for op in (function, *converted):
            for block in (block for region in op.regions for block in region.blocks if block is not self._entry):
                self._retype(block.args)
        for op in ops:
            for index, operand in enumerate(op.operands):
                op.operands[index] = self._as_address(operand) if op in converted else self._as_pointer(op, index)
        for op in lowered:
            with self.b.at(Cursor.before(op), op.location):
                results = LOWERINGS[type(op)](op, self)
            for result, value in zip(op.results, results, strict=True):
                result.replace_all_uses_with(value)
            op.detach()
            op.erase()

    def _retype(self, values: Sequence[SSAValue]) -> None:
        for value in list(values):
            address = address_type(value.type)
            if address is not None:
                Rewriter.replace_value_with_new_type(value, address)

    def _as_address(self, value: SSAValue) -> SSAValue:
        """The address of a pointer that keeps its type, cast once, after its definition."""
        kind = address_type(value.type)
        if kind is None:
            return value
        if value not in self._addresses:
            owner = value.owner
            b = OpBuilder.at_start(owner) if isinstance(owner, Block) else OpBuilder.after(owner)
            self._addresses[value] = _cast(b, value, kind)
        return self._addresses[value]

    def _as_pointer(self, op: Operation, index: int) -> SSAValue:
        """An operand with the type that it had, for an op that knows no addresses."""
        value, kind = op.operands[index], self._types[op][index]
        return value if value.type == kind else _cast(OpBuilder.before(op), value, kind)

    def pointee(self, op: Operation) -> Attribute:
        """The type in memory that an op's first pointer points to; pointers in memory are addresses."""
        kind = next(kind for kind in self._types[op] if isinstance(kind, tt.PointerType))
        return address_type(kind.pointee_type) or kind.pointee_type

    def size_of(self, kind: Attribute) -> SSAValue:
        """The bytes of an element: one op in the function."""
        if kind not in self._sizes:
            self._sizes[kind] = OpBuilder.at_start(self._entry).result(tptr.TypeOffsetOp(kind, i64))
        return self._sizes[kind]

    def memory_at(self, address: SSAValue, element: Attribute) -> SSAValue:
        """Memory of one element at an address."""
        return self.b.insert(tptr.ToMemrefOp(address, memref_of(element, 1))).res


LOWERINGS = Lowerings[[_Conversion], Sequence[SSAValue]]()
lowers = LOWERINGS.lowers


def _cast(b: OpBuilder, value: SSAValue, kind: Attribute) -> SSAValue:
    return b.result(UnrealizedConversionCastOp.create(operands=[value], result_types=[kind]))


def _is_scalar(value: SSAValue) -> bool:
    """Return whether a value is none of tensors, and no pointer that no address stands for."""
    is_pointer = isinstance(value.type, tt.PointerType)
    return not isinstance(value.type, TensorType) and (not is_pointer or address_type(value.type) is not None)


@lowers(tt.AddPtrOp)
def _add(op: tt.AddPtrOp, c: _Conversion) -> Sequence[SSAValue]:
    """Bytes are counted in 64 bits, as everywhere in Triton: 2^30 elements on are further than an i32 says."""
    offset = op.offset if op.offset.type == i64 else c.b.result(arith.ExtSIOp(op.offset, i64))
    return (c.b.emit(tptr.PtrAddOp, op.ptr, c.b.emit(arith.MuliOp, offset, c.size_of(c.pointee(op)))),)


@lowers(tt.BitcastOp)
def _bitcast(op: tt.BitcastOp, c: _Conversion) -> Sequence[SSAValue]:
    """Between pointers nothing; casts of numbers are `arith`'s."""
    if op.src.type == op.results[0].type:
        return (op.src,)
    return (c.b.result(arith.BitcastOp(op.src, op.results[0].type)),)


@lowers(tt.IntToPtrOp)
def _to_pointer(op: tt.IntToPtrOp, c: _Conversion) -> Sequence[SSAValue]:
    return (c.b.emit(tptr.IntToPtrOp, op.src),)


@lowers(tt.PtrToIntOp)
def _to_integer(op: tt.PtrToIntOp, c: _Conversion) -> Sequence[SSAValue]:
    return (c.b.insert(tptr.PtrToIntOp(op.src, op.results[0].type)).res,)


@lowers(tt.LoadOp)
def _load(op: tt.LoadOp, c: _Conversion) -> Sequence[SSAValue]:
    kind = op.result.type

    def load() -> Sequence[SSAValue]:
        read = c.b.insert(memref.LoadOp(c.memory_at(op.ptr, kind), [c.b.index(0)]))
        if op.is_volatile.value.data:
            read.attributes[memref.VOLATILE] = UnitAttr()
        return read.results

    if op.mask is None:
        return load()
    other = op.other if op.other is not None else _nothing(c, kind)
    return c.b.if_else(op.mask, [kind], load, lambda: (other,)).results


def _nothing(c: _Conversion, kind: Attribute) -> SSAValue:
    """Return what a masked load gives that does not say: zero."""
    return c.b.emit(tptr.IntToPtrOp, c.b.int(0, i64)) if kind == tptr.DEFAULT_POINTER else c.b.zero(kind)


@lowers(tt.StoreOp)
def _store(op: tt.StoreOp, c: _Conversion) -> Sequence[SSAValue]:
    def store() -> Sequence[SSAValue]:
        c.b.insert(memref.StoreOp(op.value, c.memory_at(op.ptr, op.value.type), [c.b.index(0)]))
        return ()

    if op.mask is None:
        return store()
    return c.b.if_else(op.mask, [], store).results
