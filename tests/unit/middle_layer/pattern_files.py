"""Writes `tests/file/patterns`: the `tt` text of each kernel of `tests/kernels/corpus/patterns.py`.

    python tests/unit/middle_layer/pattern_files.py && python -m pytest tests/file/patterns --bless

The second command writes what the pass makes of them; read the difference before it is committed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

TESTS = Path(__file__).parents[2]
FOLDER = TESTS / "file" / "patterns"
RUN = "// RUN: tilewright-opt %s --triton-to-structured --remove-dead-values --canonicalize --cse | exact %s\n"


TUTORIALS = {
    "add_kernel": "kernel-01-vector-add",
    "softmax_kernel": "kernel-02-fused-softmax",
    "matmul_kernel": "kernel-03-matrix-multiplication",
    "layer_norm_forward": "kernel-05-layer-norm-fwd",
    "layer_norm_backward_weights": "kernel-05-layer-norm-dwdb",
    "attention_forward": "kernel-06-fused-attention",
}
"""Examples, by the names of the tutorials that they follow."""


def modules() -> Iterator[tuple[str, ModuleOp]]:
    """File names and what the files hold."""
    import corpus_oracle
    import example_kernels

    for case in corpus_oracle.cases():
        if case.file == "patterns":
            yield case.kernel, corpus_oracle.our_module(case)
    names = dict(TUTORIALS)
    for name, module in example_kernels.modules(TESTS.parent / "examples"):
        file = names.pop(name.split(":")[1], None)
        if file is not None:
            yield file, module


def main() -> None:
    sys.path[:0] = [str(TESTS / "kernels"), str(Path(__file__).parent)]
    from corpus_stages import PREPARE

    from tilewright.ir.passes import PassContext, parse_pipeline
    from tilewright.ir.printing import print_op

    FOLDER.mkdir(exist_ok=True)
    for name, module in modules():
        parse_pipeline(PREPARE).run(module, PassContext())
        (FOLDER / f"{name}.mlir").write_text(f"{RUN}\n{print_op(module)}\n// EXACT:\n", encoding="utf-8")


if __name__ == "__main__":
    main()
