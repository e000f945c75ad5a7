"""Matmuls of the linalg stage: which micro-kernels they call, which fuse with the loop around them or with the store of
their result, which are computed transposed, and which operands are packed once."""
