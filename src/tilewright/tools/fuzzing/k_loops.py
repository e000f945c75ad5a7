"""The forms that loops over K have: by blocks and by elements, backwards, by every second block, nested, `while`."""

from __future__ import annotations

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.builder import Builder


@dataclass(frozen=True)
class KLoop:
    """A loop over K, and how the first element of a round's block follows from it."""

    opening: tuple[str, ...]
    """Lines before the body; each that ends in a colon is a level."""
    start: str
    """The first element of the first round."""
    step: str
    """Elements from one round to the next."""
    element: str
    """The first element of a round."""
    closing: str = ""
    """The last line of a round."""
    may_pass: bool = False
    """Whether rounds may begin past the last element."""


KINDS = ("blocks", "blocks", "elements", "staged", "unrolled", "backwards", "strided", "while", "nested")


def k_loop(b: Builder, depth: int, block: int) -> KLoop:
    """Some loop over `depth` elements by blocks, whose length is a constant or known at run time."""
    whole = -(-depth // block)
    length = str(depth)
    if b.chance(0.4):
        length = "nk"
        b.writer.scalars[length] = depth
    blocks = b.pick((str(whole), f"tl.cdiv({length}, {block})"))
    kind = b.pick(KINDS)
    b.writer.features.add(f"k loop: {kind}")
    by_block = str(block)
    match kind:
        case "blocks":
            first = b.pick(("0", "0", "tl.minimum(n0, 1)"))
            return KLoop((f"for k in range({first}, {blocks}):",), f"{first} * {block}", by_block, f"k * {block}")
        case "elements":
            return KLoop((f"for k in range(0, {length}, {block}):",), "0", by_block, "k")
        case "staged":
            stages = b.pick((1, 2, 3))
            line = f"for k in tl.range(0, {blocks}, num_stages={stages}):"
            return KLoop((line,), "0", by_block, f"k * {block}")
        case "unrolled":
            return KLoop((f"for k in tl.static_range({whole}):",), "0", by_block, f"k * {block}")
        case "backwards":
            line = f"for k in range({blocks} - 1, -1, -1):"
            return KLoop((line,), f"({blocks} - 1) * {block}", f"(-{block})", f"k * {block}")
        case "strided":
            first = b.pick(("0", "1", "(pid % 2)"))
            line = f"for k in range({first}, {blocks}, 2):"
            return KLoop((line,), f"{first} * {block}", str(2 * block), f"k * {block}")
        case "while":
            return KLoop(("k = 0", f"while k < {length}:"), "0", by_block, "k", f"k += {block}")
        case _:
            half = -(-whole // 2)
            lines = ("for outer in range(2):", f"for inner in range({half}):")
            return KLoop(lines, "0", by_block, f"(outer * {half} + inner) * {block}", may_pass=True)
