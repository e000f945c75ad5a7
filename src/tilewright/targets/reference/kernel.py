"""A kernel of the reference target: the text of a module, run over a grid."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.support.errors import DeviceAssertionError
from tilewright.support.recursion import deep_recursion

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

Extent = tuple[int, int]
"""The lowest address of an allocation, and the one past its highest."""


class _PrintedLines(list[str]):
    """Lines that are printed when they are appended: in order with what Python prints, and before an error."""

    def append(self, line: str, /) -> None:
        sys.stdout.write(f"{line}\n")


class ReferenceKernel:
    """A kernel to be launched with the extents of its arguments."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def module(self) -> ModuleOp:
        from tilewright.dialects import make_context
        from tilewright.ir.parsing import parse_module

        return parse_module(self.text, make_context(), f"{self.name}.ttir")

    @deep_recursion()
    def launch_within(
        self, slots: Sequence[int], extents: Mapping[int, Extent], grid: Sequence[int], names: Sequence[str] = ()
    ) -> None:
        """Run a grid; `extents` has the allocation that each slot with an address points into, `names` the parameter.

        Addresses that the kernel finds in memory are the host's own, and reach all that this process has. Prints go to
        the standard output; raises ReferenceError and DeviceAssertionError.
        """
        from tilewright import reference

        arguments = [self._argument(index, type_, slots, extents) for index, type_ in enumerate(self._slot_types())]
        from tilewright.targets.reference.host_calls import host_functions

        try:
            reference.run_grid(
                self.module,
                self.name,
                arguments,
                grid,
                output=_PrintedLines(),
                trusts_addresses=True,
                names=names,
                external=host_functions(self.module),
            )
        except reference.AssertionFailed as error:
            raise DeviceAssertionError(str(error)) from None

    def _slot_types(self) -> Iterator[Attribute]:
        """The types of the launch slots: a descriptor is its pointer, extents, strides and a flag."""
        from xdsl.dialects.builtin import i1, i64

        from tilewright.dialects import tt
        from tilewright.dialects.ttng import TensorDescIm2ColType
        from tilewright.dialects.ttng.pixels import slots_of

        for op in self.module.walk():
            if not isinstance(op, tt.FuncOp) or op.sym_name.data != self.name:
                continue
            types = op.function_type.inputs.data
            attributes = [None] * len(types) if op.arg_attrs is None else op.arg_attrs.data
            for type_, given in zip(types, attributes, strict=True):
                if isinstance(type_, tt.TensorDescType | TensorDescIm2ColType):
                    yield tt.pointer_type(type_.block_type.element_type)
                    yield from [i64] * (slots_of(type_, given) - 2)
                    yield i1
                else:
                    yield type_

    @staticmethod
    def _argument(index: int, type_: Attribute, slots: Sequence[int], extents: Mapping[int, Extent]) -> Any:
        """Return what a slot holds: memory, or a number from its low bits."""
        from tilewright.dialects.numeric import dtype_of
        from tilewright.dialects.tt import PointerType
        from tilewright.dialects.types import is_float
        from tilewright.reference import ByteRange

        bits = slots[index]
        if isinstance(type_, PointerType):
            if index not in extents:
                return bits
            low, high = extents[index]
            memory = (ctypes.c_uint8 * (high - low)).from_address(low)
            return ByteRange(np.ctypeslib.as_array(memory), bits - low)
        if is_float(type_):
            return np.array([bits], np.uint64).view(dtype_of(type_))[0]
        return bits
