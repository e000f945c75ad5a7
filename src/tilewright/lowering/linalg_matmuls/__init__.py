"""Matmuls of the linalg stage: by which micro-kernels they go, which are one with the loop around them, or with the
store of their result, and which are computed as their transposes; which operands are packed once."""
