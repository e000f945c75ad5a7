"""Every operation of LinearLayout against enumeration of all indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import INS, OUTS, enumerate_layout, invertible_layouts, layouts, point, quick

from tilewright.layouts.linear import LinearLayout, identity_nd

any_layout = layouts()


def indices_at(layout: LinearLayout, position: int) -> dict[str, int]:
    """The index along each in-dim at a position of the layout's table, the first in-dim most minor."""
    indices: dict[str, int] = {}
    for name, size in layout.in_dims.items():
        position, indices[name] = divmod(position, size)
    return indices


@quick
@given(any_layout)
def test_apply_on_ints_arrays_and_table(layout: LinearLayout) -> None:
    meaning = enumerate_layout(layout)
    for source, target in meaning.items():
        assert point(layout.apply(dict(source))) == target
    arrays = {name: np.array([dict(source)[name] for source in meaning]) for name in layout.in_dims}
    outputs = layout.apply(arrays)
    for name, values in outputs.items():
        assert np.broadcast_to(values, len(meaning)).tolist() == [dict(target)[name] for target in meaning.values()]
    for index, packed in enumerate(layout.table):
        assert layout.unpack(int(packed)) == tuple(layout.apply(indices_at(layout, index)).values())


@quick
@given(any_layout)
def test_queries(layout: LinearLayout) -> None:
    meaning = enumerate_layout(layout)
    outputs = set(meaning.values())
    assert layout.is_injective == (len(outputs) == len(meaning))
    assert layout.is_surjective == (len(outputs) == 1 << layout.out_bits)
    assert layout.is_invertible == (layout.is_injective and layout.is_surjective)


@quick
@given(any_layout)
def test_free_variables_repeat_elements(layout: LinearLayout) -> None:
    meaning = enumerate_layout(layout)
    masks = layout.free_variable_masks
    held = [target for source, target in meaning.items() if not any(dict(source)[d] & masks[d] for d in masks)]
    assert len(held) == len(set(held)) and set(held) == set(meaning.values())


@quick
@given(layouts(sparse=True))
def test_consecutive_run(layout: LinearLayout) -> None:
    first = next(iter(layout.in_dims))
    table = layout.transpose_ins([first, *[d for d in layout.in_dims if d != first]]).table
    run = layout.num_consecutive_in_out
    groups = table.reshape(-1, run)
    assert (groups == groups[:, :1] + np.arange(run)).all() and (groups[:, 0] % run == 0).all()
    if 2 * run <= layout.in_dims[first]:
        wider = table.reshape(-1, 2 * run)
        assert not ((wider == wider[:, :1] + np.arange(2 * run)).all() and (wider[:, 0] % (2 * run) == 0).all())


