"""Printed IR: names, aliases, dictionaries; spelling itself is checked by the file tests in tests/file/opt."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition, region_def, result_def

from tilewright.ir.naming import sanitize_name
from tilewright.ir.printing import print_attribute, print_op

Parse = Callable[[str], ModuleOp]


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """An attribute that asks for an alias, as layouts do."""

    name = "test.layout"

    text: StringAttr

    @property
    def alias_name(self) -> str:
        return "blocked"


@irdl_attr_definition
class WrapAttr(ParametrizedAttribute):
    """An attribute with an alias that holds another one."""

    name = "test.wrap"

    inner: Attribute

    @property
    def alias_name(self) -> str:
        return "blocked"


@irdl_op_definition
class NamedOp(IRDLOperation):
    """An op that names its results and the arguments of its region."""

    name = "test.named"
    ASM_RESULT_NAMES: ClassVar[tuple[str, ...]] = ("low", "high")
    ASM_ARGUMENT_NAMES: ClassVar[tuple[str, ...]] = ("key", "value")

    first = result_def()
    second = result_def()
    body = region_def()


def _holder(**attributes: Attribute) -> Operation:
    module = ModuleOp([])
    module.attributes.update(attributes)
    return module


def test_aliases_are_numbered_and_defined_once() -> None:
    first, second = LayoutAttr(StringAttr("a")), LayoutAttr(StringAttr("b"))
    text = print_op(_holder(x=first, y=second, z=ArrayAttr([first, LayoutAttr(StringAttr("b"))])))
    assert text == (
        '#blocked = #test.layout<"a">\n'
        '#blocked1 = #test.layout<"b">\n'
        "module attributes {x = #blocked, y = #blocked1, z = [#blocked, #blocked1]} {\n}\n"
    )


def test_nested_aliases_come_after_the_ones_they_use() -> None:
    inner = LayoutAttr(StringAttr("a"))
    text = print_op(_holder(a=WrapAttr(inner), b=inner))
    assert text.startswith('#blocked = #test.layout<"a">\n#blocked1 = #test.wrap<#blocked>\n')
    assert "{a = #blocked1, b = #blocked}" in text


def test_attributes_alone_print_without_aliases() -> None:
    assert print_attribute(WrapAttr(LayoutAttr(StringAttr("a")))) == '#test.wrap<#test.layout<"a">>'


def test_dictionaries_are_sorted_and_keys_quoted() -> None:
    text = print_op(_holder(**{"b": UnitAttr(), "a": StringAttr('"'), "odd key": UnitAttr()}))
    assert text == 'module attributes {a = "\\22", b, "odd key"} {\n}\n'


def test_ops_name_results_and_arguments() -> None:
    block = Block(arg_types=[i32, i32, i32])
    text = print_op(NamedOp.create(result_types=[i32, i32], regions=[Region(block)]))
    assert text.startswith('%low, %high = "test.named"() ({\n^bb0(%key: i32, %value: i32, %value_0: i32):\n')


def test_conflicts_share_one_counter(parse: Parse) -> None:
    text = print_op(
        parse("""
          %a = arith.constant 0 : index
          %b = arith.constant 1 : index
          %c = arith.constant 0 : index
          %d = arith.constant 1 : index
          %e = arith.constant 0 : index""")
    )
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if " = " in line]
    assert names == ["%c0", "%c1", "%c0_0", "%c1_1", "%c0_2"]


def test_groups_of_results(parse: Parse) -> None:
    text = print_op(parse('%a:3 = "t.a"() : () -> (i32, i32, i32)\n"t.b"(%a#2, %a#0) : (i32, i32) -> ()'))
    assert '%0:3 = "t.a"() : () -> (i32, i32, i32)' in text
    assert '"t.b"(%0#2, %0#0)' in text


def test_sibling_regions_reuse_numbers_except_in_generic_form(parse: Parse) -> None:
    source = '"t.a"() ({\n%a = "t.x"() : () -> i32\n}) : () -> ()\n"t.a"() ({\n%a = "t.x"() : () -> i32\n}) : () -> ()'
    assert print_op(parse(source)).count('%0 = "t.x"') == 2
    assert print_op(parse(source), generic=True).count('%0 = "t.x"') == 1


@pytest.mark.parametrize(("name", "safe"), [("x", "x"), ("1x", "_1x"), ("a b", "a_b"), ("é", "E9"), ("x[0]", "x5B05D")])
def test_names_become_identifiers(name: str, safe: str) -> None:
    assert sanitize_name(name) == safe


def test_names_from_locations(parse: Parse) -> None:
    module = parse(
        '%0 = "t.x"() : () -> i32 loc("acc"("k.py":1:2))\n%1 = "t.x"() : () -> i32 loc("acc"("k.py":3:2))\n'
        '%2 = "t.x"() : () -> i32 loc("k.py":4:2)'
    )
    lines = [line.strip() for line in print_op(module, names_from_locations=True).splitlines()]
    assert lines[1:4] == [f'{name} = "t.x"() : () -> i32' for name in ("%acc", "%acc_0", "%0")]
    assert "%0 = " in print_op(module)


def test_printing_leaves_the_module_as_it_is(parse: Parse) -> None:
    module = parse('"t.a"() {b = 1 : i32} : () -> ()')
    assert print_op(module) == print_op(module)
    assert print_op(module, generic=True) == print_op(module, generic=True)


def test_a_nested_op_prints_with_names_for_outer_values(parse: Parse) -> None:
    module = parse('%a = "t.a"() : () -> i32\n"t.b"(%a) : (i32) -> ()')
    assert print_op(list(module.ops)[1]) == '"t.b"(%outside_0) : (i32) -> ()\n'
