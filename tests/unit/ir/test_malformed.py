"""Damaged IR text never gives anything but a diagnosed error: tokens are dropped, repeated, replaced and swapped."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from xdsl.context import Context

from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.support.errors import ParseError, VerifyError

FILES = Path(__file__).parents[2] / "file" / "opt"
TOKEN = re.compile(r'"[^"\n]*"|[\w.$%#^@!]+|\s+|.')


def _damage(text: str, chance: random.Random) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(chance.choice((1, 1, 2, 3))):
        index, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(4):
            case 0:
                del tokens[index]
            case 1:
                tokens[index] = tokens[other]
            case 2:
                tokens.insert(index, tokens[other])
            case _:
                tokens[index], tokens[other] = tokens[other], tokens[index]
    return "".join(tokens)


@pytest.mark.parametrize("name", ["roundtrip", "literals", "locations"])
@pytest.mark.parametrize("generic", [False, True])
def test_damaged_text_is_diagnosed(context: Context, name: str, generic: bool) -> None:
    text = re.sub(r"(?m)^\s*//.*$", "", (FILES / f"{name}.mlir").read_text(encoding="utf-8"))
    if generic:
        text = print_op(parse_module(text, context), generic=True)
    errors = 0
    for seed in range(80):
        damaged = _damage(text, random.Random(seed))
        try:
            module = parse_module(damaged, context, "damaged.mlir")
            verify_module(module)
        except ParseError as error:
            errors += 1
            assert str(error).startswith("damaged.mlir:")
        except VerifyError:
            errors += 1
        else:
            assert print_op(module)
    assert errors > 20
