"""Linalg on tensors to linalg on memrefs."""
