"""Pipelines of warps, which AMD's compiler makes."""

from __future__ import annotations

from tilewright.language.gluon.amd.refused import OfAmd


class warp_pipeline_stage(OfAmd):
    """A stage of a loop."""


__all__ = ["warp_pipeline_stage"]
