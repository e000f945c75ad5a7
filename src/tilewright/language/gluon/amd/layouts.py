"""Layouts of AMD's GPUs: values that programs make, and hand to kernels, whatever the GPU is. No tensor or buffer can
have one: ValueError."""

from __future__ import annotations

from dataclasses import field
from typing import NoReturn

from tilewright.language.gluon.amd.refused import refuse
from tilewright.language.gluon.distributed_layouts import MatrixUnitLayout
from tilewright.language.gluon.layout_base import Lists, check_vectors
from tilewright.language.gluon.shared_layouts import SharedLayout
from tilewright.language.registry import wrong_layout
from tilewright.support.records import dataclass

MFMA_SHAPES = ([32, 32], [16, 16], [64, 4], [4, 64])


def _check_version(version: int, last: int) -> None:
    if not 1 <= version <= last:
        raise wrong_layout(ValueError(f"version must be from 1 to {last}, got {version}"))


class Registers(MatrixUnitLayout):
    """A layout of results of matrix units of these GPUs."""

    def plain(self) -> NoReturn:
        refuse(type(self))


@dataclass(frozen=True)
class AMDMFMALayout(Registers):
    """The layout of results of MFMA."""

    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: Lists = field(default_factory=list[list[int]])

    __hash__ = Registers.__hash__

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    def check(self) -> None:
        """Raises ValueError for fields that are no layout; fills in those that were left out."""
        object.__setattr__(self, "element_bitwidth", self.element_bitwidth or 32)
        object.__setattr__(self, "tiles_per_warp", self.tiles_per_warp or [1] * self.rank)
        _check_version(self.version, 4)
        if len(self.instr_shape) != 3 or self.instr_shape[:2] not in MFMA_SHAPES:
            raise wrong_layout(ValueError(f"instr_shape must be M, N and K of an instruction, got {self.instr_shape}"))
        if self.element_bitwidth not in (32, 64):
            raise wrong_layout(ValueError(f"element_bitwidth must be 32 or 64, got {self.element_bitwidth}"))
        check_vectors(self.rank, cga_layout=self.cga_layout)


@dataclass(frozen=True)
class AMDWMMALayout(Registers):
    """The layout of results of WMMA."""

    version: int
    transposed: bool
    warp_bases: Lists
    reg_bases: Lists | None = None
    instr_shape: list[int] | None = None
    cga_layout: Lists = field(default_factory=list[list[int]])
    rank: int = 2  # pyright: ignore[reportIncompatibleMethodOverride]

    __hash__ = Registers.__hash__

    def check(self) -> None:
        """Raises ValueError for fields that are no layout; fills in those that were left out."""
        object.__setattr__(self, "reg_bases", self.reg_bases or [])
        object.__setattr__(self, "instr_shape", self.instr_shape or [16, 16, 16])
        object.__setattr__(self, "rank", self.rank or 2)
        _check_version(self.version, 3)
        check_vectors(self.rank, warp_bases=self.warp_bases, cga_layout=self.cga_layout)


@dataclass(frozen=True)
class PartitionedSharedLayout(SharedLayout):
    """A buffer whose parts lie in different banks of shared memory."""

    num_partitions: int
    num_groups: int
    partition_dim: int
    partition_layout: SharedLayout

    __hash__ = SharedLayout.__hash__

    def plain(self) -> NoReturn:
        refuse(type(self))


__all__ = ["AMDMFMALayout", "AMDWMMALayout", "PartitionedSharedLayout"]
