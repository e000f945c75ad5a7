"""Upstream MLIR as an independent judge: our linalg text through unmodified `mlir-opt`, `mlir-translate` and LLVM's
JIT.

The tests of this folder are skipped where the tools of LLVM 22 are not installed.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array

LLVM = Path("/usr/lib/llvm-22")
MLIR_OPT = shutil.which("mlir-opt-22") or str(LLVM / "bin" / "mlir-opt")
MLIR_TRANSLATE = shutil.which("mlir-translate-22") or str(LLVM / "bin" / "mlir-translate")

BUFFERIZE = (
    "--canonicalize",
    "--convert-elementwise-to-linalg",
    "--convert-linalg-to-affine-loops",
    "--empty-tensor-to-alloc-tensor",
    "--one-shot-bufferize=allow-return-allocs-from-loops=true",
)
FREE_BUFFERS = ("--buffer-deallocation-pipeline", "--convert-bufferization-to-memref")
TO_LLVM = (
    "--lower-affine",
    "--convert-linalg-to-loops",
    "--memref-expand",
    "--expand-strided-metadata",
    "--lower-affine",
    "--math-extend-to-supported-types=extra-types=f16",
    "--arith-emulate-unsupported-floats=source-types=bf16 target-type=f32",
    "--arith-expand=include-bf16=true",
    "--convert-scf-to-cf",
    "--convert-arith-to-llvm",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--convert-index-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-ub-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-arith-to-llvm",
    "--reconcile-unrealized-casts",
)


class Kernel:
    """A compiled kernel: call it with a grid, arrays and scalars."""

    def __init__(self, llvm_ir: str, name: str) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        for library in LLVM.glob("lib/libmlir_c_runner_utils.so.22*"):
            llvm.load_library_permanently(str(library))
        module = llvm.parse_assembly(llvm_ir)
        machine = llvm.Target.from_default_triple().create_target_machine(opt=1)
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        self.address = self.engine.get_function_address(name)

    def __call__(self, grid: Sequence[int], *args: Any) -> None:
        gx, gy, gz = (*grid, 1, 1)[:3]
        prefix, keep = self._marshal(args)
        kinds = [type(value) for value in prefix] + [ctypes.c_int32] * 6
        function = ctypes.CFUNCTYPE(None, *kinds)(self.address)
        for z in range(gz):
            for y in range(gy):
                for x in range(gx):
                    function(*prefix, gx, gy, gz, x, y, z)
        del keep

    @staticmethod
    def _marshal(args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Arrays as (rank 0, descriptor), scalars by their type: int is i32, float is f32, NumPy scalars are
        themselves."""
        values: list[Any] = []
        keep: list[Any] = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                data = arg.ctypes.data
                descriptor = (ctypes.c_int64 * 3)(data, data, 0)
                keep.append(descriptor)
                values += [ctypes.c_int64(0), ctypes.c_void_p(ctypes.addressof(descriptor))]
            elif isinstance(arg, np.int64):
                values.append(ctypes.c_int64(int(arg)))
            elif isinstance(arg, int | np.int32):
                values.append(ctypes.c_int32(int(arg)))
            else:
                values.append(ctypes.c_float(float(arg)))
        return values, keep


def run_tool(command: Sequence[str], text: str) -> str:
    """Run a tool of LLVM on text; its diagnostics become the failure's message."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{Path(command[0]).name} rejected the module:\n{done.stderr[:3000]}\n{text[:6000]}")
    return done.stdout


def passes_for(text: str) -> list[str]:
    """The documented list for a kernel."""
    deallocate = () if "generic_atomic_rmw" in text else FREE_BUFFERS
    return ["--verify-each", *BUFFERIZE, *deallocate, *TO_LLVM]


def find_refused(texts: Sequence[str]) -> str:
    """What `mlir-opt` says about modules that it refuses somewhere on the documented list; nothing where it takes all
    of them."""
    errors: list[str] = []
    for passes in {tuple(passes_for(text)) for text in texts}:
        part = "\n// -----\n".join(text for text in texts if tuple(passes_for(text)) == passes)
        command = [MLIR_OPT, "--split-input-file", *passes, "-o", os.devnull]
        done = subprocess.run(command, input=part, capture_output=True, text=True, check=False)
        errors.append(done.stderr if done.returncode else "")
    return "".join(errors)


def compile_with_mlir(text: str, name: str = "kernel") -> Kernel:
    """Lower linalg text with upstream tools only."""
    lowered = run_tool([MLIR_OPT, *passes_for(text)], text)
    return Kernel(run_tool([MLIR_TRANSLATE, "--mlir-to-llvmir"], lowered), name)


@pytest.fixture(scope="session")
def mlir() -> Callable[..., Kernel]:
    """From linalg text to a kernel that runs."""
    if not Path(MLIR_OPT).exists() or not Path(MLIR_TRANSLATE).exists():
        pytest.skip("mlir-opt and mlir-translate of LLVM 22 are not installed")
    return compile_with_mlir


@pytest.fixture(scope="session")
def accepted() -> Callable[[str], None]:
    """Fails unless upstream's parser and verifier take a text."""
    if not Path(MLIR_OPT).exists():
        pytest.skip("mlir-opt of LLVM 22 is not installed")

    def check(text: str) -> None:
        run_tool([MLIR_OPT, "--verify-each"], text)

    return check


@pytest.fixture(scope="session")
def refused() -> Callable[[Sequence[str]], str]:
    """`find_refused`."""
    if not Path(MLIR_OPT).exists():
        pytest.skip("mlir-opt of LLVM 22 is not installed")
    return find_refused


