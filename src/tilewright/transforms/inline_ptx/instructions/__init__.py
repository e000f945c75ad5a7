"""What instructions mean lane by lane: importing this registers the rule of each family."""

from __future__ import annotations

from tilewright.transforms.inline_ptx.forms import RULES, Rule
from tilewright.transforms.inline_ptx.instructions import bits, conversions, floats, integers, moves

FAMILIES = (bits, conversions, floats, integers, moves)
"""Modules whose import fills the table of rules."""


def find_rule(name: str) -> Rule | None:
    """The rule of instructions whose opcode begins so."""
    return RULES.get(name)
