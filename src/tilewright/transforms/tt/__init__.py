"""Passes on Triton IR; importing this package registers them and the `make-ttir` pipeline."""

from __future__ import annotations

from tilewright.transforms.tt.combine import CombinePass
from tilewright.transforms.tt.reorder_broadcast import ReorderBroadcastPass

__all__ = ["CombinePass", "ReorderBroadcastPass"]
