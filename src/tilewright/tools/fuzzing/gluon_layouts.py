"""Random layouts of Gluon, as the text of their constructors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random

LANES = 5
"""log2 of the threads of a warp."""


class GluonLayouts:
    """Layouts for kernels of `warps` warps. Extents are powers of two."""

    def __init__(self, random: Random, warps: int) -> None:
        self.random = random
        self.warps = warps
        self.warp_bits = warps.bit_length() - 1

    def distributed(self, shape: Sequence[int]) -> str:
        """A layout that any tensor of this shape may have."""
        kinds = [self.blocked, self.blocked, self.sliced, self.linear]
        if len(shape) == 2:
            kinds += [self.mma, self.dot_operand]
        return self.random.choice(kinds)(shape)

    def blocked(self, shape: Sequence[int]) -> str:
        sizes = [self.random.choice((1, 1, 2, 4)) for _ in shape]
        return self._blocked(sizes)

    def contiguous(self, shape: Sequence[int]) -> str:
        """One whose threads have at least four neighbours along the last dimension, for asynchronous copies."""
        sizes = [*(1 for _ in shape[1:]), 4]
        return self._blocked(sizes, list(reversed(range(len(shape)))))

    def pairs_last(self, shape: Sequence[int]) -> str:
        """One whose threads have all of the last dimension, of two elements, in registers."""
        rank = len(shape)
        order = [rank - 1, *self._order(rank - 1)]
        threads, warps = ([*self._shared_out(bits, rank - 1), 1] for bits in (LANES, self.warp_bits))
        sizes = [*(1 for _ in shape[1:]), 2]
        return f"gl.BlockedLayout({sizes}, {threads}, {warps}, {order})"

    def _blocked(self, sizes: list[int], order: list[int] | None = None) -> str:
        rank = len(sizes)
        threads, warps = (self._shared_out(bits, rank) for bits in (LANES, self.warp_bits))
        return f"gl.BlockedLayout({sizes}, {threads}, {warps}, {order or self._order(rank)})"

    def sliced(self, shape: Sequence[int]) -> str:
        """A `SliceLayout` of a layout of one more dimension."""
        dim = self.random.randint(0, len(shape))
        wider = [*shape[:dim], self.random.choice((1, 2, 8)), *shape[dim:]]
        parent = self.linear(wider) if self.random.random() < 0.3 else self.blocked(wider)
        return f"gl.SliceLayout({dim}, {parent})"

    def linear(self, shape: Sequence[int]) -> str:
        """Any basis of the space of coordinates, dealt out to registers, lanes and warps; those of which there are too
        many get copies."""
        basis = self._basis(shape)
        fixed = LANES + self.warp_bits
        basis += [[0] * len(shape) for _ in range(fixed - len(basis))]
        if self.random.random() < 0.3:
            basis += [[0] * len(shape)]
        self.random.shuffle(basis)
        lanes, warps, registers = basis[:LANES], basis[LANES:fixed], basis[fixed:]
        return f"gl.DistributedLinearLayout({registers}, {lanes}, {warps}, [], {list(shape)})"

    def _basis(self, shape: Sequence[int]) -> list[list[int]]:
        """Vectors that span the coordinates of a shape: unit vectors, some with others added."""
        units = [
            [1 << bit if other == dim else 0 for other in range(len(shape))]
            for dim, extent in enumerate(shape)
            for bit in range(extent.bit_length() - 1)
        ]
        for _ in range(self.random.choice((0, 0, 3))):
            if len(units) > 1:
                target, source = self.random.sample(range(len(units)), 2)
                units[target] = [a ^ b for a, b in zip(units[target], units[source], strict=True)]
        return units

    def mma(self, shape: Sequence[int]) -> str:
        return f"gl.NVMMADistributedLayout([2, 0], {self._shared_out(self.warp_bits, len(shape))}, [16, 8])"

    def dot_operand(self, shape: Sequence[int]) -> str:
        return self.operand_of(self.mma(shape), self.random.randint(0, 1), self.random.choice((1, 2, 4)))

    @staticmethod
    def operand_of(mma: str, index: int, k_width: int) -> str:
        return f"gl.DotOperandLayout({index}, {mma}, {k_width})"

    def shared(self, shape: Sequence[int], bits: int) -> str:
        """A layout of shared memory for elements of `bits` bits."""
        kinds = [self.swizzled, self.swizzled, self.padded, self.shared_linear]
        if len(shape) == 2 and min(shape) >= 8 and shape[-1] * bits >= 256 and bits >= 8:
            kinds.append(self.nvmma)
        return self.random.choice(kinds)(shape, bits)

    def swizzled(self, shape: Sequence[int], bits: int) -> str:
        if len(shape) == 1:
            return self.plain(shape)
        vec, per_phase, max_phase = (self.random.choice((1, 2, 4, 8)) for _ in range(3))
        return f"gl.SwizzledSharedLayout({vec}, {per_phase}, {max_phase}, {self._order(len(shape))})"

    def plain(self, shape: Sequence[int]) -> str:
        """One whose parts are contiguous in some order."""
        return f"gl.SwizzledSharedLayout(1, 1, 1, {self._order(len(shape))})"

    def padded(self, shape: Sequence[int], bits: int) -> str:
        interval = min(prod(shape), self.random.choice((8, 16, 32, 64)))
        padding = self.random.choice((4, 8, 16))
        order = self._order(len(shape))
        return f"gl.PaddedSharedLayout.with_identity_for([[{interval}, {padding}]], {list(shape)}, {order})"

    def shared_linear(self, shape: Sequence[int], bits: int) -> str:
        basis = self._basis(shape)
        self.random.shuffle(basis)
        return f"gl.SharedLinearLayout({basis})"

    def nvmma(self, shape: Sequence[int], bits: int) -> str:
        swizzle = self.random.choice([width for width in (32, 64, 128) if shape[-1] * bits >= 8 * width])
        return f"gl.NVMMASharedLayout({swizzle}, {bits}, {len(shape)})"

    def _shared_out(self, bits: int, rank: int) -> list[int]:
        """Powers of two whose product is 2^bits, one for each dimension."""
        exponents = [0] * rank
        for _ in range(bits):
            exponents[self.random.randrange(rank)] += 1
        return [1 << exponent for exponent in exponents]

    def _order(self, rank: int) -> list[int]:
        order = list(range(rank))
        self.random.shuffle(order)
        return order
