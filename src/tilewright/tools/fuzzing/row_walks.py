"""Kernels that walk over the columns of rows: statistics that loops carry as scalars, rows and tiles, row after row.

    for c0 in range(0, 77, 32):
        c = c0 + tl.arange(0, 32)
        v = tl.load(a0 + row * n1 + c, mask=c < 77, other=0)
        best = tl.maximum(best, tl.max(tl.where(c < 77, v, float("-inf")), 0))

Rows are of known and unknown length, shorter and longer than a block; walks go forwards, backwards, or are `while`
loops; the last one may write the rows that it reads. What norms, softmax, cross entropy and top-1 consist of.
"""

from __future__ import annotations

from random import Random

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.builder import GUARD, Builder
from tilewright.tools.fuzzing.values import FLOATS, GeneratedKernel

LENGTHS = (1, 3, 7, 12, 16, 17, 31, 33, 40, 46, 50, 63, 64, 65, 77, 96, 100, 127, 128, 130, 200, 255, 257)
BLOCKS = (8, 16, 32, 64, 128)
DTYPES = ("float32", "float32", "float32", "float16", "float64", "int32", "int32", "int64", "int8", "uint8")
WIDER = {"float16": "float32", "int8": "int32", "uint8": "int32"}
"""What is computed in where numbers are narrow."""
LARGEST = 64.0
"""What the floats of arguments stay below, for bounds of rounding."""


@dataclass(frozen=True)
class Statistic:
    """What a walk keeps. In its texts `{v}` is the variable, `{x}` the block as it was loaded, `{zero}`, `{low}` and
    `{high}` the block with that number in masked lanes, `{c0}` its first column."""

    starts: tuple[tuple[str, str, str], ...]
    """For each variable: what follows its name, `row` or `tile`, and what it starts from; those from `index` are
    int32."""
    changes: tuple[str, ...]
    result: str = "{v}"
    is_index: bool = False
    rounds: bool = False
    """Whether the result depends on the order of additions."""


STATISTICS = {
    "sum": Statistic((("", "row", "zero"),), ("{v} = ({v} + tl.sum({zero}, {axis})).to(tl.{acc})",), rounds=True),
    "max": Statistic((("", "row", "low"),), ("{v} = tl.maximum({v}, tl.max({low}, {axis}))",)),
    "min": Statistic((("", "row", "high"),), ("{v} = tl.minimum({v}, tl.min({high}, {axis}))",)),
    "last": Statistic((("", "row", "low"),), ("{v} = tl.max({low}, {axis})",)),
    "count": Statistic(
        (("", "row", "index"),), ("{v} += tl.sum((({x} > 1) & {m}).to(tl.int32), {axis})",), "{v}", True
    ),
    "any": Statistic((("", "row", "index"),), ("{v} |= tl.max(({zero} > 2).to(tl.int32), {axis})",), "{v}", True),
    "argmax": Statistic(
        (("", "row", "index"), ("b", "row", "low")),
        (
            "{v}m, {v}i = tl.max({low}, {axis}, return_indices=True)",
            "{v} = tl.where({v}m > {v}b, {v}i + {c0}, {v})",
            "{v}b = tl.maximum({v}b, {v}m)",
        ),
        is_index=True,
    ),
    "tile sum": Statistic((("", "tile", "zero"),), ("{v} += {zero}",), "tl.sum({v}, {axis})", rounds=True),
    "tile max": Statistic((("", "tile", "low"),), ("{v} = tl.maximum({v}, {low})",), "tl.max({v}, {axis})"),
    "tile argmax": Statistic(
        (("", "tile", "low"), ("i", "tile", "index")),
        ("{v}i = tl.where({low} > {v}, {c0}, {v}i)", "{v} = tl.maximum({v}, {low})"),
        "tl.max({v}i, {axis})",
        is_index=True,
    ),
}
SCANNED = "prefix"
"""A running sum, which is stored block by block."""


