"""Where copies by TMA, and a warp of its own that makes them, were measured to gain."""

WARPS = 8
"""Warps that multiply: with the group of the copying warp they share the registers of a multiprocessor."""
LEAST_SUMS, MOST_SUMS = 96, 128
"""Registers of a thread for the results of all products, from which a multiprocessor has room for one program, and up
to which they fit the 240 that a thread has: measured on an H100 with attention, where blocks of 128x128 gain (heads of
128 and 64), and of 128x64 lose for heads of 64.
"""
