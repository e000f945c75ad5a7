"""Checks compiled into kernels; importing this package registers the `triton-sanitize` pass."""

from tilewright.transforms.sanitize.sanitize import SanitizePass

__all__ = ["SanitizePass"]
