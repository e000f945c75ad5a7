"""What xDSL says about wrong IR, in the words that upstream MLIR has for the same rule."""

from __future__ import annotations

import re

from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span


class BareVerifyException(VerifyException):
    """What a verifier says that upstream says without the op's name in front."""


class CustomOpException(VerifyException):
    """What the parser of an op says, of a token or of all: upstream's begins with ``custom op 'NAME'``. Another error
    of a parser that is its cause is told before."""

    def __init__(self, message: str, at: Span[str] | None = None) -> None:
        super().__init__(message)
        self.at = at


UNENDED_STRING = "expected '\"' in string literal"

_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Expected 0 (operand|result|region)s?, but got \d+", r"requires zero \1s"),
        (r"Expected 1 operands?, but got \d+", "requires a single operand"),
        (r"Expected 1 (result|region)s?, but got \d+", r"requires one \1"),
        (r"Expected (\d+) operands?, but got (\d+)", r"expected \1 operands, but found \2"),
        (r"Expected (\d+) (result|region)s?, but got \d+", r"expected \1 \2s"),
        (r"Expected 1 successors?, but got (\d+)", r"requires 1 successor but found \1"),
        (r"Expected (\d+) successors?, but got (\d+)", r"requires \1 successors but found \2"),
        (r"Expected at least (\d+) operands?, but got (\d+)", r"expected \1 or more operands, but found \2"),
        (r"Operation has 0 results, but was given \d+ to bind\.", "cannot name an operation with no results"),
        (
            r"Operation has (\d+) results, but was given (\d+) to bind\.",
            r"operation defines \1 results but was provided \2 to bind",
        ),
        (r"(?:property|attribute) '?(\w+)'? expected in operation '.*'", r"requires attribute '\1'"),
        (
            r"(?:operand|result) '\w+' at position \d+ does not verify:? attribute .* expected from variable '\w+', .*",
            "requires the same type for all operands and results",
        ),
        (r"(operand|result) '\w+' at position (\d+) does not verify:? (must be .*)", r"\1 #\2 \3"),
        (
            r"(operand|result) '\w+' at position (\d+) does not verify:? (.*) should be of base attribute (\w+)",
            r"\1 #\2 must be \4, but got '\3'",
        ),
        (r"Floating point value is not valid for integer type\.", "floating point value not valid for specified type"),
        (r"Integer value .* is out of range for type .*", "integer constant out of range for attribute"),
        (
            r"Shape mismatch in dense literal\. Expected (\[.*\]) shape from the type, but got (\[.*\]) shape\.",
            r"inferred shape of elements literal (\2) does not match type (\1)",
        ),
        (r"Expected '=' after operation result list", "expected '=' after SSA name"),
        (r"Expected 'x' .*", "expected 'x' in dimension list"),
        (
            r"Expected ('(?:.|->)'|',' or '>')( in (?:tensor|vector|memref|complex|tuple|function) type)",
            r"expected \1\2",
        ),
        (r"Expected '<' in dense attribute", "expected '<' after 'dense'"),
        (r"Expected `<` after `strided`", "expected '<' after 'strided'"),
        (r"Expected end of strided attribute or ',' for offset\.", "expected ','"),
        (
            r"(?:Expected )?'(.)'(?: expected)?( in (?:affine map|affine map range|integer set|symbol list"
            r"|integer set constraint list|dimensional identifier list|dynamic index list|operand list))",
            r"expected '\1'\2",
        ),
        (r"Expected 'offset' after comma", "expected 'offset' after comma"),
        (r"Expected '='( in (?:attribute|type) alias definition)", r"expected '='\1"),
        (r"Expected '(.*)'(?: .*)?", r"expected '\1'"),
        (r"'\]' expected", "expected ',' or ']'"),
        (r"'\}' expected", "expected '}' in attribute dictionary"),
        (r"'(.)' expected(?: in stride list)?", r"expected '\1'"),
        (r"Expected an operand\.", "expected SSA operand"),
        (r"Expected SSA value tuple size", "expected integer number of results"),
        (r"Expected bare-id or string-literal here as part of attribute entry!", "expected attribute name"),
        (r"Expected integer or float literal after '-'", "expected constant integer or floating point value"),
        (r"Expected ':' after block argument name!", "expected ':'"),
        (r"successor expected", "expected block name"),
        (
            r"(operand|result) '\w+' at position (\d+) does not verify:? Expected attribute (\w+) but got (.*)",
            r"\1 #\2 must be \3, but got '\4'",
        ),
        (r"type expected|Expected (shape type|vector element type)\.?", "expected non-function type"),
        (r"operand expected", "expected SSA operand"),
        (r"operation name expected", "expected operation name in quotes"),
        (r"in block definition|expected an operation", "expected operation name in quotes"),
        (r"Expected region!", "expected '{' to begin a region"),
        (r"Expected either a float, integer, or complex literal", "expected element literal of primitive type"),
        (r"Expected integer literal in shape dimension, .*", "invalid dimension"),
        (r"Expected integer literal.*", "expected integer value"),
        (r"Expected an integer literal or `\?`.*", "expected a 64-bit signed integer or '?'"),
        (r"Expected integer value", "expected integer elements, but parsed floating-point"),
        (
            r"Tensor literal has inconsistent ranks between elements",
            "tensor literal is invalid; ranks are not consistent between elements",
        ),
        (r"Duplicate key '(.*)' in dictionary attribute", r"duplicate key '\1' in dictionary attribute"),
        (r"re-declaration of alias '[#!](.*)'", r"redefinition of attribute alias id '\1'"),
        (r"SSA value tuple index out of bounds\. .*", "reference to invalid result number"),
        (r"Invalid type given for integer or float attribute\.", "integer literal not valid for specified type"),
        (r"@ identifier expected to start with letter.*", "@ identifier expected to start with letter or '_'"),
        (r"attribute expected", "expected attribute value"),
        (r"Identifier not in space .*", "use of undeclared identifier"),
        (r"End of file reached before closing string literal\.", UNENDED_STRING),
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
