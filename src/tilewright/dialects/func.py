"""The func dialect: functions, calls and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Dialect, Region
from xdsl.irdl import traits_def
from xdsl.traits import (
    IsTerminator,
    Pure,
    ReturnLike,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, symbol_attr, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operands,
    Results,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.functions import CallsDefinedFunction, FunctionOp, verify_return


class FuncOp(FunctionOp, init=False):
    """``func.func @k(%x: memref<*xf32> {tt.divisibility = 16 : i32}, %n: i32) { ... return }``"""

    name = "func.func"

    no_inline: UnitAttr | None = opt_prop_def(UnitAttr)

    PROPERTIES_IN_TEXT: ClassVar[tuple[str, ...]] = ("no_inline",)

    @staticmethod
    def external(name: str, input_types: Sequence[Attribute], return_types: Sequence[Attribute]) -> FuncOp:
        """A private declaration."""
        return FuncOp(name, (input_types, return_types), Region(), "private")


class CallOp(Op):
    """``%r = call @helper(%a, %b) : (f32, i32) -> f32``: the results of a function of the module."""

    name = "func.call"

    callee: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr, converter=symbol_attr)
    arguments: Operands = var_operand_def()
    res: Results = var_result_def()

    traits = traits_def(CallsDefinedFunction())

    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"


class ReturnOp(Op):
    """``return %a, %b : i32, f32``: the end of a function."""

    name = "func.return"

    arguments: Operands = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Value) -> None:
        init_op(self, values_of(arguments))

    def verify_(self) -> None:
        function = self.parent_op()
        if not isinstance(function, FuncOp):
            raise VerifyException("expects parent op 'func.func'")
        verify_return(self, function)


Func = Dialect("func", [CallOp, FuncOp, ReturnOp], [])
