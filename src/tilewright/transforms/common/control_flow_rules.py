"""The canonicalization rules of loops, conditionals and branches that `canonicalize` adds to those of the dialects."""

from __future__ import annotations

from tilewright.ir.rules import RewriteRule
from tilewright.transforms.common.branch_rules import BRANCH_RULES
from tilewright.transforms.common.loop_rules import LOOP_RULES

CONTROL_FLOW_RULES: tuple[RewriteRule, ...] = (*LOOP_RULES, *BRANCH_RULES)
"""All of them, in the order to try them."""
