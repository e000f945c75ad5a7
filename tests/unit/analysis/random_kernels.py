"""Random kernels around one tile: index arithmetic, masks, loops and conditionals that carry pointers."""

from __future__ import annotations

from random import Random

PREDICATES = ("slt", "sle", "sgt", "sge", "ult", "ule", "eq", "ne")


class KernelText:
    """Writes a kernel `(%x: data, %flags: i8 data, %out: results, %s0..%s3: i32, %c: i1)` line by line."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.rank = self.random.choice((1, 2, 2))
        self.sizes = [self.random.choice((1, 2, 4, 8, 8)) for _ in range(self.rank)]
        self.carried: list[str] = []

    def shape(self, element: str, sizes: list[int] | None = None) -> str:
        return f"tensor<{'x'.join(map(str, sizes or self.sizes))}x{element}>"

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    # Index tensors

    def constant(self, value: int, element: str = "i32", sizes: list[int] | None = None) -> str:
        return self.emit(f"arith.constant dense<{value}> : {self.shape(element, sizes)}")

    def scalar(self) -> str:
        name = f"%s{self.random.randrange(4)}"
        if self.random.random() < 0.3:
            other = self.emit(f"arith.constant {self.random.randint(-3, 9)} : i32")
            name = self.emit(f"arith.addi {name}, {other} : i32")
        return name

    def uniform(self, sizes: list[int] | None = None) -> str:
        if self.random.random() < 0.5:
            return self.constant(self.random.randint(-4, 9), sizes=sizes)
        return self.emit(f"tt.splat {self.scalar()} : i32 -> {self.shape('i32', sizes)}")

    def lanes(self, dim: int) -> str:
        """A range along one dimension, shaped like the tile; sometimes with arithmetic before the shape changes."""
        size, start = self.sizes[dim], self.random.choice((0, 0, 3))
        flat = [size]
        value = self.emit(
            f"tt.make_range {{end = {start + size} : i32, start = {start} : i32}} : {self.shape('i32', flat)}"
        )
        for _ in range(self.random.randrange(3)):
            value = self.step(value, flat)
        if self.rank == 1:
            return value
        narrow = [size, 1] if dim == 0 else [1, size]
        source, target = self.shape("i32", flat), self.shape("i32", narrow)
        value = self.emit(f"tt.expand_dims {value} {{axis = {1 - dim} : i32}} : {source} -> {target}")
        if self.random.random() < 0.3:
            value = self.step(value, narrow)
        return self.emit(f"tt.broadcast {value} : {target} -> {self.shape('i32')}")

    def step(self, value: str, sizes: list[int] | None = None) -> str:
        kind, type = self.random.randrange(9), self.shape("i32", sizes)
        if kind < 3:
            return self.emit(f"arith.addi {value}, {self.uniform(sizes)} : {type}")
        if kind == 3:
            return self.emit(f"arith.subi {self.uniform(sizes)}, {value} : {type}")
        if kind == 4:
            return self.emit(f"arith.muli {value}, {self.uniform(sizes)} : {type}")
        if kind == 5:
            return self.emit(f"arith.shli {value}, {self.constant(self.random.randrange(3), sizes=sizes)} : {type}")
        divisor = self.constant(self.random.choice((1, 2, 3, 4, 5, 8)), sizes=sizes)
        op = ("remsi", "remsi", "divsi", "remui", "minsi")[self.random.randrange(5)]
        return self.emit(f"arith.{op} {value}, {divisor} : {type}")

    def index(self) -> str:
        value = self.lanes(self.random.randrange(self.rank))
        for _ in range(self.random.randrange(1, 3)):
            value = self.emit(
                f"arith.addi {value}, {self.lanes(self.random.randrange(self.rank))} : {self.shape('i32')}"
            )
            if self.random.random() < 0.4:
                value = self.step(value)
        return value

    # Masks

    def mask(self, depth: int = 2) -> str:
        kind, type = self.random.random(), self.shape("i1")
        if depth and kind < 0.5:
            op = self.random.choice(("andi", "andi", "andi", "ori"))
            return self.emit(f"arith.{op} {self.mask(depth - 1)}, {self.mask(depth - 1)} : {type}")
        if kind < 0.6:
            true = self.constant(1, "i1")
            self.lines[-1] = self.lines[-1].replace("dense<1>", "dense<true>")
            return self.emit(f"arith.xori {self.mask(0)}, {true} : {type}")
        if kind < 0.7:
            return self.emit(f"tt.splat %c : i1 -> {type}")
        left = self.index() if self.random.random() < 0.4 else self.lanes(self.random.randrange(self.rank))
        right = self.uniform() if self.random.random() < 0.8 else self.lanes(self.random.randrange(self.rank))
        if self.random.random() < 0.3:
            left, right = right, left
        return self.emit(f"arith.cmpi {self.random.choice(PREDICATES)}, {left}, {right} : {self.shape('i32')}")

    # Pointers

    def pointer(self) -> str:
        type = self.shape("!tt.ptr<f32>")
        base = "%mid"
        if self.random.random() < 0.4:
            base = self.emit(f"tt.addptr {base}, {self.scalar()} : !tt.ptr<f32>, i32")
        value = self.emit(f"tt.splat {base} : !tt.ptr<f32> -> {type}")
        for _ in range(self.random.randrange(1, 3)):
            value = self.advanced(value)
        if self.random.random() < 0.2:
            value = self.chosen(value, self.advanced(value))
        return value

    def advanced(self, pointer: str) -> str:
        by = self.index() if self.random.random() < 0.6 else self.uniform()
        return self.emit(f"tt.addptr {pointer}, {by} : {self.shape('!tt.ptr<f32>')}, {self.shape('i32')}")

    def chosen(self, left: str, right: str) -> str:
        type = self.shape("!tt.ptr<f32>")
        if self.random.random() < 0.5:
            return self.emit(f"arith.select %c, {left}, {right} : {type}")
        self.count += 1
        name = f"%v{self.count}"
        self.lines += [f"{name} = scf.if %c -> ({type}) {{", f"scf.yield {left} : {type}", "} else {"]
        moved = self.advanced(right)
        self.lines += [f"scf.yield {moved} : {type}", "}"]
        return name

    def load(self, pointer: str) -> str:
        type, pointers = self.shape("f32"), self.shape("!tt.ptr<f32>")
        kind = self.random.random()
        if kind < 0.3:
            return self.emit(f"tt.load {pointer} : {pointers}")
        mask = self.mask()
        if kind < 0.6:
            zero = self.emit(f"arith.constant dense<-5.0> : {type}")
            return self.emit(f"tt.load {pointer}, {mask}, {zero} : {pointers}")
        value = self.emit(f"tt.load {pointer}, {mask} : {pointers}")
        zero = self.emit(f"arith.constant dense<1.0> : {type}")
        return self.emit(f"arith.select {mask}, {value}, {zero} : {self.shape('i1')}, {type}")

    def loop(self) -> str:
        """Loads in a loop that carries a pointer, used before or after it moves."""
        type, pointers = self.shape("f32"), self.shape("!tt.ptr<f32>")
        start, zero = self.pointer(), self.emit(f"arith.constant dense<0.0> : {type}")
        self.count += 3
        result, pointer, total = (f"%v{self.count - n}" for n in range(3))
        self.lines.append(
            f"{result}:2 = scf.for %i{self.count} = %zero to %three step %one "
            f"iter_args({pointer} = {start}, {total} = {zero}) -> ({pointers}, {type})  : i32 {{"
        )
        before = self.random.random() < 0.5
        value = self.load(pointer) if before else ""
        moved = self.advanced(pointer)
        value = value or self.load(moved)
        added = self.emit(f"arith.addf {total}, {value} : {type}")
        self.lines += [f"scf.yield {moved}, {added} : {pointers}, {type}", "}"]
        if self.random.random() < 0.5:
            return f"{result}#1"
        again = self.load(f"{result}#0")
        return self.emit(f"arith.addf {result}#1, {again} : {type}")

    def text(self) -> str:
        """The whole kernel: one loaded tile stored densely, and another one through a random pointer."""
        self.lines += [
            "%zero = arith.constant 0 : i32",
            "%one = arith.constant 1 : i32",
            "%three = arith.constant 3 : i32",
        ]
        self.lines += ["%half = arith.constant 4096 : i32", "%mid = tt.addptr %x, %half : !tt.ptr<f32>, i32"]
        value = self.loop() if self.random.random() < 0.5 else self.load(self.pointer())
        pointers = self.shape("!tt.ptr<f32>")
        if self.random.random() < 0.5:
            self.lines.append(f"tt.store {self.pointer()}, {value}, {self.mask()} : {pointers}")
        total = 1
        for size in self.sizes:
            total *= size
        flat = self.emit(f"tt.make_range {{end = {total} : i32, start = 0 : i32}} : tensor<{total}xi32>")
        dense = self.emit(f"tt.reshape {flat} : tensor<{total}xi32> -> {self.shape('i32')}")
        out = self.emit(f"tt.splat %out : !tt.ptr<f32> -> {pointers}")
        where = self.emit(f"tt.addptr {out}, {dense} : {pointers}, {self.shape('i32')}")
        self.lines.append(f"tt.store {where}, {value} : {pointers}")
        arguments = "%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %s0: i32, %s1: i32, %s2: i32, %s3: i32, %c: i1"
        body = "\n  ".join(self.lines)
        return f"tt.func public @k({arguments}) {{\n  {body}\n  tt.return\n}}\n"
