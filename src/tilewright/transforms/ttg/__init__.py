"""Passes on TritonGPU IR, one a file."""
