"""Functions, calls and returns."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.traits import (
    HasParent,
    IsTerminator,
    Pure,
    ReturnLike,
)

from tilewright.dialects.construction import bool_attr, symbol_attr
from tilewright.dialects.fields import (
    Operands,
    Results,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.functions import NO_ATTRIBUTES, AttributeLists, CallsDefinedFunction, FunctionOp, verify_return
from tilewright.dialects.tt.definition import TritonOp


class FuncOp(FunctionOp):
    """A kernel (`public`) or a device function (`private`).

    ```mlir
    tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
      tt.return
    }
    ```
    """

    name = "tt.func"

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        region: Region | None = None,
        visibility: str | StringAttr | None = "public",
        *,
        arg_attrs: AttributeLists = None,
        res_attrs: AttributeLists = None,
        noinline: bool | None = None,
    ):
        if arg_attrs is not None and not isinstance(arg_attrs, ArrayAttr):
            arg_attrs = ArrayAttr([DictionaryAttr(dict(attrs)) if attrs else NO_ATTRIBUTES for attrs in arg_attrs])
        super().__init__(name, function_type, region, visibility, arg_attrs=arg_attrs, res_attrs=res_attrs)
        if noinline is not None:
            self.attributes["noinline"] = bool_attr(noinline)

    @property
    def is_public(self) -> bool:
        """True if the function can be called (launched) from outside the module."""
        return self.sym_visibility is None or self.sym_visibility.data == "public"

    @property
    def is_noinline(self) -> bool:
        """True if calls of the function must not be inlined."""
        attribute = self.attributes.get("noinline")
        return attribute is not None and attribute == bool_attr(True)


class CallOp(TritonOp):
    """A call of a device function: `%3 = tt.call @helper(%0, %1) : (f32, i32) -> f32`."""

    name = "tt.call"

    callee: SymbolRefAttr = prop_def(FlatSymbolRefAttrConstr, converter=symbol_attr)
    arguments: Operands = var_operand_def()
    arg_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr], default=None)
    res_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr], default=None)
    res: Results = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"
    traits = traits_def(CallsDefinedFunction())


class ReturnOp(TritonOp):
    """The end of a function: `tt.return %0 : f32`."""

    name = "tt.return"

    srcs: Operands = var_operand_def(default=())

    assembly_format = "attr-dict ($srcs^ `:` type($srcs))?"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), HasParent(FuncOp))

    def verify_(self) -> None:
        func = self.parent_op()
        assert isinstance(func, FuncOp)
        verify_return(self, func)


def is_function_argument(value: SSAValue) -> bool:
    """Return whether a value is an argument of a block of a function itself."""
    owner = value.owner
    return isinstance(owner, Block) and isinstance(owner.parent_op(), FuncOp)