@quick
@given(layouts(max_in_bits=2), layouts(max_in_bits=2))
def test_product_is_tiling(low: LinearLayout, high: LinearLayout) -> None:
    both = low * high
    assert set(both.in_dims) == {*low.in_dims, *high.in_dims}
    meaning = enumerate_layout(both)
    inputs = {name: np.array([dict(source)[name] for source in meaning]) for name in both.in_dims}
    lows = {name: inputs[name] % size for name, size in low.in_dims.items()}
    highs = {name: inputs[name] // low.in_dims.get(name, 1) for name in high.in_dims}
    inner, outer = low.apply(lows), high.apply(highs)
    for name in both.out_dims:
        values = inner.get(name, 0) + outer.get(name, 0) * low.out_dims.get(name, 1)
        assert np.broadcast_to(values, len(meaning)).tolist() == [dict(target)[name] for target in meaning.values()]


def test_product_keeps_both_orders() -> None:
    left = LinearLayout.identity_1d(4, "a", "x") * LinearLayout.identity_1d(2, "a", "z")
    right = LinearLayout.identity_1d(2, "b", "y") * LinearLayout.identity_1d(2, "b", "z")
    assert list((left * right).out_dims) == ["x", "y", "z"]
    assert list((left * right).in_dims) == ["a", "b"]


@quick
@given(layouts(outs=("x", "y", "z")), st.data())
def test_compose(inner: LinearLayout, data: st.DataObject) -> None:
    middle = tuple(inner.out_dims)
    widths = [(name, size.bit_length() - 1 + data.draw(st.integers(0, 1))) for name, size in inner.out_dims.items()]
    columns = [(name, data.draw(st.lists(st.integers(0, 15), min_size=bits, max_size=bits))) for name, bits in widths]
    outer = LinearLayout(data.draw(st.permutations(columns)), [("dim0", 2), ("dim1", 2)])
    composed = inner.compose(outer)
    assert composed.in_dims == inner.in_dims and composed.out_dims == outer.out_dims and middle
    for source, target in enumerate_layout(composed).items():
        assert point(outer.apply(inner.apply(dict(source)))) == target


@quick
@given(invertible_layouts())
def test_invert(layout: LinearLayout) -> None:
    inverse = layout.invert()
    back = {target: source for source, target in enumerate_layout(layout).items()}
    assert enumerate_layout(inverse) == back
    assert inverse.invert() == layout


@quick
@given(any_layout)
def test_pseudoinvert(layout: LinearLayout) -> None:
    if not layout.is_surjective:
        with pytest.raises(ValueError, match="surjective"):
            layout.pseudoinvert()
        return
    for source, target in enumerate_layout(layout.pseudoinvert()).items():
        assert point(layout.apply(dict(target))) == source
        assert not any(value & layout.free_variable_masks[name] for name, value in target)


@quick
@given(layouts(outs=("dim0", "dim1")), layouts(outs=("dim0", "dim1")))
def test_invert_and_compose(layout: LinearLayout, outer: LinearLayout) -> None:
    if set(layout.out_dims) != set(outer.out_dims):
        with pytest.raises(ValueError, match="out-dims differ"):
            layout.invert_and_compose(outer)
        return
    reached = set(enumerate_layout(outer).values())
    try:
        conversion = layout.invert_and_compose(outer)
    except ValueError:
        assert not set(enumerate_layout(layout).values()) <= reached
        return
    for source, target in enumerate_layout(conversion).items():
        assert point(outer.apply(dict(target))) == point(layout.apply(dict(source)))
    aligned = layout.transpose_outs(outer.out_dims)
    for name, size in layout.in_dims.items():
        if size == outer.in_dims.get(name) and aligned.bases_of(name) == outer.bases_of(name):
            own = conversion.sublayout([name], [name])
            assert own == LinearLayout.identity_1d(size, name, name)
            assert conversion.is_zero([name], [other for other in outer.in_dims if other != name])


@quick
@given(invertible_layouts(), invertible_layouts())
def test_invert_and_compose_of_full_layouts(layout: LinearLayout, outer: LinearLayout) -> None:
    layout = layout.reshape_outs(list(outer.out_dims.items()))
    assert layout.invert_and_compose(outer).compose(outer) == layout
    assert outer.invert_and_compose(layout).compose(layout) == outer


def test_equal_dims_go_to_themselves_where_the_rest_can_do_without() -> None:
    outer = LinearLayout.from_bases({"r": [[2]], "l": [[3]]}, ["x"])
    layout = LinearLayout.from_bases({"r": [[2]], "l": [[1]]}, ["x"])
    assert layout.invert_and_compose(outer).bases == (("r", ((1, 0),)), ("l", ((1, 1),)))


@quick
@given(any_layout, any_layout)
def test_division_undoes_products(left: LinearLayout, right: LinearLayout) -> None:
    both = left * right
    rest = both.divide_left(left)
    assert rest is not None
    assert (left * rest).transpose_outs(both.out_dims).transpose_ins(both.in_dims) == both


@quick
@given(layouts(sparse=True), layouts(sparse=True, max_in_bits=1, max_out_bits=1))
def test_quotients_are_true(layout: LinearLayout, divisor: LinearLayout) -> None:
    rest = layout.divide_left(divisor)
    if rest is not None:
        assert (divisor * rest).transpose_ins(layout.in_dims).transpose_outs(layout.out_dims) == layout


def test_division_refuses_what_does_not_divide() -> None:
    layout = LinearLayout.from_bases({"r": [[1], [4], [2]]}, ["x"])
    assert layout.divide_left(LinearLayout.identity_1d(2, "r", "x")) == LinearLayout.from_bases(
        {"r": [[2], [1]]}, ["x"]
    )
    assert layout.divide_left(LinearLayout.identity_1d(4, "r", "x")) is None
    assert layout.divide_left(LinearLayout.identity_1d(2, "l", "x")) is None
    mixed = LinearLayout.from_bases({"r": [[1], [3]]}, ["x"])
    assert mixed.divide_left(LinearLayout.identity_1d(2, "r", "x")) is None


def test_quotient_and_trivial_dims() -> None:
    tile = LinearLayout.from_bases({"lane": [[2], [1]]}, ["lane"])
    layout = LinearLayout.identity_1d(4, "register", "register") * tile * LinearLayout.identity_1d(8, "warp", "warp")
    assert layout.quotient(["lane"]) is None
    assert layout.quotient(["register", "warp"]) == tile
    assert layout.quotient(["block"]) is None
    leaky = LinearLayout.from_bases({"a": [[1, 0]], "b": [[1, 1]]}, ["a", "b"])
    assert leaky.quotient(["a"]) is None and leaky.quotient(["b"]) is None


@quick
@given(any_layout, st.data())
def test_sublayout(layout: LinearLayout, data: st.DataObject) -> None:
    ins = data.draw(st.sets(st.sampled_from(INS)))
    outs = data.draw(st.sets(st.sampled_from(OUTS)))
    part = layout.sublayout(ins, outs)
    for source, target in enumerate_layout(part).items():
        whole = layout.apply({name: dict(source).get(name, 0) for name in layout.in_dims})
        assert point({name: value for name, value in whole.items() if name in outs}) == target
    assert layout.is_zero(ins, outs) == (not any(value for t in enumerate_layout(part).values() for _, value in t))


@pytest.mark.costly
@quick
@given(any_layout, st.data())
def test_resize(layout: LinearLayout, data: st.DataObject) -> None:
    size = 1 << data.draw(st.integers(0, 4))
    out = data.draw(st.sampled_from(list(layout.out_dims)))
    narrowed = layout.resize_out_dim(out, size)
    assert narrowed.out_dims == {**layout.out_dims, out: size}
    for source, target in enumerate_layout(narrowed).items():
        outputs = layout.apply(dict(source))
        outputs[out] %= size
        assert point(outputs) == target


@quick
@given(any_layout, st.data())
def test_renaming_and_order(layout: LinearLayout, data: st.DataObject) -> None:
    renamed = layout.rename_outs({name: name.upper() for name in layout.out_dims})
    upper = lambda p: point({name.upper(): value for name, value in p})  # noqa: E731
    assert enumerate_layout(renamed) == {s: upper(t) for s, t in enumerate_layout(layout).items()}
    ins, outs = data.draw(st.permutations(list(layout.in_dims))), data.draw(st.permutations(list(layout.out_dims)))
    turned = layout.transpose_ins(ins).transpose_outs(outs)
    assert enumerate_layout(turned) == enumerate_layout(layout)
    assert list(turned.in_dims) == ins and list(turned.out_dims) == outs


@quick
@given(any_layout, st.data())
def test_reshape(layout: LinearLayout, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, layout.out_bits))
    reshaped = layout.reshape_outs([("p", 1 << cut), ("q", 1 << layout.out_bits - cut)])
    for index, packed in enumerate(layout.table):
        assert reshaped.apply(indices_at(layout, index)) == {"p": packed % (1 << cut), "q": packed >> cut}
    assert reshaped.flatten_outs("y") == layout.flatten_outs("y")


