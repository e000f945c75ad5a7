"""What a lowering function is: it takes an op and the function being lowered, and gives the values that replace the
op's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.tt.types import PointerType
from tilewright.ir.lowerings import Lowerings
from tilewright.lowering.tensor_builder import TensorBuilder, element_of
from tilewright.support.records import dataclass

GRID_ARGUMENTS = 6
"""Trailing i32 arguments of every function: number of programs in x, y, z, then program id in x, y, z."""


class NotLowered(Exception):
    """The op has no lowering in this form and stays as it is; the message becomes the remark.

    Raised before a lowering function emits anything.
    """


@dataclass(frozen=True)
class LoweringOptions:
    """The options of `triton-arith-to-linalg`."""

    pids_to_func_args: bool = True
    tt_to_func_func: bool = True
    addptr_to_linalg: bool = True
    assert_to_cf: bool = True
    tensor_ptr_to_linalg: bool = False
    transpose_reduce_to_rank0: bool = True


@dataclass
class LoweringContext:
    """One function being lowered: the builder that stands before the op at hand, and what ops need to know of the
    function."""

    b: TensorBuilder
    options: LoweringOptions
    grid: Sequence[SSAValue]  # the six trailing arguments, or nothing where ids are not arguments
    declare: Callable[[str, Sequence[Attribute], dict[str, Attribute]], str]  # a new private function; gives its name
    declare_external: Callable[[str, Sequence[Attribute]], None]  # a function of the runtime's without parameters


Lowering: TypeAlias = Callable[[Any, LoweringContext], Sequence[SSAValue]]
"""Lowers one op: emits ops through ``f.b`` and gives one value for each result of the op."""

LOWERINGS = Lowerings[[LoweringContext], Sequence[SSAValue]]()
"""Everything that the pass lowers."""
lowers = LOWERINGS.lowers


def has_pointers(*values: SSAValue) -> bool:
    """Return whether any value is a pointer or a tensor of pointers."""
    return any(isinstance(element_of(value), PointerType) for value in values)
