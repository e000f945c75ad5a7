"""What the ops of the tts dialect mean: structured pointers are tensors of addresses, as at the tt stage."""

from __future__ import annotations

from tilewright.reference.tts import accesses, atomics, pointers

OP_FAMILIES = (accesses, atomics, pointers)
"""The modules that fill the table of meanings."""
