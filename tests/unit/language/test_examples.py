"""The examples of docs/language.md are compiled and run, and their lines have the values that stand beside them."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from suite.arrays import Array
from tilewright.language.documentation import read_examples
from tilewright.support import knobs

EXAMPLES = read_examples()
PART = 16
"""Examples of one test."""

OF_GPUS = "extra.cuda."
HEAD = "import triton\nimport triton.language as tl\n"


class Example:
    """An example as a program: what it defines stands outside of the kernel, and each line with a value stores it."""

    def __init__(self, text: str) -> None:
        self.expected: list[Array] = []
        lines = text.splitlines()
        outside: list[str] = []
        body: list[str] = []
        for node in ast.parse(text).body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            source = lines[first - 1 : node.end_lineno]
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                outside += source
            else:
                body += [self._stored(source[0])] if isinstance(node, ast.Expr) else source
        outs = [f"out{n}" for n in range(len(self.expected))]
        head = [f"def example({', '.join(['x_ptr', 'i_ptr', *outs])}):"]
        self.program = "\n".join([HEAD, *outside, "\n\n@triton.jit", *head, *(f"    {line}" for line in body)]) + "\n"

    def _stored(self, line: str) -> str:
        expression, mark, value = line.partition("  # ")
        if not mark:
            return line
        expected = np.array(ast.literal_eval(value))
        out = f"out{len(self.expected)}"
        self.expected.append(expected)
        if not expected.shape:
            return f"tl.store({out}, {expression})"
        return f"tl.store({out} + tl.arange(0, {expected.size}), tl.ravel({expression}))"

    def run(self, file: Path) -> list[Array]:
        """The values of the lines."""
        from tilewright import compat

        file.write_text(self.program)
        with compat.standing_in():
            kernel = runpy.run_path(str(file))["example"]
        x, i = np.arange(64, dtype=np.float32), np.arange(64, dtype=np.int32)
        values = [np.empty(value.size, np.float32 if value.dtype.kind == "f" else np.int64) for value in self.expected]
        kernel[(1,)](x, i, *values)
        return [got.reshape(value.shape) for got, value in zip(values, self.expected, strict=True)]


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(-(-len(EXAMPLES) // PART)))
def test_lines_have_their_values(part: int, tmp_path: Path) -> None:
    wrong: list[str] = []
    for name in list(EXAMPLES)[part * PART : (part + 1) * PART]:
        example = Example(EXAMPLES[name])
        with knobs.scope(target="cuda_sim" if name.startswith(OF_GPUS) else "cpu"):
            try:
                values = example.run(tmp_path / f"{name.replace('.', '_')}.py")
            except Exception as error:
                wrong.append(f"{name}: {error}")
                continue
        for value, expected in zip(values, example.expected, strict=True):
            if not np.allclose(value, expected, rtol=2e-6, atol=1e-6):
                wrong.append(f"{name}: {value.tolist()} is not {expected.tolist()}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_short_and_about_what_they_are_named_for(name: str) -> None:
    text = EXAMPLES[name]
    assert len(list(filter(None, text.splitlines()))) <= 9, "one to six lines, and what these call"
    if name not in ("constexpr", "tensor", "tuple", "tensor_descriptor", "tensor_descriptor_type", "CompileTarget"):
        assert re.search(rf"\b{name.rpartition('.')[2].removeprefix('_')}\b", text)


def test_a_wrong_value_is_seen(tmp_path: Path) -> None:
    example = Example("i = tl.arange(0, 4)\ni + 1  # [1, 2, 3, 5]\ni[0:1] if False else 7  # 7")
    with knobs.scope(target="cpu"):
        first, second = example.run(tmp_path / "wrong.py")
    assert first.tolist() == [1, 2, 3, 4] != example.expected[0].tolist() and second == example.expected[1] == 7