class RowWalkGenerator:
    """Writes one kernel. `random` may be Hypothesis's."""

    def __init__(self, random: Random) -> None:
        b = self.b = Builder(random)
        self.w = b.writer
        self.length, self.count, self.block = b.pick(LENGTHS), b.pick((1, 2, 3, 5, 8, 9)), b.pick(BLOCKS)
        self.rows = b.pick((0, 0, 1, 2, 4))
        """How many of them a program walks over together; 0: one, and tiles have one dimension."""
        self.dtype = b.pick(DTYPES)
        self.acc = WIDER.get(self.dtype, self.dtype)
        self.is_float = self.dtype in FLOATS
        self.axis = 1 if self.rows else 0
        stride, self.column = (1, self.count) if b.chance(0.15) else (self.length + b.pick((0, 0, 0, 3, 16)), 1)
        self.reach = (self.count - 1) * stride + (self.length - 1) * self.column + 1
        self.n, self.stride = self._number("n", self.length), self._number("s", stride)
        self.x = b.new_argument(self.dtype, self.reach + GUARD)
        b.programs = -(-self.count // self.rows) if self.rows else b.pick((self.count, 1, 2))
        self.exact: list[str] = []
        """Statistics that no order of additions changes."""

    def generate(self) -> GeneratedKernel:
        """The whole kernel."""
        b, w = self.b, self.w
        if self.rows:
            w.line(f"row = tl.program_id(0) * {self.rows} + tl.arange(0, {self.rows})")
            self._walks()
        else:
            w.line(f"for row in range(tl.program_id(0), {self.count}, {b.programs}):")
            with w.indented():
                self._walks()
        return self._finished()

    def _number(self, name: str, value: int) -> str:
        """A number that the kernel knows, or is given."""
        if self.b.chance(0.6):
            return str(value)
        self.w.scalars[name] = value
        return name

    def _walks(self) -> None:
        wide = self.b.pick(("", ".to(tl.int64)"))
        self.w.line(f"base = (row{wide} * {self.stride})" + ("[:, None]" if self.rows else ""))
        for _ in range(self.b.integer(1, 2)):
            self._walk()
        self._write()

    def _walk(self) -> None:
        b, w = self.b, self.w
        names = (*STATISTICS, SCANNED) if self.acc in ("int32", "int64", "float32") else tuple(STATISTICS)
        kinds = b.random.sample(names, b.integer(1, 3))
        variables = {kind: w.name("v") for kind in kinds}
        for kind, v in variables.items():
            w.features.add(kind)
            for suffix, extent, start in STATISTICS.get(kind, STATISTICS["sum"]).starts:
                w.line(f"{v}{suffix} = {self._start(extent, start)}")
        c0, step = self._open_loop()
        with w.indented():
            texts = self._load_block(c0)
            for kind, v in variables.items():
                if kind == SCANNED:
                    self._scan(v, texts)
                for change in STATISTICS.get(kind, STATISTICS["sum"]).changes:
                    w.line(change.format(v=v, **texts))
            if step:
                w.line(step)
        for kind, v in variables.items():
            self._store(STATISTICS.get(kind, STATISTICS["sum"]), v)

    def _open_loop(self) -> tuple[str, str]:
        """Write the head of a loop over columns; where a block's columns start, and the loop's last line, if any."""
        w, block, blocks = self.w, self.block, f"tl.cdiv({self.n}, {self.block})"
        kind = self.b.pick(("range", "range", "while", "backwards", "blocks"))
        w.features.add(f"walk {kind}")
        if kind == "while":
            w.line("c0 = 0")
        heads = {
            "range": f"for c0 in range(0, {self.n}, {block}):",
            "while": f"while c0 < {self.n}:",
            "backwards": f"for number in range({blocks} - 1, -1, -1):",
            "blocks": f"for number in range({blocks}):",
        }
        w.line(heads[kind])
        return (
            "c0" if kind in ("range", "while") else f"number * {block}",
            f"c0 += {block}" if kind == "while" else "",
        )

    def _start(self, extent: str, start: str) -> str:
        dtype = "int32" if start == "index" else self.acc
        rows = (self.rows,) if self.rows else ()
        shape = (*rows, self.block) if extent == "tile" else rows
        return f"tl.full({list(shape)}, {self._numbers()[start]}, tl.{dtype})"

    def _numbers(self) -> dict[str, str]:
        if self.is_float:
            return {"zero": "0.0", "low": 'float("-inf")', "high": 'float("inf")', "index": "0"}
        return {"zero": "0", "low": "-1000", "high": "1000", "index": "0"}

    def _columns(self, c0: str) -> tuple[str, str]:
        """Write a block's columns and mask; its addresses, and the mask."""
        w, c, m = self.w, self.w.name("c"), self.w.name("m")
        w.line(f"{c} = {c0} + tl.arange(0, {self.block})")
        scaled = c if self.column == 1 else f"({c} * {self.column})"
        if not self.rows:
            w.line(f"{m} = {c} < {self.n}")
            return f"base + {scaled}", m
        w.line(f"{m} = (row < {self.count})[:, None] & ({c} < {self.n})[None, :]")
        return f"base + {scaled}[None, :]", m

    def _load_block(self, c0: str) -> dict[str, str]:
        """Load a block; the texts that statistics are made of."""
        w, x = self.w, self.w.name("x")
        at, m = self._columns(c0)
        other = self.b.pick(("0.0", 'float("-inf")', "2.0") if self.is_float else ("0", "7"))
        w.line(f"{x} = tl.load({self.x.name} + {at}, mask={m}, other={other}).to(tl.{self.acc})")
        texts = {"x": x, "m": m, "at": at, "c0": c0, "axis": str(self.axis), "acc": self.acc}
        for name, number in self._numbers().items():
            texts[name] = f"{x}{name[0]}"
            if name != "index":
                w.line(f"{texts[name]} = tl.where({m}, {x}, {number}).to(tl.{self.acc})")
        return texts

    def _scan(self, v: str, texts: dict[str, str]) -> None:
        out = self.b.new_argument(self.acc, self.reach + GUARD, "fill", self._slack)
        carried = f"{v}[:, None]" if self.rows else v
        text = f"tl.cumsum({texts['zero']}, {self.axis}) + {carried}"
        self.w.line(f"tl.store({out.name} + {texts['at']}, ({text}).to(tl.{self.acc}), mask={texts['m']})")

    @property
    def _slack(self) -> float:
        """By how much sums of a row may differ."""
        return self.length * LARGEST * 2.0**-20 if self.is_float else 0.0

    def _store(self, statistic: Statistic, v: str) -> None:
        """Store what a walk found, a number for each row."""
        w, name = self.w, self.w.name("r")
        w.line(f"{name} = {statistic.result.format(v=v, axis=self.axis)}")
        dtype = "int32" if statistic.is_index else self.acc
        out = self.b.new_argument(dtype, self.count + GUARD, "fill", self._slack if statistic.rounds else 0.0)
        mask = f", mask=row < {self.count}" if self.rows else ""
        w.line(f"tl.store({out.name} + row, {name}.to(tl.{dtype}){mask})")
        if not statistic.is_index and not statistic.rounds:
            self.exact.append(name)

    def _write(self) -> None:
        """The last walk: rows less what is known of them, in place or not."""
        w = self.w
        out = self.x if self.b.chance(0.5) else self.b.new_argument(self.dtype, self.reach + GUARD, "fill")
        c0 = f"number * {self.block}"
        w.line(f"for number in range(tl.cdiv({self.n}, {self.block})):")
        with w.indented():
            texts = self._load_block(c0)
            less = self.b.pick(self.exact) if self.exact else "1"
            less = f"{less}[:, None]" if self.exact and self.rows else less
            text = f"({texts['zero']} - {less})"
            if self.is_float:
                text = f"tl.minimum(tl.maximum({text}, -{LARGEST}), {LARGEST})"
            w.line(f"tl.store({out.name} + {texts['at']}, {text}.to(tl.{self.dtype}), mask={texts['m']})")

    def _finished(self) -> GeneratedKernel:
        b, w = self.b, self.w
        parameters = [*(argument.name for argument in w.arguments), *w.scalars]
        body = "\n".join(f"    {line}" for line in w.lines)
        return GeneratedKernel(
            f"@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n",
            tuple(w.arguments),
            dict(w.scalars),
            (b.programs,),
            {},
            b.random.randrange(1 << 30),
            frozenset(w.features),
        )
