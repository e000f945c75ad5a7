"""IR texts to start mutations from: a generated kernel at every stage, and single ops in a function of their own."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tilewright.dialects import func
from tilewright.ir.printing import print_op
from tilewright.ir.walking import ops_within
from tilewright.targets.base import find_target
from tilewright.tools.fuzzing.differential import GPUS, HOPPER, launch_of_file
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.replay import render
from tilewright.tools.fuzzing.values import GeneratedKernel
from tilewright.tools.validation.engines import find_cpu, walk_stages

SEEDS = (0, 1, 2, 79, 98, 140, 171, 200, 229)
"""Kernels that have between them what is lowered in a way of its own: products in loops, descriptors, calls, ..."""

FORMS_OF_AN_OP = 4
"""Types that one op is taken with, at most."""


def stage_modules(kernel: GeneratedKernel) -> list[ModuleOp]:
    """The module after the front end and at the end of each stage, on the way to the CPU and to GPUs."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(render(kernel))
        launch = launch_of_file(path)
        found = [module.clone() for _, module in walk_stages(launch, find_cpu())]
        for route in GPUS if "float8e4nv" not in kernel.features else (HOPPER,):
            on_gpu = walk_stages(launch.for_architecture(route.arch), find_target(route.target))
            found += [module.clone() for point, module in on_gpu if point.stage in route.stages]
        return found


def seed_texts() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whole modules of small generated kernels at every stage, and the single ops that occur in them."""
    modules = [m for number in SEEDS for m in stage_modules(KernelGenerator(Random(number), 6).generate())]
    counts: Counter[str] = Counter()
    seen: set[tuple[object, ...]] = set()
    singles: list[str] = []
    for op in (op for module in modules for op in single_ops(module)):
        form = (op.name, *op.operand_types, *op.result_types)
        if form in seen or counts[op.name] >= FORMS_OF_AN_OP:
            continue
        seen.add(form)
        counts[op.name] += 1
        singles.append(print_op(in_a_function(op)))
    return tuple(print_op(module) for module in modules), tuple(singles)


def single_ops(module: ModuleOp) -> Iterator[Operation]:
    """The ops that can stand in a function alone."""
    for op in module.walk():
        if (
            not op.has_trait(IsTerminator, value_if_unregistered=False)
            and not isinstance(op, ModuleOp)
            and op.parent_op() is not module
        ):
            yield op


def in_a_function(op: Operation) -> ModuleOp:
    """A module with one function that has a copy of `op`; what it uses becomes an argument.

    `arith.addi %a, %b : i32` is put as `func.func @single(%a: i32, %b: i32) { %0 = arith.addi %a, %b : i32 return }`.
    """
    inner = {value for nested in ops_within(op) for value in nested.results}
    inner |= {
        argument for nested in ops_within(op) for region in nested.regions for b in region.blocks for argument in b.args
    }
    used: dict[SSAValue, None] = dict.fromkeys(
        v for nested in ops_within(op) for v in nested.operands if v not in inner
    )
    block = Block(arg_types=[value.type for value in used])
    copy = op.clone(dict(zip(used, block.args, strict=True)))
    block.add_ops((copy, func.ReturnOp()))
    function = func.FuncOp("single", ([value.type for value in used], []), Region(block))
    return ModuleOp([function])
