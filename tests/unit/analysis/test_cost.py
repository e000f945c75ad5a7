"""The cost of the pointer passes per op does not grow with the kernel."""

from __future__ import annotations

from suite.counting import count_calls
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.lowering.tt_to_structured.triton_to_structured import TritonToStructuredPass
from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

PTRS, INTS, BOOLS = "tensor<8x!tt.ptr<f32>>", "tensor<8xi32>", "tensor<8xi1>"


def repeated(times: int) -> str:
    """A kernel with one loop after the other, each on the pointer that the last one left."""
    lines, pointer = [], "%p"
    for k in range(times):
        lines.append(f"""
          %r{k} = scf.for %i{k} = %c0 to %n step %c1 iter_args(%q{k} = {pointer}) -> ({PTRS})  : i32 {{
            %left{k} = arith.subi %n, %i{k} : i32
            %s{k} = tt.splat %left{k} : i32 -> {INTS}
            %m{k} = arith.cmpi slt, %range, %s{k} : {INTS}
            %v{k} = tt.load %q{k}, %m{k} : {PTRS}
            tt.store %q{k}, %v{k}, %m{k} : {PTRS}
            %x{k} = tt.load %x : !tt.ptr<f32>
            tt.store %x, %x{k} : !tt.ptr<f32>
            %next{k} = tt.addptr %q{k}, %eight : {PTRS}, {INTS}
            scf.yield %next{k} : {PTRS}
          }}""")
        pointer = f"%r{k}"
    return f"""tt.func public @k(%x: !tt.ptr<f32>, %n: i32) {{
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %eight = arith.constant dense<8> : {INTS}
      %range = tt.make_range {{end = 8 : i32, start = 0 : i32}} : {INTS}
      %xs = tt.splat %x : !tt.ptr<f32> -> {PTRS}
      %p = tt.addptr %xs, %range : {PTRS}, {INTS}
      {"".join(lines)}
      tt.return
    }}"""


def test_cost_is_linear() -> None:
    costs: list[float] = []
    for times in (4, 64):
        module = parse_module(repeated(times), make_context())
        pipeline = PassPipeline([TritonToStructuredPass(), TritonToUnstructuredPass()])
        costs.append(count_calls(lambda p=pipeline, m=module: p.run(m, PassContext())) / times)
        assert not any(op.name == "tt.addptr" for op in module.walk())
    assert costs[1] < 1.3 * costs[0], costs
