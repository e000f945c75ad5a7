"""Kernels in Gluon: tiles that go from layout to layout, through shared memory and its views, and back to memory.

    L1: gl.constexpr = gl.DistributedLinearLayout(...)
    L2: gl.constexpr = gl.SliceLayout(1, gl.BlockedLayout(...))
    v1 = gl.load(a0 + offsets)
    s1 = gl.allocate_shared_memory(gl.int32, [32, 16], gl.SwizzledSharedLayout(4, 2, 4, [0, 1]))
    s1.store(v1)
    v2 = gl.convert_layout(s1.permute((1, 0)).load(L2), L1)

What a layout decides is where elements are, never what they are: the reference and the CPU leave layouts out, and the
simulated GPU must agree with them. All arithmetic is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.gluon_layouts import GluonLayouts
from tilewright.tools.fuzzing.values import BITS, FLOATS, GLUON, Argument, GeneratedKernel
from tilewright.tools.fuzzing.writer import Writer

SHAPES: tuple[tuple[int, ...], ...] = (
    *((16,), (32,), (128,), (512,), (1024,)),
    *((8, 8), (16, 16), (32, 8), (4, 64), (32, 32), (2, 128), (64, 16), (16, 64)),
    *((4, 8, 16), (2, 16, 8), (8, 4, 4)),
)
DTYPES = ("int32", "int32", "int16", "int8", "int64", "float32", "float16")
PRODUCTS = ((16, 16, 16), (32, 16, 16), (32, 32, 32), (64, 16, 32))
"""Rows, columns and depth of matmuls."""


@dataclass(frozen=True)
class Tile:
    """A variable that holds a tensor; `layout` is the text of its layout."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    layout: str

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS


