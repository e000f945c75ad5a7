"""Our linalg stage lowered as triton-shared lowers its own: its pass list through unmodified `mlir-opt` 22.

LLVM then optimises for the host with its loop vectoriser on, which is more than triton-shared's driver asks of it. The
programs of a grid run one after the other in a native loop. Temporary buffers, which that pass list never frees, come
from an arena that each program starts anew.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from case import Launch

from tilewright.codegen.llvm_backend import LoadedObject, ObjectLoader, compile_text, create_target_machine, parse
from tilewright.dialects import func, make_context
from tilewright.ir.parsing import parse_module
from tilewright.targets.cpu.facts import host_facts

LLVM = Path("/usr/lib/llvm-22")
PASSES = (
    "--convert-linalg-to-affine-loops",
    "--empty-tensor-to-alloc-tensor",
    "--one-shot-bufferize=allow-return-allocs-from-loops=true",
    "--lower-affine",
    "--convert-linalg-to-loops",
    "--expand-strided-metadata",
    "--convert-scf-to-cf",
    "--convert-arith-to-llvm",
    "--convert-math-to-llvm",
    "--convert-complex-to-llvm",
    "--convert-vector-to-llvm",
    "--convert-index-to-llvm",
    "--memref-expand",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--lower-affine",
    "--convert-arith-to-llvm",
    "--reconcile-unrealized-casts",
)
"""triton-shared's list, a fact about it: what its `backend/compiler.py` gives to `mlir-opt`, in its order, at commit
1c203ca of 2025-10-27."""
ARENA_BYTES = 512 << 20
MOST_SECONDS = 0.25
"""A grid that takes longer is run in part, and its time scaled."""

ARENA = """
@start = internal global ptr null
@top = internal global ptr null
define void @bench_arena(ptr %start) {
  store ptr %start, ptr @start
  store ptr %start, ptr @top
  ret void
}
define void @bench_reset() {
  %start = load ptr, ptr @start
  store ptr %start, ptr @top
  ret void
}
define ptr @bench_allocate(i64 %bytes) {
  %top = load ptr, ptr @top
  %more = add i64 %bytes, 127
  %size = and i64 %more, -64
  %next = getelementptr i8, ptr %top, i64 %size
  store ptr %next, ptr @top
  ret ptr %top
}
"""


class Unavailable(RuntimeError):
    """This peer cannot run a kernel; the message says why."""


def find_tool(name: str) -> str:
    """A tool of LLVM 22. Raises Unavailable."""
    found = shutil.which(f"{name}-22") or shutil.which(str(LLVM / "bin" / name))
    if found is None:
        raise Unavailable(f"{name} 22 is not installed")
    return found


def run_tool(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["failed"]
        raise Unavailable(f"{Path(command[0]).name}: {lines[0][:160]}")
    return done.stdout


class MlirPeer:
    """Compiles launches of ours by upstream tools, and times them."""

    def __init__(self) -> None:
        self._tools = find_tool("mlir-opt"), find_tool("mlir-translate")
        self._loader = ObjectLoader()
        self._arena = np.empty(ARENA_BYTES, np.uint8)
        facts = host_facts()
        image = compile_text(f'target triple = "{facts.triple}"\n{ARENA}', facts)
        self._allocator = self._loader.load(image, ("bench_arena", "bench_reset", "bench_allocate"))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._allocator.address("bench_arena"))(self._arena.ctypes.data)

    def seconds(self, launch: Launch) -> float:
        """Time of one launch on one thread. Raises Unavailable."""
        run = self._compile(launch)
        programs = int(np.prod(launch.grid))
        run(0, 1)
        count, spent = 1, 0.0
        while True:
            start = time.process_time()
            run(0, count)
            spent = time.process_time() - start
            if count == programs or spent > MOST_SECONDS / 4:
                return spent * programs / count
            count = min(programs, max(count * 2, int(count * MOST_SECONDS / max(spent, 1e-6) / 2)))

    def _compile(self, launch: Launch) -> Callable[[int, int], None]:
        compiled = launch.kernel.warmup(*launch.arguments, grid=launch.grid, **launch.constants)
        text = compiled.asm["linalg"]
        lowered = run_tool([self._tools[0], *PASSES], text)
        llvm_ir = run_tool([self._tools[1], "--mlir-to-llvmir"], lowered)
        name, kinds = _signature(text)
        library = self._link(_optimised(f"{llvm_ir}\n{_range_function(name, kinds)}"))
        slots = _slots(launch, compiled.parameters.names, kinds)
        grid = (*launch.grid, 1, 1)[:3]
        packed = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *grid)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
            library.address("bench_range")
        )

        def run(low: int, high: int, keep: Any = library) -> None:
            function(ctypes.addressof(packed), low, high)

        return run

    def _link(self, image: bytes) -> LoadedObject:
        imports = {
            "malloc": self._allocator.address("bench_allocate"),
            "bench_reset": self._allocator.address("bench_reset"),
        }
        for library in LLVM.glob("lib/libmlir_c_runner_utils.so.22*"):
            function = ctypes.CDLL(str(library)).memrefCopy
            imports["memrefCopy"] = ctypes.cast(function, ctypes.c_void_p).value or 0
        try:
            return self._loader.load(image, ("bench_range",), imports)
        except Exception as error:
            raise Unavailable(str(error).splitlines()[0]) from error


def _optimised(llir: str) -> bytes:
    """An object for this host, after all of O3."""
    module, machine = parse(llir), create_target_machine(host_facts())
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def _signature(text: str) -> tuple[str, list[str]]:
    """The kernel's name, and of each of its own arguments the LLVM type, or `memref`."""
    from xdsl.dialects.builtin import UnrankedMemRefType

    module = parse_module(text, make_context())
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    kinds: list[str] = []
    for kind in list(function.function_type.inputs)[:-6]:
        name = str(kind)
        kinds.append(
            "memref" if isinstance(kind, UnrankedMemRefType) else {"f32": "float", "f64": "double"}.get(name, name)
        )
    return function.sym_name.data, kinds


