"""AMD's GPUs, of which there is no target: its names, so that programs for several GPUs can be imported.
Using one in a kernel is an error that names it."""

from __future__ import annotations

from tilewright.language.gluon.amd import cdna3, cdna4, cdna5, gfx1250, hint, rdna3, rdna4
from tilewright.language.gluon.amd.layouts import AMDMFMALayout, AMDWMMALayout
from tilewright.language.gluon.amd.refused import refused
from tilewright.language.gluon.amd.warp_pipeline import warp_pipeline_stage

slice = refused("slice")

__all__ = [
    "AMDMFMALayout",
    "AMDWMMALayout",
    "cdna3",
    "cdna4",
    "cdna5",
    "gfx1250",
    "hint",
    "rdna3",
    "rdna4",
    "slice",
    "warp_pipeline_stage",
]
