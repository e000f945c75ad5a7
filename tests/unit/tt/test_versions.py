"""Texts of Triton 3.6 to 3.9: all are read, and the switch `triton_version` says in which form one is printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import gpu, tt, ttg
from tilewright.ir.printing import print_op
from tilewright.support import knobs
from tilewright.support.errors import ParseError

Parse = Callable[[str], ModuleOp]

OLDEST = """
tt.func @k(%p: !tt.ptr<f32>, %d: !tt.tensordesc<tensor<4x32xf32>>, %i: i32, %l: i64) {
  %x = tt.load %p cacheModifier = ca evictionPolicy = evict_first : !tt.ptr<f32>
  tt.store %p, %x cacheModifier = wb : !tt.ptr<f32>
  %y = tt.load %p : !tt.ptr<f32>
  %b = tt.descriptor_load %d[%i, %i] evictionPolicy = evict_last : !tt.tensordesc<tensor<4x32xf32>> -> tensor<4x32xf32>
  %e = tt.make_tensor_descriptor %p, [%i, %i], [%l, %l] : <f32>, <tensor<4x32xf32>>
  tt.return
}
"""

KEYWORDS = "cacheModifier = ca evictionPolicy = evict_first"

FORMS = {
    "3.6": (
        "!tt.tensordesc<tensor<4x32xf32>>",
        "<tensor<4x32xf32>>",
        "cacheModifier = ca evictionPolicy = evict_first",
    ),
    "3.7": (
        "!tt.tensordesc<tensor<4x32xf32>>",
        "<tensor<4x32xf32>>",
        "cacheModifier = ca evictionPolicy = evict_first",
    ),
    "3.8": ("!tt.tensordesc<4x32xf32>", "<4x32xf32>", KEYWORDS),
    "3.9": (
        "!tt.tensordesc<4x32xf32>",
        "<4x32xf32>",
        "{cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>}",
    ),
}


@pytest.mark.parametrize("version", FORMS)
def test_each_version_has_its_form(parse: Parse, version: str) -> None:
    descriptor, short, hints = FORMS[version]
    with knobs.scope(triton_version=version):
        text = print_op(parse(OLDEST))
    assert f"tt.load %arg0 {hints} : !tt.ptr<f32>" in text
    assert f" : {descriptor} -> tensor<4x32xf32>" in text
    assert f" : <f32>, {short}" in text
    assert "tt.load %arg0 : !tt.ptr<f32>" in text


def test_all_forms_are_read(parse: Parse) -> None:
    texts: list[str] = []
    for version in FORMS:
        with knobs.scope(triton_version=version):
            texts.append(print_op(parse(OLDEST)))
    assert len(set(texts)) == 3
    assert {print_op(parse(text)) for text in texts} == {texts[-1]}


def test_printing_leaves_the_op_as_it_is(parse: Parse) -> None:
    module = parse(OLDEST)
    (first, _) = [op for op in module.walk() if isinstance(op, tt.LoadOp)]
    print_op(module)
    assert not first.attributes
    assert tt.CacheModifier.of(first.cache) is tt.CacheModifier.CA


@pytest.mark.parametrize(
    ("spaces", "kind"),
    [
        ("local", ttg.LocalBarrierOp),
        ("none", ttg.LocalBarrierOp),
        ("all", gpu.BarrierOp),
        ("global_read|local", gpu.BarrierOp),
    ],
)
def test_barriers_with_memory(parse: Parse, spaces: str, kind: type) -> None:
    module = parse(f"tt.func @k() {{\n  ttg.barrier {spaces}\n  tt.return\n}}")
    assert [type(op) for op in module.walk() if not isinstance(op, ModuleOp | tt.FuncOp | tt.ReturnOp)] == [kind]


def test_named_address_spaces(parse: Parse) -> None:
    module = parse('tt.func @k(%p: !tt.ptr<f32, "constant">, %q: !tt.ptr<f32, "shared">) {\n  tt.return\n}')
    (function,) = [op for op in module.walk() if isinstance(op, tt.FuncOp)]
    assert [argument.type for argument in function.args] == [tt.pointer_type(a, s) for a, s in _pointees(function)]


def _pointees(function: tt.FuncOp) -> list[tuple[object, int]]:
    types = [argument.type for argument in function.args]
    return [(ty.pointee_type, space) for ty, space in zip(types, (1, 3), strict=True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tt.func @k() {\n  ttg.barrier elsewhere\n  tt.return\n}", "expected one of none, local"),
        ('tt.func @k(%p: !tt.ptr<f32, "far">) {\n  tt.return\n}', "unknown address space, expected one of global"),
        (
            "tt.func @k(%p: !tt.ptr<f32>) {\n  %x = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = xx, "
            "eviction_policy = evict_normal>} : !tt.ptr<f32>\n  tt.return\n}",
            "unknown CacheModifier 'xx'",
        ),
    ],
)
def test_mistakes(parse: Parse, text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse(text)
