"""Random mutations of valid modules, and a check of what a pass makes of them.

A mutant is made from one stage of one kernel by a few small changes: an op removed, repeated or moved, an operand
exchanged, a type changed, an attribute changed or taken from another op. The verifier accepts it or says what is
wrong; and what the verifier accepts, every pass turns into valid IR or refuses with an error of ours. Anything
else is a defect: another exception, invalid IR, or a pass that does not come to an end.

Each mutant follows from its number, so that `python mutations.py --start N --count 1` shows one again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "kernels"), str(Path(__file__).parent)]

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    f16,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import tt
from tilewright.dialects.types import element_type, with_element_type
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError
from tilewright.tools.fuzzing.mutation import TimeOut, time_limit

SECONDS = 10
"""How long a pass may take on a mutant: a hundred times what the largest kernel needs."""

MOST_OPS = 220
"""Larger kernels are left out: mutations of small ones find the same, faster."""

PASSES: dict[str, tuple[str, ...]] = {
    "tt": (
        "triton-to-structured",
        "triton-to-structured{enable-make-gather-scatter=false}",
        "triton-to-structured{run-prepass-only=true}",
        "triton-to-unstructured",
        "triton-to-unstructured{offset-bit-width=64}",
        "triton-arith-to-linalg",
        "triton-arith-to-linalg{tensor-ptr-to-linalg=true}",
        "triton-to-linalg",
        "triton-to-linalg",
    ),
    "structured": (
        "triton-to-unstructured",
        "triton-arith-to-linalg",
        "structured-to-memref",
        "unstructured-to-memref",
        "triton-ptr-to-memref",
        "triton-arith-to-linalg,structured-to-memref,unstructured-to-memref,triton-ptr-to-memref",
    ),
    "linalg": (
        "structured-to-memref",
        "unstructured-to-memref",
        "triton-ptr-to-memref",
        "reconcile-unrealized-casts",
        "remove-dead-values",
        "collapse-shape",
        "cse,canonicalize",
    ),
}
"""The pipelines that mutants of a stage go through, one for each mutant."""

ELEMENTS = (i1, i32, i64, f16, f32)


@dataclass(frozen=True)
class Seed:
    """A valid module that mutants are made of."""

    name: str
    stage: str
    module: ModuleOp


class Mutator:
    """Makes random changes to a module."""

    def __init__(self, module: ModuleOp, rng: random.Random) -> None:
        self.module, self.rng = module, rng

    def mutate(self) -> str:
        """One to three changes; says which."""
        changes: list[Callable[[Operation], str]] = [
            self.remove,
            self.repeat,
            self.move,
            self.exchange_operands,
            self.take_other_value,
            self.take_value_of_same_type,
            self.take_value_of_same_type,
            self.take_value_of_same_type,
            self.change_type,
            self.change_number,
            self.drop_attribute,
            self.take_attribute,
        ]
        done: list[str] = []
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            ops = [op for op in self.module.walk() if op is not self.module]
            if ops:
                op = self.rng.choice(ops)
                done.append(f"{self.rng.choice(changes)(op)} ({op.name})")
        return ", ".join(done)

    def values(self) -> list[SSAValue]:
        """Every value of the module."""
        found: list[SSAValue] = []
        for op in self.module.walk():
            found.extend(op.results)
            for region in op.regions:
                for block in region.blocks:
                    found.extend(block.args)
        return found

    def remove(self, op: Operation) -> str:
        """An op disappears; its uses take other values, of the same type if there are some."""
        for result in op.results:
            others = [value for value in self.values() if value.owner is not op and not _is_inside(value, op)]
            same = [value for value in others if value.type == result.type]
            if not (same or others):
                return "nothing"
            result.replace_all_uses_with(self.rng.choice(same or others))
        inner = [value for value in self.values() if _is_inside(value, op)]
        if any(not _is_under(use.operation, op) for value in inner for use in value.uses):
            return "nothing"
        op.detach()
        op.erase(safe_erase=False)
        return "removed"

    def repeat(self, op: Operation) -> str:
        if op.parent is None or op.successors:
            return "nothing"
        op.parent.insert_op_before(op.clone(), op)
        return "repeated"

    def move(self, op: Operation) -> str:
        block = op.parent
        if block is None or op.next_op is None:
            return "nothing"
        other = self.rng.choice(list(block.ops))
        if other is not op:
            op.detach()
            block.insert_op_before(op, other)
        return "moved"

    def exchange_operands(self, op: Operation) -> str:
        if len(op.operands) < 2:
            return "nothing"
        a, b = self.rng.sample(range(len(op.operands)), 2)
        op.operands[a], op.operands[b] = op.operands[b], op.operands[a]
        return "operands exchanged"

    def take_other_value(self, op: Operation) -> str:
        if not op.operands:
            return "nothing"
        op.operands[self.rng.randrange(len(op.operands))] = self.rng.choice(self.values())
        return "operand replaced"

    def take_value_of_same_type(self, op: Operation) -> str:
        """The kind that the verifier mostly accepts."""
        if not op.operands:
            return "nothing"
        number = self.rng.randrange(len(op.operands))
        old = op.operands[number]
        same = [value for value in self.values() if value.type == old.type and value is not old]
        if same:
            op.operands[number] = self.rng.choice(same)
        return "operand replaced by one of its type"

    def change_type(self, op: Operation) -> str:
        values: list[SSAValue] = [*op.results]
        for region in op.regions:
            for block in region.blocks:
                values.extend(block.args)
        if not values:
            return "nothing"
        value = self.rng.choice(values)
        Rewriter.replace_value_with_new_type(value, self.other_type(value.type))
        return "type changed"

    def other_type(self, kind: Attribute) -> Attribute:
        """Another element type, or another shape."""
        if isinstance(kind, TensorType) and self.rng.random() < 0.5:
            shape = list(kind.get_shape())
            change = self.rng.choice(("double", "drop", "add", "dynamic"))
            if change == "add" or not shape:
                shape.append(1)
            else:
                dim = self.rng.randrange(len(shape))
                if change == "drop":
                    del shape[dim]
                else:
                    shape[dim] = shape[dim] * 2 if change == "double" else -1
            return TensorType(kind.element_type, shape)
        element = element_type(kind)
        new: Attribute = self.rng.choice(ELEMENTS)
        if isinstance(element, tt.PointerType):
            new = tt.PointerType(self.rng.choice((new, element)), self.rng.choice((1, 1, 3)))
        try:
            return with_element_type(kind, new)
        except (AssertionError, TypeError, ValueError):
            return new

    def change_number(self, op: Operation) -> str:
        """An integer or float in an attribute gets an unlikely value."""
        for name in self.rng.sample(sorted(op.properties), len(op.properties)):
            new = self.other_number(op.properties[name])
            if new is not None:
                op.properties[name] = new
                return f"{name} changed"
        return "nothing"

    def other_number(self, attribute: Attribute) -> Attribute | None:
        number = self.rng.choice((-1, 0, 1, 2, 3, 7, 64, 2**31 - 1, -(2**63)))
        match attribute:
            case IntegerAttr():
                width = attribute.type.width.data if isinstance(attribute.type, IntegerType) else 64
                return IntegerAttr(number % 2 ** (width - 1) if width > 1 else number % 2, attribute.type)
            case FloatAttr():
                return FloatAttr(self.rng.choice((0.0, -1.0, float("inf"), float("nan"))), Float32Type())
            case DenseArrayBase():
                values = [int(value) for value in attribute.get_values()]
                if not values or self.rng.random() < 0.3:
                    values.append(number)
                else:
                    values[self.rng.randrange(len(values))] = number
                kind = attribute.elt_type
                if not isinstance(kind, IntegerType):
                    return None
                limit = 2 ** (kind.width.data - 1)
                return DenseArrayBase.from_list(kind, [max(-limit, min(value, limit - 1)) for value in values])
            case ArrayAttr() if len(attribute.data):
                return ArrayAttr(self.rng.sample(attribute.data, len(attribute.data))[self.rng.randrange(2) :])
            case _:
                return None

    def drop_attribute(self, op: Operation) -> str:
        where = self.rng.choice((op.properties, op.attributes))
        if not where:
            return "nothing"
        name = self.rng.choice(sorted(where))
        del where[name]
        return f"{name} dropped"

    def take_attribute(self, op: Operation) -> str:
        """An attribute of another op, under the same name if possible."""
        if not op.properties:
            return "nothing"
        name = self.rng.choice(sorted(op.properties))
        others = [o.properties[name] for o in self.module.walk() if name in o.properties and o is not op]
        if not others or self.rng.random() < 0.1:
            others = [value for o in self.module.walk() for value in o.properties.values()]
        op.properties[name] = self.rng.choice(others)
        return f"{name} taken from another op"


def _is_under(op: Operation | None, ancestor: Operation) -> bool:
    while op is not None:
        if op is ancestor:
            return True
        op = op.parent_op()
    return False


def _is_inside(value: SSAValue, op: Operation) -> bool:
    owner = value.owner
    return _is_under(owner.parent_op() if isinstance(owner, Block) else owner, op)


def seeds_of(stages: Sequence[Any]) -> list[Seed]:
    """The modules of a corpus that are small enough."""
    found: list[Seed] = []
    for kernel in stages:
        for stage in PASSES:
            module: ModuleOp = getattr(kernel, stage)
            if sum(1 for _ in module.walk()) <= MOST_OPS:
                found.append(Seed(kernel.name, stage, module))
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: "refused" (by the verifier), "error" (of ours, by a pass), "valid"; or a defect, with
    the story."""

    kind: str
    story: str = ""


