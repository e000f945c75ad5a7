"""Small kernels at the ttg stage, written as text: tensors loaded in any layout, some ops on them, results stored.

```python
k = KernelText(num_warps=4, capability=80)
x = k.load("f32", (32, 64), source)
y = k.add(f"ttg.convert_layout {x.name}", x.with_layout(target), operands=[x])
k.store(y)
```
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tilewright.dialects.ttg import encoding_of
from tilewright.layouts.distributed import DistributedLayout, SliceLayout


@dataclass(frozen=True)
class Tensor:
    """A value of the text: its name, element type, shape, layout."""

    name: str
    element: str
    shape: tuple[int, ...]
    layout: DistributedLayout | None

    @property
    def type(self) -> str:
        if self.layout is None:
            return self.element
        return tensor_type(self.element, self.shape, self.layout)

    def with_layout(self, layout: DistributedLayout) -> Tensor:
        return replace(self, layout=layout)

    def of(self, element: str) -> Tensor:
        return replace(self, element=element)


def tensor_type(element: str, shape: Sequence[int], layout: DistributedLayout) -> str:
    """`tensor<32x64xf32, #ttg.blocked<...>>`"""
    return f"tensor<{'x'.join(map(str, shape))}x{element}, {encoding_of(layout)}>"


STORED = {"i1": "i8", "ptr": "i64"}
"""Elements that memory holds as others."""


class KernelText:
    """A module with one kernel under construction; every load and store has a pointer argument of its own, in order."""

    def __init__(self, *, num_warps: int = 4, capability: int = 80) -> None:
        self.num_warps = num_warps
        self.capability = capability
        self._arguments: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def fresh(self) -> str:
        """A new name."""
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        """A line as it is."""
        self._lines.append(text)

    def op(self, instruction: str) -> str:
        """A line with one result; its name."""
        name = self.fresh()
        self.line(f"{name} = {instruction}")
        return name

    def add(self, instruction: str, result: Tensor) -> Tensor:
        """A line with one result of a type."""
        return replace(result, name=self.op(instruction))

    def argument(self, element: str) -> str:
        """A pointer argument."""
        name = f"%arg{len(self._arguments)}"
        self._arguments.append(f"{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}")
        return name

    def pointers(self, element: str, shape: tuple[int, ...], layout: DistributedLayout) -> str:
        """Pointers to the elements of a row-major array behind a new argument."""
        base = self.argument(element)
        type = tensor_type(f"!tt.ptr<{element}>", shape, layout)
        splat = self.op(f"tt.splat {base} : !tt.ptr<{element}> -> {type}")
        offsets = self.offsets(shape, layout)
        return self.op(f"tt.addptr {splat}, {offsets} : {type}, {tensor_type('i32', shape, layout)}")

    def offsets(self, shape: tuple[int, ...], layout: DistributedLayout) -> str:
        """The row-major index of each element."""
        total: str | None = None
        stride = 1
        for dim in reversed(range(len(shape))):
            part = self._along(shape, dim, layout)
            if stride > 1:
                part = self._times(part, stride, shape, layout)
            type = tensor_type("i32", shape, layout)
            total = part if total is None else self.op(f"arith.addi {total}, {part} : {type}")
            stride *= shape[dim]
        assert total is not None
        return total

    def _times(self, value: str, factor: int, shape: tuple[int, ...], layout: DistributedLayout) -> str:
        type = tensor_type("i32", shape, layout)
        constant = self.op(f"arith.constant dense<{factor}> : {type}")
        return self.op(f"arith.muli {value}, {constant} : {type}")

    def _along(self, shape: tuple[int, ...], dim: int, layout: DistributedLayout) -> str:
        """The coordinate along one dimension, on the whole shape."""
        others = [other for other in reversed(range(len(shape))) if other != dim]
        layouts = [layout]
        for other in others:
            layouts.append(SliceLayout(other, layouts[-1]))
        extents: tuple[int, ...] = (shape[dim],)
        value = self.op(
            f"tt.make_range {{start = 0 : i32, end = {shape[dim]} : i32}} : {tensor_type('i32', extents, layouts[-1])}"
        )
        for other, sliced, full in zip(reversed(others), reversed(layouts[1:]), reversed(layouts[:-1]), strict=True):
            before = tensor_type("i32", extents, sliced)
            extents = (*extents[:other], 1, *extents[other:])
            value = self.op(
                f"tt.expand_dims {value} {{axis = {other} : i32}} : {before} -> {tensor_type('i32', extents, full)}"
            )
        if extents == shape:
            return value
        return self.op(
            f"tt.broadcast {value} : {tensor_type('i32', extents, layout)} -> {tensor_type('i32', shape, layout)}"
        )

    def load(self, element: str, shape: tuple[int, ...], layout: DistributedLayout) -> Tensor:
        """A tensor out of a new argument."""
        stored = STORED.get(element, element)
        pointers = self.pointers(stored, shape, layout)
        type = tensor_type(f"!tt.ptr<{stored}>", shape, layout)
        loaded = Tensor(self.op(f"tt.load {pointers} : {type}"), stored, shape, layout)
        if element == "i1":
            zero = self.op(f"arith.constant dense<0> : {loaded.type}")
            return self.add(f"arith.cmpi ne, {loaded.name}, {zero} : {loaded.type}", loaded.of("i1"))
        if element == "ptr":
            pointer = loaded.of("!tt.ptr<f32>")
            return self.add(f"tt.int_to_ptr {loaded.name} : {loaded.type} -> {pointer.type}", pointer)
        return loaded

    def store(self, value: Tensor) -> None:
        """A tensor, or a scalar, into a new argument."""
        if value.element == "i1":
            wide = value.of("i8")
            value = self.add(f"arith.extui {value.name} : {value.type} to {wide.type}", wide)
        elif value.element.startswith("!tt.ptr"):
            number = value.of("i64")
            value = self.add(f"tt.ptr_to_int {value.name} : {value.type} -> {number.type}", number)
        if value.layout is None:
            pointer = self.argument(value.element)
            self.line(f"tt.store {pointer}, {value.name} : !tt.ptr<{value.element}>")
            return
        pointers = self.pointers(value.element, value.shape, value.layout)
        type = tensor_type(f"!tt.ptr<{value.element}>", value.shape, value.layout)
        self.line(f"tt.store {pointers}, {value.name} : {type}")

    def __str__(self) -> str:
        attributes = (
            f'"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {self.num_warps} : i32, '
            f'ttg.target = "cuda:{self.capability}", "ttg.threads-per-warp" = 32 : i32'
        )
        body = "\n".join(f"    {line}" for line in (*self._lines, "tt.return"))
        return (
            f"module attributes {{{attributes}}} {{\n"
            f"  tt.func public @kernel({', '.join(self._arguments)}) {{\n{body}\n  }}\n}}\n"
        )