class GluonKernelGenerator:
    """Writes one kernel. `random` may be Hypothesis's."""

    def __init__(self, random: Random, statements: int = 8) -> None:
        self.random = random
        self.w = Writer()
        self.warps = random.choice((1, 2, 4, 4, 8))
        self.layouts = GluonLayouts(random, self.warps)
        self.left = random.randint(3, statements)
        self.tiles: list[Tile] = []
        self.named: dict[str, str] = {}
        """Layouts by their text; the names that lines call them by."""
        self.constants: list[str] = []

    def generate(self) -> GeneratedKernel:
        """The whole kernel."""
        w = self.w
        w.scalars["n0"] = self.random.randint(1, 3)
        self._load()
        while self.left > 0:
            self._statement()
        for tile in self.tiles[-3:]:
            self._store(tile)
        parameters = ", ".join([*(argument.name for argument in w.arguments), *w.scalars])
        body = "\n".join(f"    {line}" for line in [*self.constants, *w.lines])
        return GeneratedKernel(
            "\n\n".join([*w.functions, ""]) + f"@gluon.jit\ndef kernel({parameters}):\n{body}\n",
            tuple(w.arguments),
            dict(w.scalars),
            (1,),
            {"num_warps": self.warps},
            self.random.randrange(1 << 30),
            frozenset({*w.features, GLUON}),
        )

    def _statement(self) -> None:
        self.left -= 1
        forms: list[tuple[int, Callable[[], None]]] = [
            *((2, self._load), (4, self._convert), (4, self._combine), (6, self._through_memory), (3, self._reduce)),
            *((2, self._scan), (3, self._reshape), (2, self._permute), (2, self._join), (2, self._split)),
            *((2, self._gather), (2, self._histogram), (2, self._exchange), (2, self._copy_ahead), (2, self._product)),
            *((2, self._loop), (2, self._branch), (2, self._spread)),
        ]
        number = self.random.randrange(sum(weight for weight, _ in forms))
        for weight, form in forms:
            number -= weight
            if number < 0:
                form()
                return

    # Texts

    def _layout(self, text: str) -> str:
        """The name of a layout, declared at the top of the kernel."""
        if text not in self.named:
            self.named[text] = f"L{len(self.named)}"
            self.constants.append(f"{self.named[text]}: gl.constexpr = {text}")
        return self.named[text]

    def _new(self, text: str, dtype: str, shape: Sequence[int], layout: str) -> Tile:
        tile = Tile(self.w.name("v"), dtype, tuple(shape), layout)
        self.w.line(f"{tile.name} = {text}")
        return tile

    def _remember(self, text: str, dtype: str, shape: Sequence[int], layout: str) -> None:
        self.tiles.append(self._new(text, dtype, shape, layout))

    def _any(self, fits: Callable[[Tile], bool] = lambda tile: True) -> Tile:
        """A tile that fits, the later the likelier; a new one where there is none."""
        found = [tile for tile in self.tiles if fits(tile)][-6:]
        if found:
            return self.random.choice(found)
        kinds = [(dtype, shape) for dtype in DTYPES for shape in SHAPES if fits(Tile("", dtype, shape, ""))]
        return self._loaded(*self.random.choice(kinds))

    def _like(self, dtype: str, shape: tuple[int, ...]) -> Tile:
        """A tile of a type and shape; a new one where there is none."""
        found = [tile for tile in self.tiles if (tile.dtype, tile.shape) == (dtype, shape)]
        return self.random.choice(found) if found else self._loaded(dtype, shape)

    def _in(self, tile: Tile, layout: str) -> str:
        """A tile in a layout."""
        return tile.name if tile.layout == layout else f"gl.convert_layout({tile.name}, {self._layout(layout)})"

    def _lanes(self, shape: Sequence[int], dim: int, layout: str) -> str:
        """The coordinate along a dimension, of the tensor's rank, in a layout."""
        rank, text = len(shape), self._layout(layout)
        for other in reversed(range(rank)):
            if other != dim:
                text = f"gl.SliceLayout({other}, {text})"
        subscript = ", ".join(":" if other == dim else "None" for other in range(rank))
        return f"gl.arange(0, {shape[dim]}, {text})" + (f"[{subscript}]" if rank > 1 else "")

    def _offsets(self, shape: Sequence[int], layout: str) -> str:
        terms = [f"{self._lanes(shape, d, layout)} * {prod(shape[d + 1 :])}" for d in range(len(shape))]
        return " + ".join(terms)

    def _zeros(self, dtype: str, shape: Sequence[int], layout: str) -> str:
        return f"gl.zeros({list(shape)}, gl.{dtype}, {self._layout(layout)})"

    def _argument(self, dtype: str, count: int, contents: str) -> Argument:
        argument = Argument(f"a{len(self.w.arguments)}", dtype, count, contents)
        self.w.arguments.append(argument)
        return argument

    # Memory

    def _load(self) -> None:
        self._loaded(self.random.choice(DTYPES), self.random.choice(SHAPES))

    def _loaded(self, dtype: str, shape: tuple[int, ...]) -> Tile:
        """A tile from an array of its own, under a mask at times."""
        layout = self.layouts.distributed(shape)
        argument = self._argument(dtype, prod(shape), "random")
        offsets = self._offsets(shape, layout)
        mask = ""
        if self.random.random() < 0.4:
            mask = f", mask=({offsets}) < {self.random.randint(1, prod(shape))}, other={self.random.randint(0, 3)}"
        self._remember(f"gl.load({argument.name} + {offsets}{mask})", dtype, shape, layout)
        return self.tiles[-1]

    def _store(self, tile: Tile) -> None:
        """A tile to an array of its own, in its layout or another."""
        layout = tile.layout if self.random.random() < 0.6 else self.layouts.distributed(tile.shape)
        argument = self._argument(tile.dtype, tile_size(tile), "fill")
        offsets = self._offsets(tile.shape, layout)
        mask = f", mask=({offsets}) % 3 != 1" if self.random.random() < 0.3 else ""
        self.w.line(f"gl.store({argument.name} + {offsets}, {self._in(tile, layout)}{mask})")

    # Values

    def _convert(self) -> None:
        tile = self._any()
        layout = self.layouts.distributed(tile.shape)
        self._remember(self._in(tile, layout), tile.dtype, tile.shape, layout)

    def _combine(self) -> None:
        """Two tiles of a shape, in the layout of the first or a third one."""
        one = self._any()
        two = self._like(one.dtype, one.shape)
        layout = one.layout if self.random.random() < 0.5 else self.layouts.distributed(one.shape)
        a, b = self._in(one, layout), self._in(two, layout)
        forms = ["gl.maximum({a}, {b})", "gl.where({a} < {b}, {b}, {a})", "gl.minimum({a}, {b})"]
        if not one.is_float:
            forms += ["{a} + {b}", "{a} - {b}", "{a} ^ {b}", "({a} & {b}) | 1", "{a} * n0"]
        text = self.random.choice(forms).format(a=a, b=b)
        self._remember(f"({text}).to(gl.{one.dtype})", one.dtype, one.shape, layout)

    def _reduce(self) -> None:
        """A dimension less, or a tile with what became of it."""
        tile = self._any(lambda tile: len(tile.shape) > 1)
        axis = self.random.randrange(len(tile.shape))
        functions = ["max", "min"] if tile.is_float else ["sum", "max", "min", "xor_sum"]
        text = f"gl.{self.random.choice(functions)}({tile.name}, {axis}).to(gl.{tile.dtype})"
        rest = (*tile.shape[:axis], *tile.shape[axis + 1 :])
        self._remember(text, tile.dtype, rest, f"gl.SliceLayout({axis}, {tile.layout})")

    def _spread(self) -> None:
        """A tile against one of a dimension less."""
        tile = self._any(lambda tile: len(tile.shape) > 1)
        axis = self.random.randrange(len(tile.shape))
        rest = (*tile.shape[:axis], *tile.shape[axis + 1 :])
        less = self._like(tile.dtype, rest)
        thin = self._in(less, f"gl.SliceLayout({axis}, {tile.layout})")
        text = f"gl.maximum({tile.name}, gl.expand_dims({thin}, {axis}))"
        self._remember(text, tile.dtype, tile.shape, tile.layout)

    def _scan(self) -> None:
        tile = self._any(lambda tile: tile.dtype in ("int32", "int64"))
        axis = self.random.randrange(len(tile.shape))
        reverse = self.random.random() < 0.4
        text = f"gl.associative_scan({tile.name}, {axis}, {self._combiner()}, reverse={reverse})"
        self._remember(text, tile.dtype, tile.shape, tile.layout)

    def _combiner(self) -> str:
        body = self.random.choice(("a + b", "gl.maximum(a, b)", "a * 2 + b if False else b + a", "b"))
        return self.w.function("a, b", f"return {body}", "@gluon.jit")

    def _reshape(self) -> None:
        tile = self._any()
        shapes = [shape for shape in SHAPES if prod(shape) == tile_size(tile)]
        shape = self.random.choice([*shapes, (tile_size(tile),)])
        layout = self.layouts.distributed(shape)
        text = f"gl.convert_layout(gl.reshape({tile.name}, {list(shape)}), {self._layout(layout)})"
        self._remember(text, tile.dtype, shape, layout)

    def _permute(self) -> None:
        tile = self._any(lambda tile: len(tile.shape) > 1)
        order = self.random.sample(range(len(tile.shape)), len(tile.shape))
        shape = [tile.shape[dim] for dim in order]
        layout = self.layouts.distributed(shape)
        text = f"gl.convert_layout(gl.permute({tile.name}, {order}), {self._layout(layout)})"
        self._remember(text, tile.dtype, shape, layout)

    def _join(self) -> None:
        one = self._any(lambda tile: len(tile.shape) < 3 and tile_size(tile) <= 512)
        two = self._like(one.dtype, one.shape)
        shape = (*one.shape, 2)
        layout = self.layouts.distributed(shape)
        pairs = f"gl.join({one.name}, {self._in(two, one.layout)})"
        self._remember(f"gl.convert_layout({pairs}, {self._layout(layout)})", one.dtype, shape, layout)

    def _split(self) -> None:
        """The even and the odd elements, one after the other in a third tile."""
        tile = self._any(lambda tile: len(tile.shape) < 3)
        shape = (*tile.shape[:-1], tile.shape[-1] // 2, 2)
        pairs = self.layouts.pairs_last(shape)
        one, two = self.w.name("v"), self.w.name("v")
        split = f"gl.split(gl.convert_layout(gl.reshape({tile.name}, {list(shape)}), {self._layout(pairs)}))"
        self.w.line(f"{one}, {two} = {split}")
        layout = self.layouts.distributed(shape[:-1])
        text = f"gl.convert_layout(gl.where({one} > {two}, {one}, {two}), {self._layout(layout)})"
        self._remember(text, tile.dtype, shape[:-1], layout)

    def _gather(self) -> None:
        source = self._any()
        axis = self.random.randrange(len(source.shape))
        indices = self._like("int32", source.shape)
        text = f"gl.gather({source.name}, {indices.name} & {source.shape[axis] - 1}, {axis})"
        self._remember(text, source.dtype, source.shape, indices.layout)

    def _histogram(self) -> None:
        tile = self._any(lambda tile: tile.dtype == "int32" and len(tile.shape) == 1)
        bins = self.random.choice((8, 16, 64))
        layout = self.layouts.distributed((bins,))
        text = f"gl.histogram({tile.name} & {bins - 1}, {bins}, layout={self._layout(layout)})"
        self._remember(text, "int32", (bins,), layout)

    def _product(self) -> None:
        """A matmul of small whole numbers by mma.sync."""
        rows, columns, depth = self.random.choice(PRODUCTS)
        mma = self.layouts.mma((rows, columns))
        texts: list[str] = []
        for index, shape in enumerate(((rows, depth), (depth, columns))):
            operand = self._like("int32", shape)
            small = Tile(f"({operand.name} & 7).to(gl.float16)", "float16", shape, operand.layout)
            texts.append(self._in(small, self.layouts.operand_of(mma, index, 2)))
        zeros = self._zeros("float32", (rows, columns), mma)
        self._remember(f"mma_v2({texts[0]}, {texts[1]}, {zeros})", "float32", (rows, columns), mma)

    # Shared memory

    def _buffer(self, dtype: str, shape: Sequence[int], layout: str | None = None, value: str = "") -> str:
        name = self.w.name("s")
        layout = layout or self.layouts.shared(shape, BITS[dtype])
        given = f", {value}" if value else ""
        self.w.line(f"{name} = gl.allocate_shared_memory(gl.{dtype}, {list(shape)}, {layout}{given})")
        return name

    def _through_memory(self) -> None:
        """A tile into a buffer, and what a view of it holds out of it."""
        tile = self._any()
        shape: tuple[int, ...] = tile.shape
        plain = self.layouts.plain(shape) if self.random.random() < 0.4 else None
        view = buffer = self._buffer(tile.dtype, shape, plain)
        self.w.line(f"{buffer}.store({tile.name})")
        for _ in range(self.random.choice((0, 1, 1, 2))):
            if len(shape) > 1 and self.random.random() < 0.5:
                order = self.random.sample(range(len(shape)), len(shape))
                view, shape = f"{view}.permute({tuple(order)})", tuple(shape[dim] for dim in order)
                continue
            dim = self.random.randrange(len(shape))
            if shape[dim] >= 16 and plain:  # no view splits a pattern
                length = shape[dim] // 2
                view = f"{view}.slice({self.random.choice((0, length))}, {length}, {dim})"
                shape = (*shape[:dim], length, *shape[dim + 1 :])
        if self.random.random() < 0.3:
            there = self.layouts.distributed(shape)
            self.w.line(f"{view}.store({view}.load({self._layout(there)}) {'^' if not tile.is_float else '+'} 1)")
            view, shape = buffer, tile.shape
        layout = self.layouts.distributed(shape)
        self._remember(f"{view}.load({self._layout(layout)})", tile.dtype, shape, layout)

    def _exchange(self) -> None:
        """Gathers from a buffer, and scatters to places that are all different."""
        tile = self._any(lambda tile: tile.dtype == "int32")
        axis = self.random.randrange(len(tile.shape))
        extent = tile.shape[axis]
        buffer = self._buffer(tile.dtype, tile.shape, value=tile.name)
        layout = self.layouts.distributed(tile.shape)
        along = self._lanes(tile.shape, axis, layout)
        spread = f"({along} * {self.random.choice((1, 3, 5))} + {self.random.randint(0, 9)}) % {extent}"
        indices = f"({self._zeros('int32', tile.shape, layout)} + {spread})"
        if self.random.random() < 0.5:
            self._remember(f"{buffer}.gather({indices}, {axis})", tile.dtype, tile.shape, layout)
            return
        self.w.line(f"{buffer}.scatter({self._in(tile, layout)} ^ 5, {indices}, {axis})")
        layout = self.layouts.distributed(tile.shape)
        self._remember(f"{buffer}.load({self._layout(layout)})", tile.dtype, tile.shape, layout)

    def _copy_ahead(self) -> None:
        """Parts of an array, each copied while the one before it is added up."""
        shape = self.random.choice([shape for shape in SHAPES if shape[-1] >= 8 and len(shape) < 3])
        rounds, size = self.random.randint(1, 4), prod(shape)
        argument = self._argument("int32", size * (rounds + 1), "random")
        copied = self.layouts.contiguous(shape)
        buffer = self._buffer("int32", (2, *shape), self._of_buffers(shape))
        places = self._new(self._offsets(shape, copied), "int32", shape, copied).name
        layout = self.layouts.distributed(shape)
        total = self._new(self._zeros("int32", shape, layout), "int32", shape, layout)
        w, i = self.w, self.w.name("i")
        w.line(f"async_copy.async_load({buffer}.index(0), {argument.name} + {places})")
        w.line("async_copy.commit_group()")
        w.line(f"for {i} in range({rounds}):")
        with w.indented():
            following = f"{argument.name} + ({i} + 1) * {size} + {places}"
            w.line(f"async_copy.async_load({buffer}.index(({i} + 1) % 2), {following}, mask={places} % 8 < n0 * 4)")
            w.line("async_copy.commit_group()")
            w.line("async_copy.wait_group(1)")
            w.line(f"{total.name} += {buffer}.index({i} % 2).load({self._layout(layout)})")
        w.line("async_copy.wait_group(0)")
        self.tiles.append(total)
        w.features.add("copies")

    def _of_buffers(self, shape: Sequence[int]) -> str:
        """A layout for several buffers of a shape, one of which `index` takes."""
        if len(shape) == 1:
            return "gl.SwizzledSharedLayout(1, 1, 1, [0])"
        return f"gl.SwizzledSharedLayout(4, {self.random.choice((1, 2))}, {self.random.choice((1, 2, 4))}, [1, 0])"

    # Control flow

    def _loop(self) -> None:
        """A tile that a loop carries in one layout, and changes in another or through a buffer."""
        start = self._any(lambda tile: not tile.is_float)
        carried = self._new(start.name, start.dtype, start.shape, start.layout)
        buffer = self._buffer(start.dtype, start.shape) if self.random.random() < 0.6 else ""
        other = self.layouts.distributed(start.shape)
        i = self.w.name("i")
        self.w.line(f"for {i} in range({self.random.choice(('n0', '2', '3'))}):")
        with self.w.indented():
            moved = self._in(carried, other)
            if buffer:
                self.w.line(f"{buffer}.store(({carried.name} + {i}).to(gl.{start.dtype}))")
                moved = f"{buffer}.load({self._layout(other)})"
            changed = Tile(f"({moved} ^ {i}).to(gl.{start.dtype})", start.dtype, start.shape, other)
            self.w.line(f"{carried.name} = {self._in(changed, start.layout)}")
        self.tiles.append(carried)

    def _branch(self) -> None:
        """A tile that a condition of the program changes."""
        start = self._any()
        two = self._like(start.dtype, start.shape)
        changed = self._new(start.name, start.dtype, start.shape, start.layout)
        self.w.line(f"if n0 > {self.random.randint(0, 3)}:")
        with self.w.indented():
            buffer = self._buffer(start.dtype, start.shape, value=two.name)
            self.w.line(f"{changed.name} = {buffer}.load({self._layout(start.layout)})")
        self.tiles.append(changed)


def tile_size(tile: Tile) -> int:
    """Elements of a tile."""
    return prod(tile.shape)