def try_mutant(seeds: Sequence[Seed], number: int) -> Outcome:
    """Make a mutant and run a pass on it."""
    rng = random.Random(number)
    seed = rng.choice(seeds)
    pipeline = rng.choice(PASSES[seed.stage])
    module = seed.module.clone()
    changes = Mutator(module, rng).mutate()

    def defect(what: str) -> Outcome:
        story = f"mutant {number}: {seed.name} at {seed.stage}, {changes}; {pipeline}: {what}\n{traceback.format_exc()}"
        return Outcome("defect", story)

    try:
        with time_limit(SECONDS):
            verify_module(module)
    except TilewrightError:
        return Outcome("refused")
    except (Exception, TimeOut) as error:
        return defect(f"the verifier fails with {type(error).__name__}")
    try:
        with time_limit(SECONDS):
            parse_pipeline(pipeline).run(module, PassContext())
    except TilewrightError as error:
        return defect("an error that is not the module's") if error.internal else Outcome("error")
    except (Exception, TimeOut) as error:
        return defect(type(error).__name__)
    try:
        verify_module(module)
        print_op(module)
    except TilewrightError as error:
        return defect(f"the result is invalid: {error}")
    except Exception as error:
        return defect(f"the result can not be verified or printed: {type(error).__name__}")
    return Outcome("valid")


def main() -> int:
    """The long mode."""
    from corpus_stages import all_stages

    parser = argparse.ArgumentParser(description="Mutated modules through every pass of the middle layer.")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    options = parser.parse_args()
    seeds = seeds_of(list(all_stages()))
    outcomes: Counter[str] = Counter()
    start = time.monotonic()
    number = options.start
    while number < options.start + options.count and time.monotonic() - start < options.seconds:
        outcome = try_mutant(seeds, number)
        outcomes[outcome.kind] += 1
        if outcome.kind == "defect":
            print(outcome.story, flush=True)
        number += 1
    print(f"mutants {options.start} to {number - 1}: {dict(outcomes)}, {time.monotonic() - start:.0f} s")
    return 1 if outcomes["defect"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
