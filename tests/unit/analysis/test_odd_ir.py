"""IR that has no structure, or little: it lowers in the general form, or stays whole with a remark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.ir.verify import verify_module
from tilewright.lowering.tt_to_structured.triton_to_structured import TritonToStructuredPass
from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

Check = Callable[..., Any]
rng = np.random.default_rng(23)
PTRS, INTS, FLOATS, BOOLS = ("tensor<8x!tt.ptr<f32>>", "tensor<8xi32>", "tensor<8xf32>", "tensor<8xi1>")

HEADER = f"""
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : {INTS}
  %xs = tt.splat %x : !tt.ptr<f32> -> {PTRS}
  %ys = tt.splat %y : !tt.ptr<f32> -> {PTRS}
  %xp = tt.addptr %xs, %r : {PTRS}, {INTS}
  %yp = tt.addptr %ys, %r : {PTRS}, {INTS}
  %ones = arith.constant dense<1> : {INTS}
"""


def kernel(body: str, arguments: str = "") -> str:
    return f"tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>{arguments}) {{{HEADER}{body}\n  tt.return\n}}\n"


def floats(count: int = 64) -> Any:
    return rng.standard_normal(count).astype(np.float32)


def left_over(module: Any) -> list[str]:
    """Accesses that were not lowered."""
    return [op.name for op in module.walk() if op.name in ("tt.load", "tt.store", "tt.atomic_rmw", "tt.addptr")]


def test_lanes_of_two_bases(check: Check, names: Any) -> None:
    body = f"""
      %s = tt.splat %n : i32 -> {INTS}
      %m = arith.cmpi slt, %r, %s : {INTS}
      %p = arith.select %m, %xp, %yp : {BOOLS}, {PTRS}
      %q = tt.addptr %p, %ones : {PTRS}, {INTS}
      %v = tt.load %p : {PTRS}
      tt.store %q, %v : {PTRS}
    """
    module = check(kernel(body, ", %n: i32"), [floats(), floats()], (3,), more_scalars=[(0,), (8,)])
    assert not left_over(module) and "tt.ptr_to_int" in names(module)


@pytest.mark.parametrize("condition", [0, 1])
def test_a_branch_chooses_the_base(check: Check, names: Any, condition: int) -> None:
    body = f"""
      %p = scf.if %c -> ({PTRS}) {{
        scf.yield %xp : {PTRS}
      }} else {{
        %moved = tt.addptr %yp, %ones : {PTRS}, {INTS}
        scf.yield %moved : {PTRS}
      }}
      %v = tt.load %p : {PTRS}
      %two = tt.addptr %p, %r : {PTRS}, {INTS}
      tt.store %two, %v : {PTRS}
    """
    module = check(kernel(body, ", %c: i1"), [floats(), floats()], (condition,))
    assert not left_over(module) and names(module).count("tts.make_tptr") == 2


def test_bases_that_swap_round_a_loop(check: Check) -> None:
    body = f"""
      %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %xp, %q = %yp) -> ({PTRS}, {PTRS})  : i32 {{
        %v = tt.load %p : {PTRS}
        %far = tt.addptr %q, %ones : {PTRS}, {INTS}
        tt.store %far, %v : {PTRS}
        scf.yield %far, %p : {PTRS}, {PTRS}
      }}
      %w = tt.load %a : {PTRS}
      tt.store %b, %w : {PTRS}
    """
    assert not left_over(check(kernel(body), [floats(), floats()]))


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_while_loop_carries_pointers(check: Check, steps: int) -> None:
    body = f"""
      %res:3 = scf.while (%i = %c0, %p = %xp, %s = %y) : (i32, {PTRS}, !tt.ptr<f32>) -> (i32, {PTRS}, !tt.ptr<f32>) {{
        %go = arith.cmpi slt, %i, %n : i32
        %ahead = tt.addptr %p, %ones : {PTRS}, {INTS}
        scf.condition(%go) %i, %ahead, %s : i32, {PTRS}, !tt.ptr<f32>
      }} do {{
      ^bb0(%i: i32, %p: {PTRS}, %s: !tt.ptr<f32>):
        %v = tt.load %p : {PTRS}
        %ss = tt.splat %s : !tt.ptr<f32> -> {PTRS}
        %sp = tt.addptr %ss, %r : {PTRS}, {INTS}
        tt.store %sp, %v : {PTRS}
        %i2 = arith.addi %i, %c1 : i32
        %s2 = tt.addptr %s, %c3 : !tt.ptr<f32>, i32
        scf.yield %i2, %p, %s2 : i32, {PTRS}, !tt.ptr<f32>
      }}
      %v = tt.load %res#1 : {PTRS}
      tt.store %yp, %v : {PTRS}
      %w = tt.load %res#2 : !tt.ptr<f32>
      tt.store %x, %w : !tt.ptr<f32>
    """
    module = check(kernel(body, ", %n: i32"), [floats(), floats()], (steps,))
    assert not left_over(module)


@pytest.mark.parametrize("branch", [0, 1])
def test_pointers_in_block_arguments(check: Check, branch: int) -> None:
    body = f"""
      cf.cond_br %c, ^bb1(%xp, %x : {PTRS}, !tt.ptr<f32>), ^bb2
    ^bb2:
      %moved = tt.addptr %yp, %r : {PTRS}, {INTS}
      cf.br ^bb1(%moved, %y : {PTRS}, !tt.ptr<f32>)
    ^bb1(%p: {PTRS}, %s: !tt.ptr<f32>):
      %v = tt.load %p : {PTRS}
      %ss = tt.splat %s : !tt.ptr<f32> -> {PTRS}
      %sp = tt.addptr %ss, %r : {PTRS}, {INTS}
      tt.store %sp, %v : {PTRS}
    """
    module = check(kernel(body, ", %c: i1"), [floats(), floats()], (branch,))
    assert not left_over(module)


def test_pointers_in_memory(check: Check, names: Any) -> None:
    body = f"""
      %shift = arith.constant 2 : i32
      %x2 = tt.addptr %x, %shift : !tt.ptr<f32>, i32
      tt.store %table, %x2 : !tt.ptr<!tt.ptr<f32>>
      %p = tt.load %table : !tt.ptr<!tt.ptr<f32>>
      %ps = tt.splat %p : !tt.ptr<f32> -> {PTRS}
      %q = tt.addptr %ps, %r : {PTRS}, {INTS}
      %v = tt.load %q : {PTRS}
      tt.store %yp, %v : {PTRS}
      %bits = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
      %eight = arith.constant 8 : i64
      %further = arith.addi %bits, %eight : i64
      %again = tt.int_to_ptr %further : i64 -> !tt.ptr<f32>
      tt.store %again, %first : !tt.ptr<f32>
    """
    body = body.replace("%v = tt", "%first = tt.load %p : !tt.ptr<f32>\n %v = tt", 1)
    module = check(kernel(body, ", %table: !tt.ptr<!tt.ptr<f32>>"), [floats(), floats(), np.zeros(2, np.int64)])
    assert not left_over(module)


def test_a_stride_that_depends_on_the_lane(check: Check, names: Any) -> None:
    body = f"""
      %square = arith.muli %r, %r : {INTS}
      %p = tt.addptr %xs, %square : {PTRS}, {INTS}
      %v = tt.load %p : {PTRS}
      tt.store %yp, %v : {PTRS}
    """
    module = check(kernel(body), [floats(), floats()])
    assert not left_over(module) and "tts.make_gather_scatter_tptr" in names(module)


def test_a_mask_from_a_table(check: Check, names: Any) -> None:
    body = f"""
      %ts = tt.splat %table : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
      %tp = tt.addptr %ts, %r : tensor<8x!tt.ptr<i32>>, {INTS}
      %t = tt.load %tp : tensor<8x!tt.ptr<i32>>
      %m = arith.cmpi sgt, %t, %ones : {INTS}
      %v = tt.load %xp, %m : {PTRS}
      tt.store %yp, %v, %m : {PTRS}
    """
    table = np.array([0, 5, 1, 2, 0, 3, 1, 7], np.int32)
    module = check(kernel(body, ", %table: !tt.ptr<i32>"), [floats(), floats(), table])
    assert "tts.masked_load" in names(module) and not left_over(module)


def test_atomics(check: Check, names: Any) -> None:
    body = f"""
      %half = arith.constant dense<2> : {INTS}
      %bins = arith.divsi %r, %half : {INTS}
      %p = tt.addptr %xs, %bins : {PTRS}, {INTS}
      %v = tt.load %yp : {PTRS}
      %s = tt.splat %n : i32 -> {INTS}
      %m = arith.cmpi slt, %r, %s : {INTS}
      %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : ({PTRS}, {FLOATS}, {BOOLS}) -> {FLOATS}
      tt.store %yp, %old, %m : {PTRS}
    """
    module = check(kernel(body, ", %n: i32"), [floats(), floats()], (5,))
    assert "tts.atomic_rmw" in names(module) and not left_over(module)


@pytest.mark.costly
def test_a_chain_of_thousands_of_ops(check: Check) -> None:
    lines = [f"%p0 = tt.addptr %xs, %r : {PTRS}, {INTS}"]
    for number in range(1, 3000):
        lines.append(f"%p{number} = tt.addptr %p{number - 1}, %ones : {PTRS}, {INTS}")
        lines.append(f"%m{number} = arith.andi {'%live' if number == 1 else f'%m{number - 1}'}, %live : {BOOLS}")
    body = f"%s = tt.splat %c3 : i32 -> {INTS}\n %live = arith.cmpi slt, %r, %s : {INTS}\n" + "\n".join(lines)
    body += f"\n%v = tt.load %p2999, %m2999 : {PTRS}\n tt.store %yp, %v, %m2999 : {PTRS}"
    assert not left_over(check(kernel(body), [floats(4096), floats()]))


def test_loops_nested_deeply(check: Check, names: Any) -> None:
    depth = 7
    opening, closing, outer = [], [], "%xp"
    for level in range(depth):
        opening.append(
            f"%r{level} = scf.for %i{level} = %c0 to %two step %c1 iter_args(%p{level} = {outer}) -> ({PTRS})  : i32 {{"
        )
        outer = f"%p{level}"
        inner = f"%r{level + 1}" if level + 1 < depth else f"%p{level}"
        closing.append(f"%n{level} = tt.addptr {inner}, %ones : {PTRS}, {INTS}\n scf.yield %n{level} : {PTRS}\n }}")
    core = f"%v = tt.load %p{depth - 1} : {PTRS}\n tt.store %yp, %v : {PTRS}"
    body = "%two = arith.constant 2 : i32\n" + "\n".join([*opening, core, *reversed(closing)])
    module = check(kernel(body), [floats(400), floats()])
    assert not left_over(module) and "tts.gather" not in names(module)


def run_passes(text: str) -> tuple[Any, list[str]]:
    module = parse_module(text, make_context())
    verify_module(module)
    context = PassContext()
    PassPipeline([TritonToStructuredPass(), TritonToUnstructuredPass()]).run(module, context)
    verify_module(module)
    return module, [remark.reason for remark in context.remarks]


UNREACHABLE = {
    "tensor of pointers as argument": f"""
      tt.func @k(%p: {PTRS}) {{
        %v = tt.load %p : {PTRS}
        tt.store %p, %v : {PTRS}
        tt.return
      }}
    """,
    "address in a function without a pointer argument": """
      tt.func private @k(%a: i64) {
        %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
        %v = tt.load %p : !tt.ptr<f32>
        tt.store %p, %v : !tt.ptr<f32>
        tt.return
      }
    """,
}


@pytest.mark.parametrize("case", UNREACHABLE)
def test_what_can_not_be_expressed_stays_with_a_remark(case: str) -> None:
    module, remarks = run_passes(UNREACHABLE[case])
    assert left_over(module) == ["tt.load", "tt.store"]
    assert len(remarks) >= 2 and all(remarks)


@pytest.mark.parametrize("facts", ["", " {tt.divisibility = 16 : i32}"], ids=["any", "divisible"])
def test_wide_elements_are_counted_from_an_argument_of_bytes(facts: str, names: Any) -> None:
    """From its first byte that such an element may begin at."""
    text = f"""
      tt.func @k(%b: !tt.ptr<i8>{facts}, %a: i64) {{
        %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
        %v = tt.load %p : !tt.ptr<f32>
        tt.store %p, %v : !tt.ptr<f32>
        tt.return
      }}
    """
    module, remarks = run_passes(text)
    assert not remarks and not {"tt.load", "tt.store"} & {*left_over(module)}
    assert ("tt.addptr" in names(module)) == (not facts)


def test_declarations_and_empty_modules_pass() -> None:
    run_passes("tt.func private @outside(%p: !tt.ptr<f32>)\n")
    run_passes("module {\n}\n")


def test_calls_pass_base_and_offset(names: Any) -> None:
    text = f"""
    tt.func private @callee(%p: !tt.ptr<f32>) attributes {{noinline = true}} {{
      %v = tt.load %p : !tt.ptr<f32>
      tt.store %p, %v : !tt.ptr<f32>
      tt.return
    }}
    {
        kernel('''
      %p = tt.addptr %x, %c3 : !tt.ptr<f32>, i32
      tt.call @callee(%p) : (!tt.ptr<f32>) -> ()
    ''')
    }
    """
    module, remarks = run_passes(text)
    (call,) = (op for op in module.walk() if op.name == "tt.call")
    assert not remarks and names(module).count("tts.gather") == 1
    assert call.operands[0] is call.parent_op().body.block.args[0]
    assert [str(operand.type) for operand in call.operands] == ["!tt.ptr<f32>", "i64"]


def test_volatile_loads_stay_volatile() -> None:
    module, _ = run_passes(
        kernel("%v = tt.load %x {isVolatile = true} : !tt.ptr<f32>\n tt.store %y, %v : !tt.ptr<f32>")
    )
    assert [op.name for op in module.walk() if "isVolatile" in op.attributes] == ["tts.gather"]


def test_rebased_accesses_end_disjointness() -> None:
    body = (
        "%p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>\n %v = tt.load %p : !tt.ptr<f32>\n tt.store %y, %v : !tt.ptr<f32>"
    )
    text = kernel(body, ", %a: i64").replace(") {", ") attributes {tilewright.noalias} {", 1)
    module, _ = run_passes(text)
    assert "tilewright.noalias" not in str(next(iter(module.ops)).attributes)
