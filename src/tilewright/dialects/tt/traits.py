"""Verification and effect traits that several `tt` ops share."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    OpTrait,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tt.types import PointerType, is_tensor, shape_of
from tilewright.ir.effects import has_fixed_effects
from tilewright.support.records import dataclass

MAX_TENSOR_ELEMENTS = 1 << 20
"""Largest number of elements of one tensor value, as in Triton."""

READ = EffectInstance(MemoryEffectKind.READ)
WRITE = EffectInstance(MemoryEffectKind.WRITE)


def _is_true(flag: Attribute | None) -> bool:
    return isinstance(flag, IntegerAttr) and flag.value.data != 0


def _operand_and_result_types(op: Operation) -> Iterator[tuple[str, Attribute]]:
    for index, operand in enumerate(op.operands):
        yield f"operand #{index}", operand.type
    for index, result in enumerate(op.results):
        yield f"result #{index}", result.type


def _tensor_types(op: Operation) -> Iterator[tuple[str, TensorType]]:
    for name, type in _operand_and_result_types(op):
        if isinstance(type, PointerType):
            type = type.pointee_type
        if is_tensor(type):
            yield name, type


@dataclass(frozen=True)
class TensorSizeTrait(OpTrait):
    """Every tensor has a static shape whose number of elements is a power of two and at most 1048576."""

    def verify(self, op: Operation) -> None:
        for name, type in _tensor_types(op):
            elements = 1
            for extent in type.get_shape():
                elements *= extent
            if elements > MAX_TENSOR_ELEMENTS:
                raise VerifyException(
                    f"Maximum allowed number of elements is {MAX_TENSOR_ELEMENTS}, but {name} of {op.name} has more: "
                    f"{type}"
                )
            if elements <= 0 or elements & (elements - 1):
                raise VerifyException(
                    f"Number of elements must be power-of-two, but {name} of {op.name} doesn't follow the rule "
                    f"({elements} elements): {type}"
                )


@dataclass(frozen=True)
class SameOperandsAndResultEncoding(OpTrait):
    """All tensors that the op takes and gives have one encoding."""

    def verify(self, op: Operation) -> None:
        encodings = {type.encoding for _, type in _tensor_types(op)}
        if len(encodings) > 1:
            raise VerifyException(f"{op.name} requires the same encoding for all operands and results")


@dataclass(frozen=True)
class SameOperandsAndResultShape(OpTrait):
    """All operands and results have one shape; scalars do not mix with tensors."""

    def verify(self, op: Operation) -> None:
        shapes = {shape_of(type) for _, type in _operand_and_result_types(op)}
        if len(shapes) > 1:
            raise VerifyException(f"{op.name} requires the same shape for all operands and results")


@dataclass(frozen=True)
class ReadEffect(MemoryEffect):
    """Reads global memory; a volatile access also counts as a write, so that it is never removed or merged."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        is_volatile = op.properties.get("isVolatile") or op.attributes.get("isVolatile")
        return {READ, WRITE} if _is_true(is_volatile) else {READ}


@has_fixed_effects
@dataclass(frozen=True)
class WriteEffect(MemoryEffect):
    """Writes global memory, or acts on the world in a way that must not be removed (prints, assertions)."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {WRITE}


@has_fixed_effects
@dataclass(frozen=True)
class ReadWriteEffect(MemoryEffect):
    """Reads and writes global memory."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {READ, WRITE}


@dataclass(frozen=True)
class EffectUnlessPure(MemoryEffect):
    """No effect when the op's `pure` property is true, reads and writes otherwise."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return set() if _is_true(op.properties.get("pure")) else {READ, WRITE}
