"""Passes on the linalg stage: fusion, and loads that read in place."""

from tilewright.transforms.linalg.forward_loads import ForwardLoadsPass
from tilewright.transforms.linalg.fuse_elementwise import LinalgFuseElementwisePass

__all__ = ["ForwardLoadsPass", "LinalgFuseElementwisePass"]
