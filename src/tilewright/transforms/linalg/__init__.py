"""Passes on the linalg stage: fusion, loads that read in place, dimensions joined."""
