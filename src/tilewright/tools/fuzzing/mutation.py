"""Mutated IR text: whatever a file holds, the parser, the verifier and every pass give a result or a diagnosed error.

A mutation deletes, doubles, swaps or replaces lines, tokens and characters, or crosses two lines; it is seldom valid
IR, but seldom far from it.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from random import Random

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, PassPipeline, available_passes
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError
from tilewright.tools.fuzzing.differential import Failure

TIME_LIMIT = 10
"""Seconds after which an input counts as a hang."""

TOKENS = (
    "i1", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "index", "tensor<16xf32>", "tensor<4x8xi32>", "!tt.ptr<f32>",
    "memref<*xf32>", "tensor<16x!tt.ptr<f32>>", "vector<8xf32>", "%0", "%arg0", "%undefined", "0", "-1", "1", "7",
    "9223372036854775807", "1.0e+00", "0x7FC00000", "true", "dense<0>", "dense<[1, 2]>", "{", "}", "(", ")", "<", ">",
    "[", "]", ",", ":", "->", "=", "\"", "#map", "!tt.ptr<", "loc(", "arith.addi", "tt.load", "tt.store", "scf.for",
    "scf.if", "scf.yield", "tt.return", "func.func", "^bb0", "array<i32: 0>", "affine_map<(d0) -> (d0)>", "\u00e9",
    "\x00",
)  # fmt: skip

_SPLIT = re.compile(r"(%[\w$.#-]+|[\w.$-]+|\s+|.)", re.DOTALL)


WHOLE_MODULES = 1 / 40
"""Share of the mutated inputs that start from a whole module; the others start from one op, which takes a hundredth of
the time and is hit in every place."""


@cache
def corpus_texts() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is mutated, made when it is first needed: whole modules, and single ops."""
    from tilewright.tools.fuzzing.samples import seed_texts

    return seed_texts()


def choose_text(random: Random) -> str:
    """A text to mutate."""
    modules, singles = corpus_texts()
    return random.choice(modules if random.random() < WHOLE_MODULES else singles)


def mutate(text: str, random: Random) -> str:
    """One to four changes to a text."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        text = random.choice((_lines, _tokens, _tokens, _characters))(text, random)
    return text


def _lines(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case _:
            lines = lines[:first]
    return "".join(lines)


def _tokens(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return random.choice(TOKENS)
    number = random.randrange(len(lines))
    tokens = _SPLIT.findall(lines[number])
    if not tokens:
        return text
    place = random.randrange(len(tokens))
    match random.randrange(5):
        case 0:
            del tokens[place]
        case 1:
            tokens.insert(place, random.choice(tokens))
        case 2:
            other = random.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 3:
            donor = _SPLIT.findall(random.choice(lines))
            tokens[place] = random.choice(donor) if donor else ""
        case _:
            tokens[place] = random.choice(TOKENS)
    lines[number] = "".join(tokens)
    return "".join(lines)


def _characters(text: str, random: Random) -> str:
    if not text:
        return text
    place = random.randrange(len(text))
    replacement = random.choice(("", "0", "-", "x", "\n", "%", '"', ">", "<", chr(random.randrange(32, 127))))
    return text[:place] + replacement + text[place + 1 :]


def check_text(text: str, random: Random | None) -> Failure | None:
    """Parse, verify, print and parse again, and run a pass; a failure is a traceback, a hang, or text that does not
    read back. Without `random` every pass runs, each on the text as it is."""
    names = list(available_passes())
    chosen = names if random is None else [random.choice(names)]
    stage = "parser"
    try:
        with time_limit(TIME_LIMIT):
            try:
                module = parse_module(text, make_context())
                verify_module(module)
            except (TilewrightError, RecursionError):
                return None
            stage = "printer"
            printed = print_op(module)
            try:
                verify_module(parse_module(printed, make_context()))
            except TilewrightError as error:
                return Failure("printer", "unreadable", f"printed text does not read back: {_line(error)}")
            for name in chosen:
                stage = name
                _run_pass(name, text)
    except TimeOut:
        return Failure(stage, "hang", f"{stage}: more than {TIME_LIMIT} seconds")
    except Exception as error:
        return Failure(stage, "traceback", f"{stage}: {type(error).__name__}: {_line(error)}")
    return None


def _run_pass(name: str, text: str) -> None:
    """Run one pass on a fresh module; internal errors count as tracebacks."""
    from tilewright.support.errors import PassError
    from tilewright.targets.cpu.facts import host_facts

    module = parse_module(text, make_context())
    try:
        PassPipeline([available_passes()[name]()]).run(module, PassContext(facts=host_facts()))
    except PassError as error:
        if error.internal:
            raise RuntimeError(error.message) from error
    except TilewrightError:
        return


def _line(error: Exception) -> str:
    return " ".join(str(error).split("\n")[0].split())[:200]


class TimeOut(BaseException):
    """Something does not come to an end; not an Exception, so that nothing that is tested catches it."""


@contextmanager
def time_limit(seconds: int) -> Generator[None]:
    """Raise `TimeOut` after a while; only where the main thread of a POSIX system runs this."""

    def stop(number: int, frame: object) -> None:
        raise TimeOut

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
