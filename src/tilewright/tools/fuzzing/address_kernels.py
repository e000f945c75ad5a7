"""Kernels of address and mask algebra, of control flow that returns at any depth, and of dots in loops over K.

They are small, and most of what they do decides where memory is read: what optimising passes have plans for. Each one
is compared with the reference on two ways down the CPU, with these passes and by the baseline, and some on a simulated
GPU.
"""

from __future__ import annotations

from random import Random

from tilewright.tools.fuzzing.builder import GUARD, Builder
from tilewright.tools.fuzzing.dot_loops import dot_loop
from tilewright.tools.fuzzing.indices import Index, Indices
from tilewright.tools.fuzzing.returning import returning_function
from tilewright.tools.fuzzing.values import Argument, GeneratedKernel

SHAPES: tuple[tuple[int, ...], ...] = (
    *((8,), (16,), (32,), (64,), (64,), (128,), (256,)),
    *((4, 8), (16, 16), (8, 32), (32, 16), (2, 64), (64, 4)),
)
MAX_DEPTH = 3
DTYPES = ("int32", "int32", "float32", "int8", "float16", "int64")


class AddressKernelGenerator:
    """Writes one kernel. `random` may be Hypothesis's."""

    def __init__(self, random: Random, statements: int = 3) -> None:
        b = self.b = Builder(random)
        self.w = b.writer
        self.statements = statements
        self.left = b.integer(statements, 3 * statements)
        """Statements that may still be written, those in branches and loops among them."""
        self.has_dots = b.chance(0.25)
        b.shape = b.pick(((16, 16), (32, 16), (32, 32)) if self.has_dots else SHAPES)
        b.tile = b.shape[0] * (b.shape[1] if len(b.shape) == 2 else 1)
        b.programs, b.programs_y = b.pick((1, 2, 4)), 1
        self.tiles: list[str] = []
        """Variables that hold a tile of int32."""
        self.indices = Indices(b, [], [])

    def generate(self) -> GeneratedKernel:
        """The whole kernel."""
        b = self.b
        self._prologue()
        for _ in range(b.integer(2, self.statements)):
            self._statement(0)
        if self.has_dots:
            dot_loop(b, self.indices)
        for tile in self.tiles[-2:]:
            self._store(tile)
        return self._finished()

    def _prologue(self) -> None:
        b, w = self.b, self.w
        w.line("pid = tl.program_id(0)")
        scalars = [Index("pid", 0, b.programs - 1)]
        for position, most in enumerate((9, 40, 130)):
            name, value = f"n{position}", b.integer(0, most)
            w.scalars[name] = value
            scalars.append(Index(name, value, value))
        names = ("[:, None]", "[None, :]") if len(b.shape) == 2 else ("",)
        lanes: list[Index] = []
        for dim, (extent, subscript) in enumerate(zip(b.shape, names, strict=True)):
            w.line(f"x{dim} = tl.arange(0, {extent}){subscript}")
            lanes.append(Index(f"x{dim}", 0, extent - 1))
        if b.chance(0.5):
            w.line(f"g0 = pid * {b.shape[0]} + x0")
            lanes[0] = Index("g0", 0, b.programs * b.shape[0] - 1)
        if b.chance(0.3):
            loaded = b.new_argument("int32", b.programs, "index:10")
            w.line(f"s = tl.load({loaded.name} + pid)")
            scalars.append(Index("s", 0, 9))
        self.indices = Indices(b, lanes, scalars)
        self._load()

    # Statements

    def _statement(self, depth: int) -> None:
        b = self.b
        self.left -= 1
        simple = [(5, self._load), (4, self._name_index), (3, self._store_index), (3, self._change), (2, self._put)]
        simple += [(1, self._call), (1, self._walk)]
        nested = [(3, self._branch), (2, self._loop), (1, self._search)] if depth < MAX_DEPTH and self.left > 1 else []
        kind = b.weighted([*((w, (f, False)) for w, f in simple), *((w, (f, True)) for w, f in nested)])
        if kind[1]:
            kind[0](depth)  # pyright: ignore[reportCallIssue]
        else:
            kind[0]()  # pyright: ignore[reportCallIssue]

    def _tile_text(self) -> str:
        """An index of the whole tile, of one dimension at times."""
        return self.indices.index().text

    def _whole(self, text: str) -> str:
        """An expression of one dimension's lanes as one of the whole tile."""
        return f"({text} + tl.zeros({self.b.shape_text()}, tl.int32))"

    def _name_index(self) -> None:
        index = self.indices.index()
        name = self.w.name("j")
        self.w.line(f"{name} = {index.text}")
        self.indices.named.append(Index(name, index.low, index.high))

    def _address(self) -> tuple[Argument, str]:
        """A pointer to memory that holds all that an index may say, and an index."""
        b, index = self.b, self.indices.index()
        same = [a for a in b.buffers if a.count >= index.width]
        if same and b.chance(0.4):
            argument = b.pick(same)
        else:
            argument = b.new_argument(b.pick(DTYPES), index.width + b.integer(0, 9))
            b.buffers.append(argument)
        shift = f" - ({index.low})" if index.low else ""
        return argument, f"{argument.name} + ({index.text}{shift})"

    def _load(self) -> None:
        """A tile from any addresses, with or without a mask."""
        argument, address = self._address()
        mask, b = "", self.b
        if b.chance(0.6):
            mask = f", mask={self.indices.condition()}, other={b.integer(0, 3)}"
            if len(b.shape) == 2:
                address = self._spread(address)
        loaded = f"tl.load({address}{mask})"
        if argument.dtype == "float16":
            loaded = f"({loaded} * 4)"
        name = self.w.name("v")
        self.w.line(f"{name} = {self._whole(f'{loaded}.to(tl.int32)')}")
        self.tiles.append(name)

    def _spread(self, address: str) -> str:
        """Pointers to as many elements as the mask has: one of a whole tile."""
        return f"{address} + tl.zeros({self.b.shape_text()}, tl.int32)"

    def _own(self) -> tuple[str, Argument]:
        b = self.b
        buffer = b.new_argument("int32", b.tile * b.programs + 2 * GUARD, "fill")
        index = f"x0 * {b.shape[1]} + x1" if len(b.shape) == 2 else "x0"
        return f"{buffer.name} + {GUARD} + pid * {b.tile} + {index}", buffer

    def _store(self, text: str) -> None:
        """A tile to the program's own part of an array, under a mask at times."""
        address, _ = self._own()
        mask = f", mask={self.indices.condition()}" if self.b.chance(0.4) else ""
        self.w.line(f"tl.store({address}, {text}{mask})")

    def _store_index(self) -> None:
        self._store(self._whole(f"{self._tile_text()}.to(tl.int32)"))

    def _put(self) -> None:
        self._store(self.b.pick(self.tiles))

    def _change(self) -> None:
        """A variable takes another value."""
        b = self.b
        tile = b.pick(self.tiles)
        forms = (
            f"{tile} + {self._tile_text()}.to(tl.int32)",
            f"tl.where({self.indices.condition()}, {tile}, {b.pick(self.tiles)})",
            f"{tile} * {b.integer(2, 5)} - {b.pick(self.tiles)}",
            f"tl.where({self.indices.scalar_condition()}, {tile}, {b.integer(0, 5)})",
        )
        self.w.line(f"{tile} = {b.pick(forms)}")

    def _call(self) -> None:
        """A variable goes through a function."""
        b, scalar = self.b, self.indices.scalar
        tile = b.pick(self.tiles)
        name = returning_function(b)
        self.w.line(f"{tile} = {name}({tile}, {b.pick(self.tiles)}, {scalar().text}, {scalar().text})")

    def _walk(self) -> None:
        """Pointers that a loop moves on."""
        b, w, index = self.b, self.w, self.indices.index()
        rounds, step = b.integer(1, 4), b.pick((1, 8, 24, 64))
        argument = b.new_argument(b.pick(DTYPES[:3]), index.width + rounds * step)
        pointer, tile = w.name("p"), w.name("v")
        w.line(f"{pointer} = {self._spread(f'{argument.name} + ({index.text} - ({index.low}))')}")
        w.line(f"{tile} = tl.zeros({b.shape_text()}, tl.int32)")
        count = b.pick((str(rounds), f"tl.minimum(n1, {rounds})"))
        w.line(f"for {w.name('i')} in range({count}):")
        mask = f", mask={self.indices.condition()}, other=1" if b.chance(0.6) else ""
        with w.indented():
            w.line(f"{tile} += tl.load({pointer}{mask}).to(tl.int32)")
            w.line(f"{pointer} += {step}")
        self.tiles.append(tile)
        w.features.add("walk")

    # Control flow

    def _block(self, depth: int, may_return: bool = True) -> None:
        """Statements whose new names are not used afterwards; a return may follow."""
        tiles, named, scalars = len(self.tiles), len(self.indices.named), len(self.indices.scalars)
        with self.w.indented():
            for _ in range(min(self.b.integer(1, 3), self.left)):
                self._statement(depth + 1)
            if self.left <= 0 or self.b.chance(0.6):
                self._change()
            if may_return and self.b.chance(0.3):
                self.w.line("return")
                self.w.features.add("return")
        del self.tiles[tiles:], self.indices.named[named:], self.indices.scalars[scalars:]

    def _branch(self, depth: int) -> None:
        may_return = self._loops == 0
        self.w.line(f"if {self.indices.scalar_condition()}:")
        self._block(depth, may_return)
        for _ in range(self.b.integer(0, 1)):
            self.w.line(f"elif {self.indices.scalar_condition()}:")
            self._block(depth, may_return)
        if self.b.chance(0.4):
            self.w.line("else:")
            self._block(depth, may_return)

    _loops = 0

    def _loop(self, depth: int) -> None:
        """A loop with a counter, and an index that it moves."""
        b, w = self.b, self.w
        trips, step = b.integer(0, 4), b.pick((1, 1, 2, 8))
        counter, moved = w.name("i"), self.indices.index(2)
        name = w.name("j")
        w.line(f"{name} = {self._whole(f'{moved.text}.to(tl.int32)')}")
        last = max(trips - 1, 0) * step
        kinds = ("range({n})", "range(0, {n})", "tl.range(0, {n}, num_stages=2)", "tl.static_range({n})")
        count = b.pick((str(trips), f"tl.minimum(n0, {trips})"))
        kind = b.pick(kinds)
        w.line(f"for {counter} in {kind.format(n=trips if 'static' in kind else count)}:")
        kept = len(self.indices.named), len(self.indices.scalars)
        self.indices.named.append(Index(name, moved.low, moved.high + last))
        if "static" not in kind:
            self.indices.scalars.append(Index(counter, 0, max(trips - 1, 0)))
        self._loops += 1
        self._block(depth, may_return=False)
        self._loops -= 1
        with w.indented():
            w.line(f"{name} += {step}")
        del self.indices.named[kept[0] :], self.indices.scalars[kept[1] :]
        w.features.add("loop")

    def _search(self, depth: int) -> None:
        """A loop until a condition of the program."""
        b, w = self.b, self.w
        counter = w.name("i")
        w.line(f"{counter} = 0")
        w.line(f"while {counter} < tl.minimum(n{b.integer(0, 2)}, {b.integer(0, 4)}):")
        kept = len(self.indices.scalars)
        self.indices.scalars.append(Index(counter, 0, 4))
        self._loops += 1
        self._block(depth, may_return=False)
        self._loops -= 1
        with w.indented():
            w.line(f"{counter} += 1")
        del self.indices.scalars[kept:]
        w.features.add("while")

    def _finished(self) -> GeneratedKernel:
        b, w = self.b, self.w
        parameters = [*(a.name for a in w.arguments), *w.scalars]
        body = "\n".join(f"    {line}" for line in w.lines)
        return GeneratedKernel(
            "\n\n".join([*w.functions, ""]) + f"@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n",
            tuple(w.arguments),
            dict(w.scalars),
            (b.programs,),
            {},
            b.random.randrange(1 << 30),
            frozenset(w.features),
        )
