"""What finding equal computations costs; what it finds is in `tests/file/transforms/cse.mlir`."""

from __future__ import annotations

from suite.counting import count_calls
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.cse import eliminate_common_subexpressions


def calls(types: int) -> int:
    """How many functions are called for two empty tensors of each of many types."""
    kinds = 2 * [f"tensor<{extent}xf32>" for extent in range(1, types + 1)]
    lines = [f"%{place} = tensor.empty() : {kind}" for place, kind in enumerate(kinds)]
    values, results = ", ".join(f"%{place}" for place in range(2 * types)), ", ".join(kinds)
    body = "\n".join([*lines, f"return {values} : {results}"])
    module = parse_module(f"func.func @f() -> ({results}) {{\n{body}\n}}", make_context())
    count = count_calls(lambda: eliminate_common_subexpressions(module))
    assert len([op for op in ops_within(module) if op.name == "tensor.empty"]) == types
    return count


def test_ops_without_operands_are_not_compared_with_those_of_other_types() -> None:
    calls(3)
    assert calls(160) < 4.6 * calls(40)
