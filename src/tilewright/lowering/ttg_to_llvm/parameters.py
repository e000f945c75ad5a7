"""Parameters and results of functions: the ABI of kernels, and of functions that are not inlined."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.llvm_text import Parameter
from tilewright.dialects import tt, ttng
from tilewright.dialects.attributes import NOALIAS
from tilewright.lowering.ttg_to_llvm.carried_values import flat_types
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.support.records import dataclass

SHARED_PARAMETER = "%shared"
SCRATCH_PARAMETER = "%scratch"

_DESCRIPTOR = 'byval([128 x i8]) align 64 "nvvm.grid_constant"'
"""Attributes of a tensor descriptor: 128 bytes by value, which TMA reads where they lie."""

_GIVEN = "noundef"
"""What a launch passes has a value. Where LLVM does not know that, it looks through a block for what proves addresses
no poison, for each pair of addresses in it: minutes for a block of a thousand loads."""


@dataclass(frozen=True)
class KernelParameter:
    """One parameter of a kernel: the MLIR type it has, the bytes it takes, and its attributes."""

    type: Attribute
    bytes: int
    alignment: int
    attributes: DictionaryAttr


def kernel_parameters(op: tt.FuncOp) -> tuple[KernelParameter, ...]:
    """The kernel's parameters, without the scratch pointer."""
    types = op.function_type.inputs.data
    return tuple(map(_kernel_parameter, types, _argument_attributes(op, len(types))))


def _kernel_parameter(type: Attribute, attributes: DictionaryAttr) -> KernelParameter:
    if isinstance(type, tt.TensorDescType | ttng.TensorDescIm2ColType):
        return KernelParameter(type, 128, 64, attributes)
    size = element_of(type).bytes
    return KernelParameter(type, size, size, attributes)


def function_parameters(op: tt.FuncOp, *, is_kernel: bool, scratch: bool) -> tuple[list[Parameter], list[str]]:
    """The LLVM parameters of a function, and the operands of its arguments in flat order."""
    noalias = NOALIAS in op.attributes
    types = op.function_type.inputs.data
    attributes = _argument_attributes(op, len(types))
    parameters: list[Parameter] = []
    for type, given in zip(types, attributes, strict=True):
        for text in flat_types(type):
            extra = _attributes(type, given, noalias=noalias) if is_kernel else ""
            parameters.append(Parameter(text, f"%a{len(parameters)}", extra))
    operands = [parameter.name for parameter in parameters]
    if not is_kernel:
        parameters.append(Parameter("ptr addrspace(3)", SHARED_PARAMETER))
    if scratch:
        parameters.append(Parameter("ptr addrspace(1)", SCRATCH_PARAMETER, _GIVEN if is_kernel else ""))
    return parameters, operands


def _argument_attributes(op: tt.FuncOp, count: int) -> Sequence[DictionaryAttr]:
    return op.arg_attrs.data if op.arg_attrs is not None else [DictionaryAttr({})] * count


def _attributes(type: Attribute, attributes: DictionaryAttr, *, noalias: bool) -> str:
    if isinstance(type, tt.TensorDescType | ttng.TensorDescIm2ColType) or "tt.nv_tma_desc" in attributes.data:
        return _DESCRIPTOR
    if not isinstance(type, tt.PointerType):
        return _GIVEN
    texts = ["noalias", _GIVEN] if noalias else [_GIVEN]
    divisibility = attributes.data.get("tt.divisibility")
    if isinstance(divisibility, IntegerAttr):
        value = divisibility.value.data
        texts.append(f"align {min(value & -value, 128)}")
    return " ".join(texts)


def result_type(types: Sequence[Attribute]) -> str:
    """The LLVM type that a function with these results returns."""
    return result_struct([text for type in types for text in flat_types(type)])
