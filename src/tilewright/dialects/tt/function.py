"""Functions, calls and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, init_op, symbol_attr
from tilewright.dialects.fields import (
    Body,
    Operands,
    Results,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.tt.definition import TritonOp

RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
EMPTY_DICT = DictionaryAttr({})


class _Callable(CallableOpInterface):
    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


class _CallsDefinedFunction(SymbolUserOpInterface):
    """The callee exists, and takes and gives what the call does."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"'{op.callee.string_value()}' does not reference a valid function")
        _check_signature("operand", callee.function_type.inputs.data, op.operand_types)
        _check_signature("result", callee.function_type.outputs.data, op.result_types)


def _check_signature(what: str, expected: Sequence[Attribute], given: Sequence[Attribute]) -> None:
    if len(expected) != len(given):
        raise VerifyException(f"incorrect number of {what}s for callee: expected {len(expected)}, got {len(given)}")
    for index, (wanted, got) in enumerate(zip(expected, given, strict=True)):
        if wanted != got:
            raise VerifyException(
                f"{what} type mismatch: expected {what} type {wanted}, but provided {got} for {what} number {index}"
            )


class FuncOp(TritonOp):
    """A kernel (`public`) or a device function (`private`).

    ```mlir
    tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
      tt.return
    }
    ```
    """

    name = "tt.func"

    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    function_type: FunctionType = prop_def(FunctionType)
    sym_visibility: StringAttr | None = opt_prop_def(StringAttr)
    arg_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr])
    body: Body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _Callable())

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        region: Region | None = None,
        *,
        visibility: str | StringAttr | None = "public",
        arg_attrs: Sequence[Mapping[str, Attribute]] | ArrayAttr[DictionaryAttr] | None = None,
        res_attrs: ArrayAttr[DictionaryAttr] | None = None,
        noinline: bool | None = None,
    ):
        if not isinstance(function_type, FunctionType):
            function_type = FunctionType.from_lists(*function_type)
        if region is None:
            region = Region(Block(arg_types=function_type.inputs.data))
        if isinstance(visibility, str):
            visibility = StringAttr(visibility)
        if arg_attrs is not None and not isinstance(arg_attrs, ArrayAttr):
            arg_attrs = ArrayAttr([DictionaryAttr(dict(attrs)) if attrs else EMPTY_DICT for attrs in arg_attrs])
        optional = {"sym_visibility": visibility, "arg_attrs": arg_attrs, "res_attrs": res_attrs}
        init_op(
            self,
            (),
            (),
            {
                "sym_name": StringAttr(name),
                "function_type": function_type,
                **{key: attribute for key, attribute in optional.items() if attribute is not None},
            },
            attributes=None if noinline is None else {"noinline": bool_attr(noinline)},
            regions=(region,),
        )

    @property
    def args(self) -> Sequence[BlockArgument]:
        """The arguments of the entry block."""
        return self.body.blocks[0].args

    @property
    def is_declaration(self) -> bool:
        """True if the function has no body."""
        return self.body.blocks.first is None

    @property
    def is_public(self) -> bool:
        """True if the function can be called (launched) from outside the module."""
        return self.sym_visibility is None or self.sym_visibility.data == "public"

    @property
    def is_noinline(self) -> bool:
        """True if calls of the function must not be inlined."""
        attribute = self.attributes.get("noinline")
        return attribute is not None and attribute == bool_attr(True)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=RESERVED
        )
        func = FuncOp(name, (inputs, outputs), region, visibility=visibility, arg_attrs=arg_attrs, res_attrs=res_attrs)
        if extra is not None:
            func.attributes |= extra.data
        return func

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            self.attributes,
            arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs,
            reserved_attr_names=RESERVED,
        )

    def verify_(self) -> None:
        entry = self.body.blocks.first
        if entry is not None and tuple(entry.arg_types) != self.function_type.inputs.data:
            raise VerifyException("entry block arguments must have the function's input types")
        if self.arg_attrs is not None and len(self.arg_attrs) != len(self.function_type.inputs):
            raise VerifyException("function must have one attribute dictionary per argument")


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
    traits = traits_def(_CallsDefinedFunction())


class ReturnOp(TritonOp):
    """The end of a function: `tt.return %0 : f32`."""

    name = "tt.return"

    srcs: Operands = var_operand_def(default=())

    assembly_format = "attr-dict ($srcs^ `:` type($srcs))?"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), HasParent(FuncOp))

    def verify_(self) -> None:
        func = self.parent_op()
        assert isinstance(func, FuncOp)
        expected = func.function_type.outputs.data
        if len(expected) != len(self.srcs):
            raise VerifyException(f"has {len(self.srcs)} operands, but enclosing function returns {len(expected)}")
        for index, (wanted, source) in enumerate(zip(expected, self.srcs, strict=True)):
            if wanted != source.type:
                raise VerifyException(
                    f"type of return operand {index} ({source.type}) doesn't match function result type ({wanted})"
                )
