"""A small machine that runs one program of a `tt` or `tts` function on NumPy, straight from the definitions of the ops.

All pointers are byte addresses into one memory, in which each array argument has its place with guard zones around
it. An access outside of all arrays raises, so a test notices when a dead lane is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from suite.arrays import Array
from tilewright.dialects import arith, cf, scf, tt, tts
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import element_type

GUARD = 1 << 16


class OutOfBounds(Exception):
    """An access to memory that belongs to no argument."""


def dtype_of(type: Attribute) -> Any:
    element = element_type(type)
    if isinstance(element, IntegerType):
        return np.dtype("bool" if element.width.data == 1 else f"int{element.width.data}")
    if isinstance(element, IndexType | tt.PointerType):
        return np.dtype("int64")
    return np.dtype({"f16": "f2", "f32": "f4", "f64": "f8"}[str(element)])


class Memory:
    """Arrays at addresses of their own."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays: list[tuple[int, Array]] = []
        address = GUARD
        for array in arrays:
            self.arrays.append((address, array.reshape(-1).view(np.uint8)))
            address += (array.nbytes + GUARD + 63) // 64 * 64

    def _find(self, address: int, size: int) -> tuple[Array, int]:
        for start, data in self.arrays:
            if start <= address and address + size <= start + len(data):
                return data, address - start
        raise OutOfBounds(f"{size} bytes at {address}")

    def read(self, address: int, dtype: Any) -> Any:
        size = np.dtype(dtype).itemsize
        data, offset = self._find(int(address), size)
        return data[offset : offset + size].view(dtype)[0]

    def write(self, address: int, value: Any, dtype: Any) -> None:
        size = np.dtype(dtype).itemsize
        data, offset = self._find(int(address), size)
        data[offset : offset + size].view(dtype)[0] = value


class BlockPointer:
    """The value of a `tt.make_tensor_ptr`."""

    def __init__(self, base: int, extents: Any, strides: Any, offsets: Any, shape: Any, size: int) -> None:
        self.base, self.extents, self.strides, self.offsets = base, extents, strides, offsets
        self.shape, self.size = shape, size

    def lanes(self, checked: Sequence[int]) -> tuple[Array, Array]:
        grid = np.indices(self.shape)
        address = np.full(self.shape, self.base, np.int64)
        live = np.ones(self.shape, bool)
        for d, index in enumerate(grid):
            place = index + self.offsets[d]
            address = address + place * self.strides[d] * self.size
            if d in checked:
                live &= (place >= 0) & (place < self.extents[d])
        return address, live


