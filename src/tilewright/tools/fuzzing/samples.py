"""The texts of a generated kernel at every stage."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tilewright.ir.printing import print_op
from tilewright.tools.fuzzing.differential import launch_of_file
from tilewright.tools.fuzzing.replay import render
from tilewright.tools.fuzzing.values import GeneratedKernel
from tilewright.tools.validation.engines import find_cpu, walk_stages


def stage_texts(kernel: GeneratedKernel) -> list[str]:
    """IR text after the front end and at the end of each stage."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        path = Path(folder) / "kernel.py"
        path.write_text(render(kernel))
        launch = launch_of_file(path)
        return [print_op(module) for _, module in walk_stages(launch, find_cpu())]
