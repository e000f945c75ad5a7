"""Chains of exchanges between elements whose indices differ in one bit: sorts, butterflies, pairwise reductions."""
