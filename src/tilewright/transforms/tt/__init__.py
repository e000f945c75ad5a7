"""Passes on Triton IR, and the `make-ttir` pipeline."""
