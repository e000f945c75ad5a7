"""Linalg on tensors to linalg on memrefs."""

from __future__ import annotations

from tilewright.transforms.linalg.one_shot_bufferize.one_shot_bufferize import OneShotBufferizePass

__all__ = ["OneShotBufferizePass"]
