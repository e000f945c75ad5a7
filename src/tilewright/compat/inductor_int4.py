"""PyTorch's matmul of a few rows by weights of four bits (`_weight_int4pack_mm_for_cpu`), in ATen's ops.

Weights lie in blocks of columns: a byte has a column of the block's first half and one of its second half, and
the bytes of all rows of the block follow one another. In float32 and float16, PyTorch has no fast code for them (4096 x
4096, one row, AVX2: 38 ms; bfloat16 3.2). Here a group of rows that share scales is a sum of its own:

    out[n] = sum over groups g of  scale[g, n] * sum_k x[k] q[k, n] + (zero[g, n] - 8 scale[g, n]) * sum_k x[k]

so that a weight costs a mask or shift, a conversion and a multiply-add (3.6 ms, reading all of 8 MiB of weights once).
Where `x` is infinite, the result may be NaN in place of an infinity.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any, cast

MOST_ROWS = 4
"""Rows that one kernel sums, with two accumulators each."""

_BLOCKS = (64, 32)
"""Columns of a block: with AVX-512, with AVX2."""


def spell_out_int4(graph: Any, node: Any) -> bool:
    """Write a call of PyTorch's op as sums, where it has few rows and a layout that is known; False for others."""
    torch = import_module("torch")
    x, w, group, scales = node.args
    value, sizes = x.meta["val"], (*x.meta["val"].shape, *w.meta["val"].shape, *scales.meta["val"].shape)
    if value.device.type != "cpu" or value.dtype not in (torch.float32, torch.float16):
        return False
    if not all(isinstance(size, int) for size in sizes) or not 1 <= value.shape[0] <= MOST_ROWS:
        return False
    block, columns, depth = columns_of_block(), w.meta["val"].shape[0], value.shape[1]
    if block is None or columns % block or depth % group:
        return False
    with graph.inserting_before(node):
        result = _Writer(graph, block, columns, depth, group).write(x, w, scales)
    node.replace_all_uses_with(result)
    graph.erase_node(node)
    return True


@lru_cache(maxsize=1)
def columns_of_block() -> int | None:
    """Return how many columns PyTorch packs together on this machine; None for a layout that is not known here."""
    torch = import_module("torch")
    without_fake_tensors = import_module("torch._subclasses.fake_tensor").unset_fake_temporarily
    count, depth = 2 * _BLOCKS[0], 32
    with without_fake_tensors():
        numbers = torch.arange(count * depth, dtype=torch.int32, device="cpu")
        weights = numbers.reshape(count, depth) * 7 // 3 % 16
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(weights, 1)
        for block in _BLOCKS:
            halves = packed.reshape(count // block, depth, block // 2)
            found = torch.cat([halves & 15, halves >> 4], -1).permute(0, 2, 1).reshape(count, depth)
            if torch.equal(found.to(torch.int32), weights):
                return block
    return None


class _Writer:
    """Adds ops to a graph; each node has the fake tensor that its op makes of those of its operands."""

    def __init__(self, graph: Any, block: int, columns: int, depth: int, group: int) -> None:
        torch = import_module("torch")
        self.graph, self.aten, self.torch = graph, torch.ops.aten, torch
        self.blocks, self.half, self.groups, self.group = columns // block, block // 2, depth // group, group

    def emit(self, target: Any, *args: Any) -> Any:
        node = self.graph.call_function(target, args)
        node.meta["val"] = target(*map(self._fake, args))
        return node

    def _fake(self, operand: Any) -> Any:
        """Fake tensors in the place of nodes."""
        if isinstance(operand, list):
            return [self._fake(each) for each in cast("list[Any]", operand)]
        return operand.meta["val"] if isinstance(operand, self.torch.fx.Node) else operand

    def write(self, x: Any, w: Any, scales: Any) -> Any:
        """The result, of the type of `x`."""
        aten, dtype = self.aten, x.meta["val"].dtype
        packed = self.emit(aten.reshape.default, w, [self.blocks, self.groups, self.group, self.half])
        halves = [
            self._in_float32(self.emit(aten.bitwise_and.Scalar, packed, 15)),
            self._in_float32(self.emit(aten.__rshift__.Scalar, packed, 4)),
        ]
        tables = [self._scale_and_offset(scales, index) for index in range(2)]
        rows = [self._row(x, index, halves, tables) for index in range(x.meta["val"].shape[0])]
        result = rows[0] if len(rows) == 1 else self.emit(aten.cat.default, rows, 0)
        convert = self.torch.ops.prims.convert_element_type.default
        return result if dtype == self.torch.float32 else self.emit(convert, result, dtype)

    def _in_float32(self, value: Any) -> Any:
        return self.emit(self.torch.ops.prims.convert_element_type.default, value, self.torch.float32)

    def _scale_and_offset(self, scales: Any, half: int) -> tuple[Any, Any]:
        """Return the factors of the sums of products of one half of each block, and those of the sums of `x`: float32
        [blocks, groups, columns]."""
        aten = self.aten
        parts = self.emit(aten.reshape.default, scales, [self.groups, self.blocks, 2, self.half, 2])
        ours = self.emit(aten.permute.default, self.emit(aten.select.int, parts, 2, half), [1, 0, 2, 3])
        scale, zero = (self._in_float32(self.emit(aten.select.int, ours, 3, index)) for index in range(2))
        return scale, self.emit(aten.sub.Tensor, zero, self.emit(aten.mul.Tensor, scale, 8.0))

    def _row(self, x: Any, number: int, halves: list[Any], tables: list[tuple[Any, Any]]) -> Any:
        """One row of the result, float32 [1, columns]."""
        aten = self.aten
        row = self._in_float32(self.emit(aten.select.int, x, 0, number))
        row = self.emit(aten.reshape.default, row, [1, self.groups, self.group, 1])
        total = self.emit(aten.sum.dim_IntList, row, [2])
        columns: list[Any] = []
        for half, (scale, offset) in zip(halves, tables, strict=True):
            sums = self.emit(aten.sum.dim_IntList, self.emit(aten.mul.Tensor, half, row), [2])
            shifted = self.emit(aten.mul.Tensor, offset, total)
            sums = self.emit(aten.add.Tensor, self.emit(aten.mul.Tensor, sums, scale), shifted)
            columns.append(self.emit(aten.unsqueeze.default, self.emit(aten.sum.dim_IntList, sums, [1]), 1))
        return self.emit(aten.reshape.default, self.emit(aten.cat.default, columns, 1), [1, -1])


__all__ = ["columns_of_block", "spell_out_int4"]