@quick
@given(any_layout, any_layout)
def test_concat(left: LinearLayout, right: LinearLayout) -> None:
    outs = [(name, size.bit_length() - 1) for name, size in right.out_dims.items()]
    ins = LinearLayout(((name + "'", columns) for name, columns in right.packed_bases.items()), outs)
    if tuple(left.out_dims.items()) == tuple(right.out_dims.items()):
        both = left.concat_ins(ins)
        assert both.sublayout(left.in_dims, left.out_dims) == left
        assert both.sublayout(ins.in_dims, ins.out_dims) == ins


@quick
@given(any_layout)
def test_small_bookkeeping(layout: LinearLayout) -> None:
    assert layout.unsqueeze_out("new").out_dims == {**layout.out_dims, "new": 1}
    for name in layout.in_dims:
        slim = layout.remove_zero_bases_along(name)
        assert 0 not in slim.packed_bases[name]
        assert set(enumerate_layout(slim).values()) == set(enumerate_layout(layout).values())


@quick
@given(any_layout, any_layout)
def test_equality_and_hash(left: LinearLayout, right: LinearLayout) -> None:
    again = LinearLayout.from_bases(dict(left.bases), left.out_dims, surjective=False)
    assert again == left and hash(again) == hash(left)
    if left == right:
        assert enumerate_layout(left) == enumerate_layout(right)


def test_constructors() -> None:
    assert LinearLayout.identity_1d(8, "i", "o").bases == (("i", ((1,), (2,), (4,))),)
    assert LinearLayout.strided_1d(4, 2, "i", "o").bases == (("i", ((2,), (4,))),)
    assert LinearLayout.strided_1d(4, 2, "i", "o").out_dims == {"o": 8}
    assert LinearLayout.zeros_1d(4, "i", "o", 2).bases == (("i", ((0,), (0,))),)
    assert LinearLayout.zeros_1d(4, "i", "o", 2).out_dims == {"o": 2}
    assert identity_nd("i", [2, 4], [1, 0], ["x", "y"]).bases_of("i") == ((1, 0), (2, 0), (0, 1))
    assert LinearLayout.from_bases({"i": [[1, 0], [0, 3], [0, 1]]}, ["x", "y"]).out_dims == {"x": 2, "y": 4}


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LinearLayout.identity_1d(3, "i", "o"), "power of two, got 3"),
        (lambda: LinearLayout.from_bases({"i": [[2]]}, ["o"]), "not surjective"),
        (lambda: LinearLayout.from_bases({"i": [[4]]}, {"o": 4}), r"basis \[4\] of i does not fit o of size 4"),
        (lambda: LinearLayout.from_bases({"i": [[1, 0]]}, ["o"]), "a coordinate for each of"),
        (lambda: LinearLayout([("i", []), ("i", [])], [("o", 0)]), "in-dim names must differ"),
        (lambda: LinearLayout.identity_1d(2, "i", "o").transpose_ins(["j"]), "not an order of"),
        (lambda: LinearLayout.identity_1d(2, "i", "o").reshape_outs([("a", 4)]), "do not hold 2 outputs"),
        (lambda: LinearLayout.identity_1d(2, "i", "o").apply({"j": 1}), "expected an index for each of"),
        (lambda: LinearLayout.zeros_1d(2, "i", "o").invert(), "no inverse"),
    ],
)
def test_misuse_is_explained(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