class Machine:
    """Runs `function` on arguments: arrays are memory, everything else is a scalar."""

    def __init__(self, arrays: Sequence[Array], program: Sequence[int] = (0, 0, 0)) -> None:
        self.memory = Memory(arrays)
        self.program = program
        self.values: dict[SSAValue, Any] = {}

    def run(self, function: tt.FuncOp, scalars: Sequence[int]) -> None:
        addresses = iter(start for start, _ in self.memory.arrays)
        numbers = iter(scalars)
        block = function.body.blocks[0]
        for argument in block.args:
            is_pointer = isinstance(argument.type, tt.PointerType)
            value = next(addresses) if is_pointer else next(numbers)
            self.values[argument] = dtype_of(argument.type).type(value) if not is_pointer else np.int64(value)
        while True:
            last = self.run_block(block)
            if isinstance(last, tt.ReturnOp):
                return
            block = self.branch(last)

    def branch(self, op: Operation) -> Block:
        if isinstance(op, cf.BranchOp):
            target, passed = op.successor, op.arguments
        else:
            assert isinstance(op, cf.ConditionalBranchOp)
            taken = bool(self.values[op.cond])
            target = op.then_block if taken else op.else_block
            passed = op.then_arguments if taken else op.else_arguments
        for argument, value in zip(target.args, [self.values[v] for v in passed], strict=True):
            self.values[argument] = value
        return target

    def run_block(self, block: Block) -> Operation:
        """Runs the ops of a block; gives its terminator."""
        *ops, last = block.ops
        for op in ops:
            results = self.step(op)
            for result, value in zip(op.results, results, strict=True):
                self.values[result] = value
        return last

    def operands(self, op: Operation) -> list[Any]:
        return [self.values[operand] for operand in op.operands]

    def step(self, op: Operation) -> Sequence[Any]:
        match op:
            case scf.ForOp():
                return self.run_for(op)
            case scf.IfOp():
                region = op.regions[0 if self.values[op.operands[0]] else 1]
                return self.operands(self.run_block(region.block)) if region.blocks else []
            case scf.WhileOp():
                return self.run_while(op)
            case _:
                handler = OPS.get(type(op))
                if handler is None:
                    raise NotImplementedError(op.name)
                with np.errstate(over="ignore"):
                    result = handler(self, op, *self.operands(op))
                return [] if not op.results else [result]

    def bind(self, block: Block, values: Sequence[Any]) -> None:
        for argument, value in zip(block.args, values, strict=True):
            self.values[argument] = value

    def run_for(self, op: scf.ForOp) -> Sequence[Any]:
        low, high, step, *carried = self.operands(op)
        block = op.regions[0].block
        for counter in range(int(low), int(high), int(step)):
            self.bind(block, [dtype_of(block.args[0].type).type(counter), *carried])
            carried = self.operands(self.run_block(block))
        return carried

    def run_while(self, op: scf.WhileOp) -> Sequence[Any]:
        carried = self.operands(op)
        while True:
            self.bind(op.regions[0].block, carried)
            goes_on, *passed = self.operands(self.run_block(op.regions[0].block))
            if not goes_on:
                return passed
            self.bind(op.regions[1].block, passed)
            carried = self.operands(self.run_block(op.regions[1].block))

    # Memory

    def load(self, addresses: Any, live: Any, other: Any, type: Attribute) -> Any:
        dtype = dtype_of(type)
        addresses, live = np.broadcast_arrays(np.asarray(addresses), np.asarray(live))
        result = np.array(np.broadcast_to(np.asarray(other, dtype), addresses.shape))
        for lane in np.ndindex(addresses.shape):
            if live[lane]:
                result[lane] = self.memory.read(addresses[lane], dtype)
        return result if addresses.shape else result[()]

    def store(self, addresses: Any, live: Any, value: Any, type: Attribute) -> None:
        addresses, live = np.broadcast_arrays(np.asarray(addresses), np.asarray(live))
        value = np.broadcast_to(np.asarray(value), addresses.shape)
        for lane in np.ndindex(addresses.shape):
            if live[lane]:
                self.memory.write(addresses[lane], value[lane], dtype_of(type))


def size_of(type: Attribute) -> int:
    pointer = element_type(type)
    assert isinstance(pointer, tt.PointerType)
    pointee = pointer.pointee_type
    return np.dtype(dtype_of(element_type(pointee))).itemsize


def _constant(m: Machine, op: Any) -> Any:
    type, value = op.results[0].type, op.properties["value"]
    match value:
        case IntegerAttr() | FloatAttr():
            return dtype_of(type).type(value.value.data)
        case DenseIntOrFPElementsAttr():
            data = np.array(value.get_values()).astype(dtype_of(type))
            return np.array(
                np.broadcast_to(data.reshape(type.get_shape()) if data.size > 1 else data, type.get_shape())
            )
        case _:
            raise NotImplementedError(str(value))


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda m, op, a, b: np.asarray(function(a, b)).astype(dtype_of(op.results[0].type))[()]


def _truncated(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    quotient = np.abs(a) // np.maximum(np.abs(b), 1) * np.sign(a) * np.sign(b)
    return quotient, a - quotient * b


def _unsigned(value: Any) -> Any:
    value = np.asarray(value)
    return value.view(np.dtype(f"uint{value.dtype.itemsize * 8}")).astype(object)


def _compare(m: Machine, op: Any, a: Any, b: Any) -> Any:
    predicate = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")[
        op.properties["predicate"].value.data
    ]
    if predicate[0] == "u":
        a, b = _unsigned(a), _unsigned(b)
    functions = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    functions |= {"gt": np.greater, "ge": np.greater_equal}
    return np.asarray(functions[predicate[-2:]](a, b)).astype(bool)[()]


def _extended(m: Machine, op: Any, a: Any) -> Any:
    return np.asarray(_unsigned(a) if a.dtype != bool else a).astype(dtype_of(op.results[0].type))[()]


def _signed(m: Machine, op: Any, a: Any) -> Any:
    a = np.asarray(a)
    return (-a.astype(np.int64) if a.dtype == bool else a).astype(dtype_of(op.results[0].type))[()]