MEMORY = "structured-to-memref,unstructured-to-memref,triton-ptr-to-memref,canonicalize,cse"


@pytest.fixture(scope="session")
def lower() -> Callable[[str], str]:
    """From tt and tts text to linalg text, through the passes of the middle layer behind the pointer analyses."""
    return lower_text


def lower_text(text: str, pipeline: str = "triton-arith-to-linalg{tensor-ptr-to-linalg=true}," + MEMORY) -> str:
    """Parse, then `lower_module`."""
    from tilewright.dialects import make_context
    from tilewright.ir.parsing import parse_module

    return lower_module(parse_module(text, make_context()), pipeline)


def lower_module(module: Any, pipeline: str) -> str:
    """Run a pipeline, verify, check that nothing of tt or tts is left, print."""
    from tilewright.ir.passes import PassContext, parse_pipeline
    from tilewright.ir.printing import print_op
    from tilewright.ir.verify import verify_module

    context = PassContext()
    parse_pipeline(pipeline).run(module, context)
    assert not context.remarks, "\n".join(map(str, context.remarks))
    verify_module(module)
    left = sorted({op.name for op in module.walk() if op.name.startswith(("tt.", "tts."))})
    assert not left, left
    return print_op(module)


@pytest.fixture(scope="session")
def lower_ir() -> Callable[[Any, str], str]:
    """`lower_module`."""
    return lower_module


@pytest.fixture(scope="session")
def run_kernel(mlir: Callable[..., Kernel]) -> Callable[..., None]:
    """Lower tt/tts text, compile it with upstream MLIR, and run it once for each program of the grid."""

    def run(
        text: str, *args: Any, grid: Sequence[int] = (1,), name: str = "kernel", pipeline: str | None = None
    ) -> None:
        lowered = lower_text(text) if pipeline is None else lower_text(text, pipeline)
        mlir(lowered, name)(grid, *args)

    return run


def _tile(shape: Sequence[int], element: str) -> str:
    return "x".join([*map(str, shape), element])


def tile_program(inputs: dict[str, str], body: str, outputs: dict[str, str]) -> str:
    """A kernel that loads each input tile whole (``%name``), runs `body`, and stores each output.

    Types are written ``8x4xf32``; a type without a shape is one element of memory, loaded and stored as a scalar.
    """
    arguments, loads, stores = [], [], []
    for index, (name, kind) in enumerate([*inputs.items(), *outputs.items()]):
        *extents, element = kind.split("x")
        shape = [int(extent) for extent in extents]
        arguments.append(f"%p{index}: !tt.ptr<{element}>")
        if not shape:
            zero = f"%z{index} = arith.constant 0 : i32"
            if index < len(inputs):
                loads.append(f"{zero}\n    %{name} = tts.gather %p{index}[%z{index}] : (<{element}>, i32) -> {element}")
            else:
                stores.append(
                    f"{zero}\n    tts.scatter %{name} into %p{index}[%z{index}] : {element} into (<{element}>, i32)"
                )
            continue
        strides = [int(np.prod(shape[dim + 1 :])) for dim in range(len(shape))]
        zeros, tensor = [0] * len(shape), f"tensor<{_tile(shape, element)}>"
        pointers = f"tensor<{_tile(shape, f'!tt.ptr<{element}>')}>"
        make = (
            f"%t{index} = tts.make_tptr %p{index} to sizes: {shape}, strides: {strides}, offsets: {zeros}, "
            f"shape: {zeros}, order: [] : <{element}> to {pointers}"
        )
        if index < len(inputs):
            segments = "operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>"
            loads.append(f'{make}\n    %{name} = "tts.load"(%t{index}) <{{{segments}}}> : ({pointers}) -> {tensor}')
        else:
            stores.append(
                f'{make}\n    "tts.store"(%t{index}, %{name}) <{{static_mask_dims = array<i64>}}> '
                f": ({pointers}, {tensor}) -> ()"
            )
    lines = "\n    ".join([*loads, *body.strip().splitlines(), *stores])
    return f"tt.func public @kernel({', '.join(arguments)}) {{\n    {lines}\n    tt.return\n}}\n"


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """`tile_program`."""
    return tile_program


@pytest.fixture(scope="session")
def run_tiles(run_kernel: Callable[..., None]) -> Callable[..., list[Array]]:
    """Run a `tile_program` on arrays and give its outputs; the element types of the outputs come from the text."""

    def run(inputs: dict[str, str], body: str, outputs: dict[str, str], *arrays: Array) -> list[Array]:
        results = [_empty_like(kind) for kind in outputs.values()]
        run_kernel(tile_program(inputs, body, outputs), *arrays, *results)
        return results

    return run


def _empty_like(kind: str) -> Array:
    """An array of the shape and type of ``8x4xf32``, full of a value that no test expects."""
    import ml_dtypes

    *extents, element = kind.split("x")
    dtypes: dict[str, Any] = {
        "i1": np.bool_,
        "f16": np.float16,
        "f32": np.float32,
        "f64": np.float64,
        "bf16": ml_dtypes.bfloat16,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    }
    dtype = np.dtype(dtypes[element]) if element in dtypes else np.dtype(f"int{element[1:]}")
    data = np.full(max(int(np.prod([int(e) for e in extents])), 1) * dtype.itemsize, 0x55, np.uint8)
    return data.view(dtype).reshape([int(extent) for extent in extents] or [1])
