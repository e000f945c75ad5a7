"""Checks compiled into kernels: the `triton-sanitize` pass."""
