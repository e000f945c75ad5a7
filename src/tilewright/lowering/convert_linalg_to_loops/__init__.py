"""Linalg on memrefs to loops over scalars."""