def _shaped(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda m, op, a: np.array(function(np.asarray(a), op))


def _load(m: Machine, op: tt.LoadOp, pointer: Any, mask: Any = True, other: Any = 0) -> Any:
    if isinstance(pointer, BlockPointer):
        pointer, mask = pointer.lanes([int(d) for d in op.boundary_check.get_values()])
        other = np.nan if op.padding is not None and op.padding.value.data == 2 else 0
    return m.load(pointer, mask, other, op.result.type)


def _store(m: Machine, op: tt.StoreOp, pointer: Any, value: Any, mask: Any = True) -> None:
    if isinstance(pointer, BlockPointer):
        pointer, mask = pointer.lanes([int(d) for d in op.boundary_check.get_values()])
    m.store(pointer, mask, value, op.value.type)


def _make_tensor_ptr(m: Machine, op: tt.MakeTensorPtrOp, base: Any, *numbers: Any) -> BlockPointer:
    shape = op.result.type.pointee_type.get_shape()
    rank = len(shape)
    ints = [int(n) for n in numbers]
    return BlockPointer(int(base), ints[:rank], ints[rank : 2 * rank], ints[2 * rank :], shape, size_of(op.base.type))


def _advance(m: Machine, op: Any, pointer: BlockPointer, *by: Any) -> BlockPointer:
    offsets = [old + int(step) for old, step in zip(pointer.offsets, by, strict=True)]
    return BlockPointer(pointer.base, pointer.extents, pointer.strides, offsets, pointer.shape, pointer.size)


def _mixed(m: Machine, entries: Sequence[Any]) -> list[int]:
    return [entry if isinstance(entry, int) else int(m.values[entry]) for entry in entries]


def _make_tptr(m: Machine, op: tts.MakeTensorPtrOp, base: Any, *_: Any) -> Array:
    """The addresses, by the definition in `tts.make_tptr`."""
    sizes = static_values(op.sizes)
    result = np.full(sizes, int(base), np.int64)
    bounds = [0] * len(sizes) if len(op.order) else _mixed(m, op.mixed_shape)
    rows = zip(np.indices(sizes), _mixed(m, op.mixed_strides), _mixed(m, op.mixed_offsets), bounds, strict=True)
    for index, stride, offset, bound in rows:
        part = offset + index * stride
        result = result + (_truncated(part, bound)[1] if bound else part) * size_of(op.base.type)
    return result


def _make_gather(m: Machine, op: tts.MakeGatherScatterTensorPtrOp, base: Any, rows: Any, *_: Any) -> Array:
    sizes, dim = static_values(op.sizes), op.gather_scatter_dim.value.data
    result = np.full(sizes, int(base), np.int64)
    strides, offsets = _mixed(m, op.mixed_strides), _mixed(m, op.mixed_offsets)
    assert offsets[dim] == 0
    for d, index in enumerate(np.indices(sizes)):
        part = np.asarray(rows, np.int64)[index] * strides[d] if d == dim else offsets[d] + index * strides[d]
        result = result + part * size_of(op.base.type)
    return result


def _box(m: Machine, op: Any, shape: Sequence[int]) -> Array:
    dims = op.mixed_mask_dims
    dims = _mixed(m, dims() if callable(dims) else dims) or list(shape)
    starts = _mixed(m, op.mixed_mask_starts()) if hasattr(op, "mixed_mask_starts") else [0] * len(shape)
    live = np.ones(shape, bool)
    for index, start, count, size in zip(np.indices(shape), starts, dims, shape, strict=True):
        assert start >= 0 and count >= 0 and start + count <= size, f"box {starts} {dims} in {shape}"
        live &= (index >= start) & (index < start + count)
    lanes = getattr(op, "mask", None)
    return live if lanes is None else live & np.broadcast_to(m.values[lanes], shape)


def _tts_load(m: Machine, op: Any, pointer: Array, *_: Any) -> Any:
    other = 0 if op.other is None else m.values[op.other]
    return m.load(pointer, _box(m, op, pointer.shape), other, op.result.type)


def _tts_store(m: Machine, op: Any, pointer: Array, value: Any, *_: Any) -> None:
    m.store(pointer, _box(m, op, pointer.shape), value, op.value.type)


def _places(op: Any, base: Any, offset: Any) -> Any:
    return base + np.asarray(offset, np.int64) * size_of(op.operands[0].type)


def _gather(m: Machine, op: tts.GatherOp, base: Any, offset: Any, mask: Any = True, other: Any = 0) -> Any:
    return m.load(_places(op, base, offset), mask, other, op.result.type)


def _scatter(m: Machine, op: tts.ScatterOp, base: Any, offset: Any, value: Any, mask: Any = True) -> None:
    m.store(_places(op, base, offset), mask, value, op.value.type)


def _atomic(m: Machine, op: Any, addresses: Any, value: Any, mask: Any) -> Any:
    assert op.atomic_rmw_op.value.data in (4, 5), "only additions"
    addresses, live = np.broadcast_arrays(np.asarray(addresses), np.asarray(mask))
    old = np.zeros(addresses.shape, dtype_of(op.result.type))
    for lane in np.ndindex(addresses.shape):
        if live[lane]:
            old[lane] = m.memory.read(addresses[lane], old.dtype)
            m.memory.write(addresses[lane], old[lane] + np.asarray(value)[lane], old.dtype)
    return old if addresses.shape else old[()]


def _addptr(m: Machine, op: Any, pointer: Any, offset: Any) -> Any:
    return pointer + np.asarray(offset, np.int64) * size_of(op.result.type)


OPS: dict[type[Operation], Callable[..., Any]] = {
    arith.ConstantOp: _constant,
    arith.AddiOp: _binary(np.add),
    arith.SubiOp: _binary(np.subtract),
    arith.MuliOp: _binary(np.multiply),
    arith.AddfOp: _binary(np.add),
    arith.MulfOp: _binary(np.multiply),
    arith.DivSIOp: _binary(lambda a, b: _truncated(a, b)[0]),
    arith.RemSIOp: _binary(lambda a, b: _truncated(a, b)[1]),
    arith.CeilDivSIOp: _binary(lambda a, b: -(-np.asarray(a) // b)),
    arith.DivUIOp: _binary(lambda a, b: _unsigned(a) // np.maximum(_unsigned(b), 1)),
    arith.RemUIOp: _binary(lambda a, b: _unsigned(a) % np.maximum(_unsigned(b), 1)),
    arith.ShLIOp: _binary(np.left_shift),
    arith.ShRSIOp: _binary(np.right_shift),
    arith.ShRUIOp: _binary(lambda a, b: _unsigned(a) >> _unsigned(b)),
    arith.AndIOp: _binary(np.bitwise_and),
    arith.OrIOp: _binary(np.bitwise_or),
    arith.XOrIOp: _binary(np.bitwise_xor),
    arith.MinSIOp: _binary(np.minimum),
    arith.MaxSIOp: _binary(np.maximum),
    arith.CmpiOp: _compare,
    arith.SelectOp: lambda m, op, c, a, b: (
        np.where(c, a, b)[()] if not isinstance(a, BlockPointer) else (a if c else b)
    ),
    arith.ExtUIOp: _extended,
    arith.IndexCastUIOp: _extended,
    arith.ExtSIOp: _signed,
    arith.IndexCastOp: _signed,
    arith.TruncIOp: _signed,
    tt.GetProgramIdOp: lambda m, op: np.int32(m.program[op.axis.value.data]),
    tt.MakeRangeOp: lambda m, op: np.arange(op.start.value.data, op.end.value.data, dtype=np.int32),
    tt.SplatOp: _shaped(lambda a, op: np.broadcast_to(a, op.result.type.get_shape())),
    tt.BroadcastOp: _shaped(lambda a, op: np.broadcast_to(a, op.result.type.get_shape())),
    tt.ExpandDimsOp: _shaped(lambda a, op: np.expand_dims(a, op.axis.value.data)),
    tt.ReshapeOp: _shaped(lambda a, op: a.reshape(op.result.type.get_shape())),
    tt.TransOp: _shaped(lambda a, op: np.transpose(a, [int(d) for d in op.order.get_values()])),
    tt.CatOp: lambda m, op, a, b: np.concatenate([a, b]),
    tt.UnsplatOp: lambda m, op, a: a.reshape(-1)[0],
    tt.AddPtrOp: _addptr,
    tt.BitcastOp: lambda m, op, a: a,
    tt.IntToPtrOp: lambda m, op, a: a,
    tt.PtrToIntOp: lambda m, op, a: a,
    tt.LoadOp: _load,
    tt.StoreOp: _store,
    tt.AtomicRMWOp: lambda m, op, p, v, mask=True: _atomic(m, op, p, v, mask),
    tt.MakeTensorPtrOp: _make_tensor_ptr,
    tt.AdvanceOp: _advance,
    tts.MakeTensorPtrOp: _make_tptr,
    tts.MakeGatherScatterTensorPtrOp: _make_gather,
    tts.LoadOp: _tts_load,
    tts.MaskedLoadOp: _tts_load,
    tts.StoreOp: _tts_store,
    tts.MaskedStoreOp: _tts_store,
    tts.GatherOp: _gather,
    tts.ScatterOp: _scatter,
    tts.AtomicRMWOp: lambda m, op, b, o, v, mask=True: _atomic(m, op, _places(op, b, o), v, mask),
}
