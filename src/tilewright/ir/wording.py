"""What xDSL says about wrong IR, in the words that upstream MLIR has for the same rule."""

from __future__ import annotations

import re

from xdsl.utils.exceptions import VerifyException


class BareVerifyException(VerifyException):
    """What a verifier says that upstream says without the op's name in front."""


_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Expected (\d+) (operand|result|region|successor)s?, but got (\d+)", r"expected \1 \2s, but found \3"),
        (r"(?:property|attribute) '?(\w+)'? expected in operation '.*'", r"requires attribute '\1'"),
        (
            r"(?:operand|result) '\w+' at position \d+ does not verify:? attribute .* expected from variable '\w+', .*",
            "requires the same type for all operands and results",
        ),
        (r"(operand|result) '\w+' at position (\d+) does not verify:? (must be .*)", r"\1 #\2 \3"),
        (r"Floating point value is not valid for integer type\.", "floating point value not valid for specified type"),
        (r"Integer value .* is out of range for type .*", "integer constant out of range for attribute"),
        (
            r"Shape mismatch in dense literal\. Expected (\[.*\]) shape from the type, but got (\[.*\]) shape\.",
            r"inferred shape of elements literal (\2) does not match type (\1)",
        ),
        (r"Expected '(.*)'(?: .*)?", r"expected '\1'"),
        (r"type expected", "expected non-function type"),
        (r"attribute expected", "expected attribute value"),
        (r"Identifier not in space .*", "use of undeclared identifier"),
        (r"End of file reached before closing string literal\.", "expected '\"' in string literal"),
        (r"Unexpected character: .*", "unexpected character"),
        (r"SSA value %(\S+) is already defined", r"redefinition of SSA value '%\1'"),
    )
)


def upstream_words(message: str) -> str:
    """The message, reworded if upstream has words for it."""
    flat = " ".join(message.split())
    for pattern, words in _WORDS:
        found = pattern.fullmatch(flat)
        if found is not None:
            return found.expand(words)
    return message
