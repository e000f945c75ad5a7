"""One kernel on the reference behind every pass of the GPU pipelines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import corpus_inputs
import engines

from tilewright import reference
from tilewright.compiler.options import CompileOptions
from tilewright.ir.passes import Pass, PassContext, PassPipeline
from tilewright.ir.verify import verify_module
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured
from tilewright.tools.validation.contents import contents_of


@dataclass(frozen=True)
class Step:
    """What the reference found behind a pass that changed something; `number` counts all passes."""

    number: int
    name: str
    result: engines.Result


def run_behind_passes(inputs: corpus_inputs.Inputs, options: CompileOptions) -> Iterator[Step]:
    """Run the front end's module, then the module behind each pass to the end of `ttgir` (verified). A pass that
    leaves the module as it was is passed over."""
    target = configured(find_target("cuda"), options)
    module = inputs.source.module(target, options)
    context = PassContext(facts=target.facts)
    passes: list[Pass] = [pass_ for _, stage in target.stages() for pass_ in stage]
    last: list[object] = []
    for number in range(len(passes) + 1):
        if number:
            PassPipeline([passes[number - 1]]).run(module, context)
        now = contents_of(module)
        if now == last:
            continue
        verify_module(module)
        last = now
        initial, copies = [array.copy() for array in inputs.reachable], engines.fresh(inputs.arguments)
        kernel = reference.find_kernel(module)
        limit = 4 * engines.STEP_LIMIT
        reference.run_grid(
            module, kernel, engines.flat(copies), inputs.grid, step_limit=limit, reachable=inputs.reachable
        )
        arrays = (*engines.arrays_of(copies), *(array.copy() for array in inputs.reachable))
        for array, contents in zip(inputs.reachable, initial, strict=True):
            array[...] = contents
        name = passes[number - 1].name if number else "the front end"
        yield Step(number, name, engines.Result(name, arrays))
