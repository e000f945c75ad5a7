"""The same module is lowered to the same text each time, in whatever order memory is handed out."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext
from tilewright.ir.printing import print_op
from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

POINTERS = range(8)


def kernel() -> str:
    """A loop that carries pointers, all of which it moves and reads."""
    types = ", ".join("!tt.ptr<i64>" for _ in POINTERS)
    lines = [
        f"tt.func public @k({', '.join(f'%a{n}: !tt.ptr<i64>' for n in POINTERS)}, %n: i32, %out: !tt.ptr<i64>) {{",
        "%c0 = arith.constant 0 : i32",
        "%c1 = arith.constant 1 : i32",
        f"%r:{len(POINTERS)} = scf.for %i = %c0 to %n step %c1",
        f"iter_args({', '.join(f'%p{n} = %a{n}' for n in POINTERS)}) -> ({types}) : i32 {{",
        *(f"%v{n} = tt.load %p{n} : !tt.ptr<i64>\ntt.store %out, %v{n} : !tt.ptr<i64>" for n in POINTERS),
        *(f"%n{n} = tt.addptr %p{n}, %c1 : !tt.ptr<i64>, i32" for n in POINTERS),
        f"scf.yield {', '.join(f'%n{n}' for n in POINTERS)} : {types}",
        "}",
        "tt.return",
        "}",
    ]
    return "\n".join(lines)


def test_pointers_that_a_loop_carries_keep_their_order() -> None:
    modules: list[ModuleOp] = []  # all alive, so that each has other addresses, by which sets are ordered
    for _ in range(12):
        modules.append(parse_module(kernel(), make_context()))
        TritonToUnstructuredPass().run(modules[-1], PassContext())
    assert len(set(map(print_op, modules))) == 1
