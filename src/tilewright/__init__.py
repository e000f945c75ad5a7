"""tilewright: a complete compiler for Triton kernels, in Python."""
