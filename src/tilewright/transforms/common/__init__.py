"""Passes that work at every stage."""
