"""Loops whose warps do different work: which can have them, and what each role does."""