def _slots(launch: Launch, names: tuple[str, ...], kinds: list[str]) -> list[int]:
    """Addresses and numbers of the arguments that are left at run time, 64 bits each."""
    given = dict(zip(launch.kernel.arg_names, launch.arguments, strict=False)) | dict(launch.constants)
    slots: list[int] = []
    for name, kind in zip(names, kinds, strict=True):
        value = given[name]
        if kind == "memref":
            slots.append(value.data_ptr() if hasattr(value, "data_ptr") else value.ctypes.data)
        else:
            number = np.float32(value) if kind == "float" else np.int64(value)
            slots.append(int(np.frombuffer(number.tobytes().ljust(8, b"\0"), np.uint64)[0]))
    return slots


def _range_function(name: str, kinds: list[str]) -> str:
    """LLVM text of a function that runs the programs from `lo` to before `hi`: memrefs are of rank 0 at the address."""
    setup: list[str] = []
    passed: list[str] = []
    for index, kind in enumerate(kinds):
        setup.append(f"  %p{index} = getelementptr i8, ptr %slots, i64 {8 * index}")
        if kind == "memref":
            setup += [
                f"  %a{index} = load ptr, ptr %p{index}",
                f"  %d{index} = alloca {{ptr, ptr, i64}}",
                f"  store ptr %a{index}, ptr %d{index}",
                f"  %e{index} = getelementptr i8, ptr %d{index}, i64 8",
                f"  store ptr %a{index}, ptr %e{index}",
                f"  %f{index} = getelementptr i8, ptr %d{index}, i64 16",
                f"  store i64 0, ptr %f{index}",
            ]
            passed += ["i64 0", f"ptr %d{index}"]
        else:
            setup.append(f"  %v{index} = load {kind}, ptr %p{index}")
            passed.append(f"{kind} %v{index}")
    for axis, letter in enumerate("xyz"):
        setup += [
            f"  %g{letter}p = getelementptr i8, ptr %slots, i64 {8 * (len(kinds) + axis)}",
            f"  %g{letter} = load i32, ptr %g{letter}p",
            f"  %w{letter} = zext i32 %g{letter} to i64",
        ]
    passed += ["i32 %gx", "i32 %gy", "i32 %gz", "i32 %x", "i32 %y", "i32 %z"]
    lines = "\n".join(setup)
    return f"""declare void @bench_reset()
define void @bench_range(ptr %slots, i64 %lo, i64 %hi) {{
entry:
{lines}
  br label %loop
loop:
  %i = phi i64 [%lo, %entry], [%next, %loop]
  %x64 = urem i64 %i, %wx
  %row = udiv i64 %i, %wx
  %y64 = urem i64 %row, %wy
  %z64 = udiv i64 %row, %wy
  %x = trunc i64 %x64 to i32
  %y = trunc i64 %y64 to i32
  %z = trunc i64 %z64 to i32
  call void @bench_reset()
  call void @{name}({", ".join(passed)})
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %hi
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
