"""Passes on TritonGPU IR, one a file. Importing the package imports none of them; `registration` imports them all."""
