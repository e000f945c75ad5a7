"""Random linear layouts, and their meaning by enumeration."""

from __future__ import annotations

from itertools import product

from hypothesis import settings
from hypothesis import strategies as st

from tilewright.layouts.linear import LinearLayout

INS = ("register", "lane", "warp", "block")
OUTS = ("dim0", "dim1", "dim2")

Point = tuple[tuple[str, int], ...]

quick = settings(deadline=None, max_examples=60)
"""Examples enough for maps of a few bits, on machines of any speed."""


@st.composite
def layouts(
    draw: st.DrawFn,
    *,
    ins: tuple[str, ...] = INS,
    outs: tuple[str, ...] = OUTS,
    max_in_bits: int = 3,
    max_out_bits: int = 3,
    sparse: bool = False,
) -> LinearLayout:
    """Any linear map between some of `ins` and some of `outs`; with `sparse`, many bases are zero or of one bit."""
    in_names = draw(st.permutations(ins).map(lambda names: names[: max(1, len(names) - 1)]))
    out_names = draw(st.permutations(outs).map(lambda names: names[: max(1, len(names) - 1)]))
    widths = [(name, draw(st.integers(0, max_out_bits))) for name in out_names]
    total = sum(bits for _, bits in widths)
    anything = st.integers(0, (1 << total) - 1)
    unit = st.sampled_from([0, *(1 << bit for bit in range(total))])
    column = unit if sparse else st.one_of(unit, anything)
    columns = [(name, draw(st.lists(column, max_size=max_in_bits))) for name in in_names]
    return LinearLayout(columns, widths)


@st.composite
def invertible_layouts(
    draw: st.DrawFn,
    ins: tuple[str, ...] = ("register", "lane"),
    outs: tuple[str, ...] = ("dim0", "dim1"),
    bits: int = 6,
) -> LinearLayout:
    """Any one-to-one linear map with `bits` bits on each side."""
    columns = list(draw(st.permutations([1 << bit for bit in range(bits)])))
    for _ in range(draw(st.integers(0, 8))):
        source, target = draw(st.integers(0, bits - 1)), draw(st.integers(0, bits - 1))
        if source != target:
            columns[target] ^= columns[source]
    in_cut, out_cut = draw(st.integers(0, bits)), draw(st.integers(0, bits))
    return LinearLayout(
        [(ins[0], columns[:in_cut]), (ins[1], columns[in_cut:])], [(outs[0], out_cut), (outs[1], bits - out_cut)]
    )


def enumerate_layout(layout: LinearLayout) -> dict[Point, Point]:
    """Every input with its output, by the definition: the XOR of the basis vectors of the set bits."""
    names = list(layout.in_dims)
    result: dict[Point, Point] = {}
    for values in product(*(range(layout.in_dims[name]) for name in names)):
        output = [0] * len(layout.out_dims)
        for (_, vectors), value in zip(layout.bases, values, strict=True):
            for bit, vector in enumerate(vectors):
                if value >> bit & 1:
                    output = [a ^ b for a, b in zip(output, vector, strict=True)]
        result[point(dict(zip(names, values, strict=True)))] = point(dict(zip(layout.out_dims, output, strict=True)))
    return result


def point(coordinates: dict[str, int]) -> Point:
    """A dictionary as a key, whatever its order."""
    return tuple(sorted(coordinates.items()))
