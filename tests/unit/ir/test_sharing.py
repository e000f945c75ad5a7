"""What aliases share stays shared: forty levels, each of which names the one before it twice, take no time."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntAttr, IntegerType, TensorType, f32, i32

from tilewright.dialects import make_context
from tilewright.ir.locations import find_call_sites, find_name, find_span, find_spans
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module

LEVELS = 40
USES_LOCATION = "func.func @f(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32 loc(#LAST)\n  return %y : i32\n}\n"
FORMS = {
    "arrays": ("#a0 = [1]", "#aN = [#aM, #aM]", "module attributes {tt.x = #LAST, tt.y = #LAST} {}"),
    "dictionaries": ("#a0 = {x = 1}", "#aN = {x = #aM, y = #aM}", "module attributes {tt.x = #LAST} {}"),
    "types": ("!a0 = i32", "!aN = tuple<!aM, !aM>", "func.func private @f(!LAST) -> !LAST"),
    "fused locations of nothing": ("#a0 = loc(unknown)", "#aN = loc(fused[#aM, #aM])", USES_LOCATION),
    "fused locations": ('#a0 = loc("f.py":1:2)', "#aN = loc(fused[#aM, #aM])", USES_LOCATION),
    "call sites": ('#a0 = loc("f.py":1:2)', "#aN = loc(callsite(#aM at #aM))", USES_LOCATION),
    "names": ('#a0 = loc("f.py":1:2)', '#aN = loc(fused["x"(#aM), "y"(#aM)])', USES_LOCATION),
}
"""The first alias, each further one, and what uses the last."""


def doubling(form: str, name: str = "a") -> str:
    """A module whose attribute has 2 to the power of `LEVELS` leaves as a tree."""
    first, following, use = FORMS[form]
    lines = [following.replace("N", str(n)).replace("M", str(n - 1)) for n in range(1, LEVELS + 1)]
    aliases = "\n".join([first, *lines]).replace("#a", f"#{name}").replace("!a", f"!{name}")
    return f"{aliases}\n{use.replace('LAST', f'{name}{LEVELS}')}"


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("locations", [False, True], ids=["plain", "locations"])
def test_doubling_aliases_are_read_and_printed(form: str, locations: bool) -> None:
    module = parse_module(doubling(form), make_context(), "doubling.mlir")
    parse_pipeline("cse,canonicalize").run(module)
    verify_module(module)
    text = print_op(module, locations=locations)
    assert len(text) < 500_000
    again = parse_module(text, make_context(), "again.mlir")
    assert print_op(again, locations=locations) == text


def test_equal_attributes_that_are_not_shared_are_compared_once() -> None:
    first, second = (parse_module(doubling("arrays", name), make_context()) for name in ("a", "b"))
    left, right = first.attributes["tt.x"], second.attributes["tt.x"]
    assert left is not right and left == right and hash(left) == hash(right)
    assert len(str(left)) < 100_000, "a text for messages has an end"


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("arrays", "dictionaries", "types")])
def test_places_of_shared_locations_are_found(form: str) -> None:
    module = parse_module(doubling(form), make_context())
    location = next(op.location for op in module.walk() if op.name == "arith.addi")
    known = "nothing" not in form
    assert (find_span(location) is not None) == known
    assert len(find_spans(location)) == (1 if known else 0)
    assert (find_name(location) is not None) == (form == "names")
    assert len(find_call_sites(location)) <= 1000


def test_types_are_hashed_once_and_equal_ones_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes: list[int] = []
    of_number = IntAttr.__hash__

    def counting(self: IntAttr) -> int:
        hashes.append(self.data)
        return of_number(self)

    monkeypatch.setattr(IntAttr, "__hash__", counting)
    one, other = IntegerType(12345), IntegerType(12345)
    assert hash(one) == hash(one) == hash(other) and one == other
    assert hashes == [12345, 12345]
    types = [TensorType(element, [16, 8]) for element in (i32, IntegerType(32), f32)]
    assert hash(types[0]) == hash(types[1]) and len(set(types)) == 2
