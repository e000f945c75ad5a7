"""Which loops are taken for loops in which a program waits for others."""

from __future__ import annotations

import pytest
from loops_kernels import compile_loops  # pyright: ignore[reportMissingImports]

KERNEL = """
func.func private @print_f32(f32)
func.func private @tw_dot_f32(memref<?xf32>)
func.func private @tw_atomic_addi_8xi32_row(memref<?xi32>, index, vector<8xi1>, vector<8xi32>)
func.func private @tw_atomics_end()

func.func private @looks(%m: memref<?xi32>) -> i32 attributes {{noinline}} {{
  %z = arith.constant 0 : index
  %v = memref.load %m[%z] {{tilewright.volatile}} : memref<?xi32>
  return %v : i32
}}

func.func private @works(%m: memref<?xi32>) -> i32 attributes {{noinline}} {{
  %z = arith.constant 0 : index
  %c = arith.constant 0 : i32
  memref.store %c, %m[%z] : memref<?xi32>
  %v = func.call @looks(%m) : (memref<?xi32>) -> i32
  return %v : i32
}}

func.func @k(%x: memref<*xi32>, %y: memref<*xf32>, $GRID) {{
  %z = arith.constant 0 : index
  %n = arith.constant 64 : index
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %lanes = arith.constant dense<1> : vector<8xi32>
  %live = arith.constant dense<true> : vector<8xi1>
  %m = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xi32> to memref<?xi32>
  %f = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %own = memref.alloca() : memref<128xf32>
  scf.while : () -> () {{
    {test}
    %more = arith.cmpi eq, %v, %c0 : i32
    scf.condition(%more)
  }} do {{
    {body}
    scf.yield
  }}
  return
}}
"""

VOLATILE = "%v = memref.load %m[%z] {tilewright.volatile} : memref<?xi32>"
ATOMIC = "%v = memref.atomic_rmw addi %c0, %m[%z] : (i32, memref<?xi32>) -> i32"
PLAIN = "%v = memref.load %m[%z] : memref<?xi32>"
STORE = "memref.store %one, %f[%z] : memref<?xf32>"

CASES = {
    "a volatile load": (VOLATILE, "", True),
    "an atomic": (ATOMIC, "", True),
    "in a function": ("%v = func.call @looks(%m) : (memref<?xi32>) -> i32", "", True),
    "with reads": (VOLATILE, "%r = memref.load %f[%z] : memref<?xf32>", True),
    "with a temporary": (VOLATILE, "memref.store %one, %own[%z] : memref<128xf32>", True),
    "with prints": (VOLATILE, "func.call @print_f32(%one) : (f32) -> ()", True),
    "with atomics on lanes": (
        VOLATILE,
        """func.call @tw_atomic_addi_8xi32_row(%m, %z, %live, %lanes)
      : (memref<?xi32>, index, vector<8xi1>, vector<8xi32>) -> ()
    func.call @tw_atomics_end() : () -> ()""",
        True,
    ),
    "nothing that others change": (PLAIN, "", False),
    "with a store": (ATOMIC, STORE, False),
    "with a store in a loop": (ATOMIC, f"scf.for %i = %z to %n step %n {{\n{STORE}\n}}", False),
    "with a store in a function": ("%v = func.call @works(%m) : (memref<?xi32>) -> i32", "", False),
    "with a call that takes memory": (ATOMIC, "func.call @tw_dot_f32(%f) : (memref<?xf32>) -> ()", False),
}


@pytest.mark.parametrize(("test", "body", "waits"), CASES.values(), ids=CASES.keys())
def test_waiting_loops(test: str, body: str, waits: bool) -> None:
    artefact = compile_loops(KERNEL.format(test=test, body=body))
    assert artefact.metadata["waits"] is waits
    assert ("call i1 @tilewright_wait" in artefact.llir) is waits
    assert ("call void @tilewright_end_wait" in artefact.llir) is waits


def test_loops_over_lanes_wait_for_nobody() -> None:
    marked = KERNEL.replace("    scf.yield\n  }}\n", "    scf.yield\n  }} attributes {{tilewright.over_lanes}}\n")
    assert marked != KERNEL
    text = compile_loops(marked.format(test=ATOMIC, body="")).llir
    for called in ("tilewright_wait", "tilewright_leave_alone", "tilewright_look"):
        assert f"@{called}(ptr %arena" not in text
