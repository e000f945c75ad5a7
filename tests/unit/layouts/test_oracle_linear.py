"""LinearLayout against official Triton's class of that name, where the package is installed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import invertible_layouts, layouts, quick

from tilewright.layouts.linear import LinearLayout

libtriton = pytest.importorskip("triton._C.libtriton", reason="official Triton is not installed")
Oracle: Any = libtriton.linear_layout.LinearLayout


def theirs(layout: LinearLayout) -> Any:
    bases = [(name, [list(vector) for vector in vectors]) for name, vectors in layout.bases]
    return Oracle.from_bases(bases, list(layout.out_dims), list(layout.out_dims.values()), False)


def same(layout: LinearLayout, oracle: Any) -> bool:
    bases = tuple((name, tuple(tuple(vector) for vector in vectors)) for name, vectors in oracle.bases)
    return layout.bases == bases and tuple(layout.out_dims.items()) == tuple((n, s) for n, s in oracle.out_dims)


@quick
@given(layouts())
def test_queries(layout: LinearLayout) -> None:
    oracle = theirs(layout)
    assert same(layout, oracle)
    assert layout.is_surjective == oracle.is_surjective()
    assert layout.is_injective == oracle.is_injective()
    assert layout.is_invertible == oracle.is_invertible()


@quick
@given(layouts(), st.data())
def test_apply(layout: LinearLayout, data: st.DataObject) -> None:
    index = {name: data.draw(st.integers(0, size - 1)) for name, size in layout.in_dims.items()}
    assert layout.apply(index) == theirs(layout).apply(index)


@quick
@given(invertible_layouts())
def test_inverses(layout: LinearLayout) -> None:
    assert same(layout.invert(), theirs(layout).invert())


@quick
@given(layouts(max_out_bits=1))
def test_pseudoinverse(layout: LinearLayout) -> None:
    if layout.is_surjective:
        assert same(layout.pseudoinvert(), theirs(layout).pseudoinvert())


@quick
@given(invertible_layouts(), invertible_layouts(ins=("dim0", "dim1"), outs=("x", "y")))
def test_compose(inner: LinearLayout, outer: LinearLayout) -> None:
    if inner.out_dims == outer.in_dims:
        assert same(inner.compose(outer), theirs(inner).compose(theirs(outer)))


@quick
@given(invertible_layouts(), invertible_layouts(), st.integers(0, 3), st.integers(0, 3))
def test_invert_and_compose(layout: LinearLayout, outer: LinearLayout, more: int, fewer: int) -> None:
    if layout.out_dims != outer.out_dims:
        return
    outer *= LinearLayout.zeros_1d(1 << more, "register", "dim0")
    layout *= LinearLayout.zeros_1d(1 << fewer, "lane", "dim1")
    shared = [name for name, columns in layout.packed_bases.items() if outer.packed_bases.get(name) == columns]
    conversion = layout.invert_and_compose(outer)
    if conversion.quotient(shared) is not None:
        assert same(conversion, theirs(layout).invert_and_compose(theirs(outer)))


@pytest.mark.parametrize("size, stride", [(1, 1), (1, 4), (4, 1), (4, 2), (8, 16)])
def test_constructors(size: int, stride: int) -> None:
    assert same(LinearLayout.strided_1d(size, stride, "i", "o"), Oracle.strided_1d(size, stride, "i", "o"))
    assert same(LinearLayout.identity_1d(size, "i", "o"), Oracle.identity_1d(size, "i", "o"))
    assert same(LinearLayout.zeros_1d(size, "i", "o", stride), Oracle.zeros_1d(size, "i", "o", stride))
