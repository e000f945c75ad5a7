"""The buffers of one function: which memref holds each tensor value, and copies between them.

Every buffer is a `memref.alloca` of static extents at the start of the function, so loops do not take more of it. A
tensor value is defined once for each time that its op runs, and whoever reads it runs between that and the next time;
so one buffer for each value is enough, also in loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import func, memref
from tilewright.dialects.types import as_tensor, element_type, shape_of
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error

PASS_NAME = "one-shot-bufferize"
ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


def buffer_type(type_: Attribute) -> MemRefType[Attribute]:
    """The contiguous memref that holds a tensor of a type: ``tensor<4xf32>`` in ``memref<4xf32>``."""
    tensor = as_tensor(type_)
    return MemRefType(tensor.element_type, tensor.shape)


class Buffers:
    """Which memref holds each tensor value of a function."""

    def __init__(self, function: func.FuncOp, builder: OpBuilder) -> None:
        entry = function.body.blocks.first
        assert entry is not None
        self.builder = builder
        self._function = function
        self._entry = entry
        self._last: Operation | None = None
        self._memrefs: dict[SSAValue, SSAValue] = {}
        self._roots: dict[SSAValue, SSAValue] = {}
        self._owned: set[SSAValue] = set()
        """Buffers that were made for tensor values, which may be overwritten when the value is dead."""

    # -- finding and making -----------------------------------------------------------------------------------------

    def of(self, value: SSAValue) -> SSAValue:
        """The memref that holds a tensor value; one of its own where there is none yet."""
        if (found := self._memrefs.get(value)) is None:
            found = self._memrefs[value] = self.new(value.type)
        return found

    def new(self, type_: Attribute) -> SSAValue:
        """A buffer for a tensor type."""
        if DYNAMIC_INDEX in (shape_of(type_) or ()):
            self.fail(f"a tensor whose extents are known at run time only ({type_}) has no buffer")
        buffer = self.allocate(buffer_type(type_))
        self._owned.add(buffer)
        return buffer

    def allocate(self, type_: MemRefType[Attribute]) -> SSAValue:
        """``memref.alloca`` at the start of the function."""
        op = memref.AllocaOp((), (), type_, alignment=ALIGNMENT)
        op.location = self.builder.location
        if self._last is not None:
            self._entry.insert_op_after(op, self._last)
        elif (first := self._entry.first_op) is not None:
            self._entry.insert_op_before(op, first)
        else:
            self._entry.add_op(op)
        self._last = op
        return op.results[0]

    def bind(self, value: SSAValue, buffer: SSAValue, root: SSAValue | None = None) -> None:
        """Record where a value is: a buffer, or a view of the buffer `root`."""
        self._memrefs[value] = buffer
        if root is not None:
            self._roots[buffer] = self._root(root)

    def _root(self, buffer: SSAValue) -> SSAValue:
        return self._roots.get(buffer, buffer)

    def constant(self, value: DenseIntOrFPElementsAttr, type_: MemRefType[Attribute]) -> SSAValue:
        """``memref.get_global`` of a table at the top of the module, one for all constants of the same elements."""
        module = self._function.parent_op()
        assert isinstance(module, ModuleOp)
        shape = "x".join([*map(str, type_.get_shape()), str(type_.element_type)])
        name, suffix = f"__constant_{shape}", 0
        present = {op.sym_name.data: op for op in module.ops if isinstance(op, memref.GlobalOp)}
        while (found := present.get(name)) is not None and found.initial_value != value:
            name, suffix = f"__constant_{shape}_{suffix}", suffix + 1
        if found is None:
            table = memref.GlobalOp(name, type_, value, constant=True, alignment=ALIGNMENT)
            module.body.block.insert_op_before(table, self._function)
        return self.builder.result(memref.GetGlobalOp(name, type_))

    # -- writing ----------------------------------------------------------------------------------------------------

    def destination(self, op: Operation, init: SSAValue, result: SSAValue, *, keeps: bool = True) -> SSAValue:
        """The buffer of a result that starts as `init`: that of `init` itself where nothing else reads it, else a new
        one, filled from it if the op `keeps` some of its elements."""
        if self._is_last_use(op, init):
            buffer = self._memrefs[result] = self.of(init)
            return buffer
        buffer = self.of(result)
        if keeps:
            self.copy(self.of(init), buffer)
        return buffer

    def _is_last_use(self, op: Operation, value: SSAValue) -> bool:
        home = value.owner if isinstance(value.owner, Block) else value.owner.parent
        return home is op.parent and value.uses.get_length() == 1 and self.of(value) in self._owned

    def copy(self, source: SSAValue, target: SSAValue) -> None:
        """``memref.copy``."""
        if source is not target:
            self.builder.insert(memref.CopyOp(source, target))

    def transfer(self, values: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
        """Copy tensors into buffers as if all at once: what a copy would overwrite is read by others before."""
        pairs = [(self.of(value), target) for value, target in zip(values, targets, strict=True)]
        pending = [(source, target) for source, target in pairs if source is not target]
        while pending:
            read = [self._root(source) for source, _ in pending]
            free = [
                n for n, (_, target) in enumerate(pending) if target not in read[:n] and target not in read[n + 1 :]
            ]
            if free:
                self._copy_over(*pending.pop(free[0]))
                continue
            source, target = pending[0]
            saved = self.allocate(_contiguous(source.type))
            self.copy(source, saved)
            pending[0] = saved, target

    def _copy_over(self, source: SSAValue, target: SSAValue) -> None:
        """A copy of a view of the target itself goes through another buffer."""
        if self._root(source) is target:
            saved = self.allocate(_contiguous(source.type))
            self.copy(source, saved)
            source = saved
        self.copy(source, target)

    def fail(self, reason: str) -> None:
        """Stop with an error about the function."""
        raise op_error(self._function, reason, pass_name=PASS_NAME)


def _contiguous(type_: Attribute) -> MemRefType[Attribute]:
    return MemRefType(element_type(type_), shape_of(type_) or ())
