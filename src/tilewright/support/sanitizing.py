"""What the compiler and the runtime agree on about sanitised kernels: the report table, the places, the messages.

A sanitised kernel takes further arguments after its own, in the order of `Extra`: the *table*, an array of i64, and
shadow memory. The table starts with the report, which the first program that finds something fills in, and goes on with
the extent of each pointer argument, in bytes from the argument's address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from tilewright.support.records import dataclass
from tilewright.support.spans import Span

CLAIMED, SITE, KEY, PROGRAM = 0, 1, 2, 3
"""Words of the report: whether there is one, which site, lane and offset, program id in x, y and z (three words)."""

EXTENTS = 8
"""First word of the extents: lowest byte and one past the highest, for each kernel argument (0, 0 for scalars)."""

OFFSET_BITS = 43
"""Low bits of a key: offset of the element from the argument's address in elements, cut to a signed number."""

ASSERTION = "sanitizer"
"""Message of the device assertion that stops the grid after a report."""

BOUNDS, RACE_WRITE, RACE_READ, RACE_ATOMIC = "bounds", "race-write", "race-read", "race-atomic"
UNWRITTEN, UNDEFINED = "unwritten", "undefined"


@dataclass(frozen=True)
class Site:
    """One check of one access: what it looks for, and what the report says about where it is."""

    check: str
    """One of the words above: out of bounds; another program wrote, read, or changed by an atomic; read before any
    write; an undefined lane is stored."""
    access: str
    """`load`, `store` or `atomic`."""
    argument: int
    """Index of the kernel's argument that the address derives from, -1 if it is one of several."""
    shape: tuple[int, ...]
    """Extents of the tile, () for a scalar."""
    element_bytes: int
    filename: str = ""
    line: int = 0
    col: int = 0
    callers: tuple[tuple[str, int, int], ...] = ()
    """Where the functions around the access are called, innermost first: file, line, column."""

    @property
    def span(self) -> Span | None:
        return Span(self.filename, self.line, self.col) if self.filename else None

    @property
    def call_sites(self) -> tuple[Span, ...]:
        return tuple(Span(*place) for place in self.callers)

    def lane(self, number: int) -> tuple[int, ...]:
        """The index in the tile of a lane that is counted in row-major order."""
        index: list[int] = []
        for extent in reversed(self.shape):
            number, rest = divmod(number, extent)
            index.append(rest)
        return tuple(reversed(index))


@dataclass(frozen=True)
class Extra:
    """One further argument: the `table`, or the shadow of a pointer argument: `writers`, `readers`, `atomics`, or
    `written`."""

    kind: str
    argument: int = -1
    element_bytes: int = 0


@dataclass(frozen=True)
class Plan:
    """What a sanitised kernel needs at launch: its further arguments, and its sites by number."""

    extras: tuple[Extra, ...]
    sites: tuple[Site, ...]
    arguments: int
    """How many arguments the kernel has of its own."""

    @property
    def one_thread(self) -> bool:
        """Races are found by running programs one after another: shadow memory is not atomic."""
        return any(extra.kind in ("writers", "readers") for extra in self.extras)

    def to_json(self) -> dict[str, Any]:
        return {
            "extras": [asdict(extra) for extra in self.extras],
            "sites": [asdict(site) for site in self.sites],
            "arguments": self.arguments,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Plan:
        sites = [
            replace(
                Site(**site),
                shape=tuple(site["shape"]),
                callers=tuple((file, line, col) for file, line, col in site["callers"]),
            )
            for site in data["sites"]
        ]
        return Plan(tuple(Extra(**extra) for extra in data["extras"]), tuple(sites), data["arguments"])


def split_key(key: int) -> tuple[int, int]:
    """Lane and element offset out of a key."""
    offset = key & ((1 << OFFSET_BITS) - 1)
    if offset >> (OFFSET_BITS - 1):
        offset -= 1 << OFFSET_BITS
    return key >> OFFSET_BITS, offset


def describe(site: Site, lane: Sequence[int], index: int, argument: str, extent: tuple[int, int], other: str) -> str:
    """One sentence: what happened, where in the tile, to which element of which argument."""
    low, high = extent
    where = f", at {list(lane)} of the tile" if lane else ""
    element = f"element {index} of argument '{argument}'"
    size = f"{high} elements" if low == 0 else f"elements {low} to {high - 1}"
    match site.check:
        case "bounds":
            return f"{site.access} out of bounds: {element}, which has {size}{where}"
        case "race-write" | "race-read" | "race-atomic":
            did = {"race-write": "stored to", "race-read": "loaded", "race-atomic": "changed"}[site.check]
            mine = {"load": "is loaded", "store": "is stored to", "atomic": "is changed by an atomic"}[site.access]
            how = "by an atomic" if site.check == "race-atomic" else "without an atomic"
            return f"race: {element}{where and f'{where},'} {mine} here, and {other} {did} it {how}"
        case "unwritten":
            return f"{site.access} of memory that was never written: {element}, which has {size}{where}"
        case _:
            return f"an undefined value is stored: {element}{where}; it comes from a masked-off lane without 'other'"
