"""`tilewright compile`: signatures are read, and C programs that link what it writes run the kernels."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from c_programs import COMPILER, KERNELS, cuda_headers, needs_compiler, run_c

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.support import knobs
from tilewright.targets.cuda.computed_maps import ComputedMapParameter
from tilewright.targets.cuda.loaded_kernel import KernelFacts
from tilewright.tools.aot.command import find_kernel, find_machine
from tilewright.tools.aot.grid import read_grid
from tilewright.tools.aot.signature import SignatureError, read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.cli import main


@triton.jit
def shapes(x_ptr, n, k, KIND: tl.constexpr, BLOCK: tl.constexpr = 32):
    pass


def test_signatures() -> None:
    signature = read_signature("*fp32:16, i32:1, i64:16, 'a,b', 64", shapes)
    assert [(a.name, a.type, a.hint, a.constant) for a in signature.arguments] == [
        ("x_ptr", "*fp32", 16, None), ("n", "i32", 1, None), ("k", "i64", 16, None),
        ("KIND", "", 0, "a,b"), ("BLOCK", "", 0, 64),
    ]  # fmt: skip
    assert signature.suffix == "0d1c2d34"
    named = read_signature("KIND=tl.float16, x_ptr=*kbf16, k=7, n=u8", shapes)
    assert named.types == (("x_ptr", "*kbf16"), ("n", "u8"))
    assert dict(named.constants) == {"k": "7", "KIND": repr(tl.float16), "BLOCK": "32"}
    assert signature.name("f") != read_signature("*fp32, i32:1, i64:16, 'a,b', 64", shapes).name("f")
    assert signature.name("f", 1) != signature.name("f", 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*fp32, i32", "parameter 'k' is missing: kernel shapes has the parameters x_ptr, n, k, KIND: constexpr"),
        ("*fp32, i32, i32, 1, 2, 3", "6 entries"),
        ("*fp32, i32, i32, 1, m=2", "'m' is not a parameter"),
        ("*fp32, i32, i32, 1, x_ptr=*fp16", "'x_ptr' is given twice"),
        ("*fp33, i32, i32, 1", r"'\*fp33' is neither a type"),
        ("*fp32:8, i32, i32, 1", "promises 8"),
        ("*fp32:1, i32, i32, 1", "promises 1, which is for integers"),
        ("fp32:16, i32, i32, 1", "promises a multiple of 16"),
        ("tensordesc<fp17[16, 16]>, i32, i32, 1", "is not a tensor descriptor"),
        ("tensordesc<fp16[1, 1, 1, 1, 1, 1]>, i32, i32, 1", "at most 5 dimensions"),
        ("tensordesc<fp16>, i32, i32, 1", "the shape of blocks"),
        ("*fp32, i32, i32, relu", "nor a constant"),
    ],
)
def test_wrong_signatures(text: str, words: str) -> None:
    with pytest.raises(SignatureError, match=words):
        read_signature(text, shapes)


def compile_kernel(kernel: str, folder: Path, *arguments: str, signatures: Sequence[str]) -> int:
    given = [word for signature in signatures for word in ("--signature", signature)]
    return main(["compile", f"{KERNELS}:{kernel}", *given, "-o", str(folder), *arguments])


@needs_compiler
def test_a_c_program_on_the_cpu(tmp_path: Path) -> None:
    """The variant with promises and the one without; other constants by number."""
    signatures = ["*fp32:16,*fp32:16,*fp32:16,i32:16,fp32,1024", "*fp32,*fp32,*fp32,i32,fp32,1024"]
    signatures += ["*fp32,*fp32,*fp32,i32,fp32,BLOCK=64"]
    assert compile_kernel("scaled_sum", tmp_path, signatures=signatures) == 0
    source = """
    #include <stdio.h>
    #include "scaled_sum.h"
    static float x[5000] __attribute__((aligned(64))), y[5000] __attribute__((aligned(64)));
    static float out[5001] __attribute__((aligned(64)));
    static int wrong(float *at, int n, float scale) {
      int count = 0;
      for (int i = 0; i < n; i++) { count += at[i] != (x[i] + y[i]) * scale; at[i] = 0; }
      return count;
    }
    int main(void) {
      for (int i = 0; i < 5000; i++) { x[i] = i; y[i] = 2 * i; }
      tilewright_use_threads(2);
      int status = scaled_sum(5, 1, 1, x, y, out, 4992, 0.5f);
      printf("%d %d\\n", status, wrong(out, 4992, 0.5f));
      status = scaled_sum(5, 1, 1, x, y, out + 1, 4999, 2.0f);
      printf("%d %d %g\\n", status, wrong(out + 1, 4999, 2.0f), out[5000]);
      status = scaled_sum_algorithm(1, 79, 1, 1, x, y, out, 5000, 3.0f);
      printf("%d %d\\n", status, wrong(out, 5000, 3.0f));
      printf("%d %d\\n", scaled_sum_num_algorithms(), scaled_sum_algorithm(2, 1, 1, 1, x, y, out, 1, 1.0f));
      printf("%d\\n", VARIANT(1, 1, 1, x + 1, y, out, 16, 1.0f));
      status = scaled_sum(0, 1, 1, x, y, out, 5000, 1.0f);
      printf("%d %g\\n", status, out[1]);
      return 0;
    }
    """
    strict = next(path.stem for path in tmp_path.glob("scaled_sum_*d*.o"))
    assert run_c(tmp_path, source.replace("VARIANT", strict)).splitlines() == ["0 0", "0 0 0", "0 0", "2 4", "4", "0 0"]


@needs_compiler
def test_a_grid_of_c_expressions(tmp_path: Path) -> None:
    signature = "*fp32,*fp32,*fp32,i32,i32,i32,32,ACT='relu'"
    grid = "(m + 31) / 32, triton.cdiv(n, SIZE)"
    assert compile_kernel("matrix_product", tmp_path, "--grid", grid, "-on", "mm", signatures=[signature]) == 0
    source = """
    #include <stdio.h>
    #include "mm.h"
    int main(void) {
      enum { M = 70, N = 45, K = 50 };
      static float a[M * K], b[K * N], c[M * N];
      for (int i = 0; i < M * K; i++) a[i] = i % 7 - 3;
      for (int i = 0; i < K * N; i++) b[i] = i % 5 - 2;
      int status = mm(a, b, c, M, N, K), wrong = 0;
      for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
          float sum = 0;
          for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
          wrong += c[i * N + j] != (sum > 0 ? sum : 0);
        }
      printf("%d %d %d\\n", status, wrong, mm(a, b, c, -64, N, K) == TILEWRIGHT_REFUSED);
      return 0;
    }
    """
    assert run_c(tmp_path, source) == "0 0 1\n"


EXTENTS = read_signature("*fp32, i32, i64:1, 'a', BLOCK=64", shapes)


@pytest.mark.parametrize(
    ("text", "c"),
    [
        ("n", "(int64_t)n"),
        ("n // BLOCK + (k>>1)%3", "(int64_t)n / 64LL + ((int64_t)k >> 1LL) % 3LL"),
        ("0x10u", "16LL"),
        ("n- -k", "(int64_t)n - -(int64_t)k"),
        ("--n", "- -(int64_t)n"),
        ("-n < ~k ? min(n, tl.cdiv(k, 2)) : !n", "-(int64_t)n < ~(int64_t)k ? "
         "tw_min((int64_t)n, tw_cdiv((int64_t)k, 2LL)) : !(int64_t)n"),
    ],
)  # fmt: skip
def test_extents(text: str, c: str) -> None:
    assert read_grid(text, [EXTENTS]).in_c(EXTENTS) == (c, "1LL", "1LL")


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("n +", "expected a number, a parameter or '(' at the end", 3),
        ("n 3", "expected an operator in the place of '3'", 2),
        ("(n", "expected ')' at the end", 2),
        ("cdiv(n)", "expected ',' in the place of ')'", 6),
        ("n ? 1", "expected ':' at the end", 5),
        ("2 * x_ptr", "'x_ptr' is not an integer: the kernel's integers are n, k, BLOCK", 4),
        ("KIND", "'KIND' is not an integer", 0),
        ("m", "'m' is not a parameter", 0),
        ("cdvi(n, 2)", "no function 'cdvi'; there are cdiv, min, max", 0),
        ("n %  0", "division by zero", 5),
        ("n + 010", "010 starts with 0", 4),
        ("9999999999999999999", "does not fit 64 bits", 0),
        ("n; system(0)", "';' is not integer arithmetic", 1),
        ("n . 3", "'.' is not integer arithmetic", 2),
    ],
)
def test_wrong_extents(text: str, words: str, column: int) -> None:
    with pytest.raises(SignatureError) as caught:
        read_grid(text, [EXTENTS])
    message, shown, caret = str(caught.value).splitlines()
    assert words in message and shown == f"    {text}" and caret.index("^") == 4 + column


@needs_compiler
def test_prints_of_c_programs(tmp_path: Path, capfd: Any) -> None:
    """C writes what Python writes."""
    import numpy as np

    assert compile_kernel("printing", tmp_path, signatures=["*fp32, i32, 2"]) == 0
    source = """
    #include "printing.h"
    int main(void) { float x[2] = {1.5f, -2e9f}; tilewright_use_threads(1); return printing(1, 2, 1, x, -7); }
    """
    written = run_c(tmp_path, source)
    capfd.readouterr()
    launched = find_kernel(f"{KERNELS}:printing")
    launched[(1, 2)](np.array([1.5, -2e9], np.float32), -7, N=2)
    assert sorted(capfd.readouterr().out.splitlines()) == sorted(written.splitlines())
    assert "pid (0, 1, 0) idx (1) x: (operand 0) -2000000000.000000" in written
    assert "idx () code: 0xfff9\n" in written and "idx () id: 4294967295\n" in written


@needs_compiler
def test_descriptors_of_c_programs(tmp_path: Path) -> None:
    """Tiles beyond the edges, and a base that is not aligned."""
    signature = "tensordesc<fp32[16, 16]>, *fp32:16, i32, i32, tensordesc<fp32[16]>, 16"
    grid = ("-g", "cdiv(m, BLOCK), cdiv(n, BLOCK)")
    assert compile_kernel("add_row", tmp_path, *grid, signatures=[signature]) == 0
    source = """
    #include <stdio.h>
    #include "add_row.h"
    enum { M = 37, N = 44 };
    static float x[M * N] __attribute__((aligned(64))), out[M * N] __attribute__((aligned(64)));
    static float row[N] __attribute__((aligned(64)));
    int main(void) {
      for (int i = 0; i < M * N; i++) x[i] = i;
      for (int i = 0; i < N; i++) row[i] = -i;
      int status = add_row(x, M, N, N, out, M, N, row, N), wrong = 0;
      for (int i = 0; i < M * N; i++) wrong += out[i] != M * (x[i] + row[i % N]);
      printf("%d %d %d\\n", status, wrong, add_row(x + 1, M, N, N, out, M, N, row, N) == TILEWRIGHT_REFUSED);
      return 0;
    }
    """
    assert run_c(tmp_path, source) == "0 0 1\n"


NAMES = "*fp32,*fp32,i32,i32,i32,i32,i32,i32,i32,i32,16"


@needs_compiler
def test_names_that_c_has_uses_for(tmp_path: Path) -> None:
    assert compile_kernel("names", tmp_path, signatures=[NAMES]) == 0
    source = """
    #include <stdio.h>
    #include "names.h"
    int main(void) {
      static float x[16], y[16];
      int status = names(1, 1, 1, x, y, 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000);
      printf("%d %.0f\\n", status, x[3]);
      return 0;
    }
    """
    assert run_c(tmp_path, source) == "0 11111111\n"


def test_c_for_a_gpu_computes_no_tensor_maps(tmp_path: Path) -> None:
    """Those of plain loads, which Python's launcher makes: the C function passes what it was given."""
    signature = "*fp16:16, *fp16:16, *fp32:16, i32:16, 64"
    with knobs.scope(specialize_warps="always", tma_loads="always"):
        kernel = find_kernel(f"{KERNELS}:sum_of_products")
        target, arch = find_machine("cuda:90")
        source = source_of(kernel, read_signature(signature, kernel))
        launched = build_entry(source, CompileOptions.from_keywords({"arch": arch}), target).metadata
        assert compile_kernel("sum_of_products", tmp_path, "-t", "cuda:90", signatures=[signature]) == 0
    assert any(isinstance(p, ComputedMapParameter) for p in KernelFacts.from_json(launched).parameters)
    assert "cuTensorMapEncodeTiled" not in (tmp_path / "sum_of_products.c").read_text()


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "signature"),
    [
        ("names", NAMES),
        ("through_descriptors", "*fp32:16,*fp32:16,i32,i32:16,32"),
        ("add_row", "tensordesc<fp32[16, 16]>, *fp32:16, i32, i32, tensordesc<fp32[16]>, 16"),
    ],
)
def test_c_for_a_gpu_is_sound(kernel: str, signature: str, tmp_path: Path) -> None:
    headers = cuda_headers()
    if headers is None:
        pytest.skip("no cuda.h: neither official Triton nor a CUDA toolkit is installed")
    assert compile_kernel(kernel, tmp_path, "-t", "cuda:90", signatures=[signature]) == 0
    for language in ("c", "c++"):
        file = f"{kernel}.{'c' if language == 'c' else 'h'}"
        command = [
            str(COMPILER),
            "-x",
            language,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
            str(headers),
            file,
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or "cc1plus" in done.stderr, done.stderr


@needs_compiler
def test_failed_assertions_are_told(tmp_path: Path) -> None:
    assert compile_kernel("checked", tmp_path, "--option", "debug=True", signatures=["*fp32, i32, 16"]) == 0
    source = """
    #include <stdio.h>
    #include "checked.h"
    int main(void) {
      float good[4] = {1, 4, 9, 16}, bad[4] = {1, 4, -9, 16};
      int status = checked(1, 1, 1, good, 4);
      printf("%d %g\\n", status, good[3]);
      status = checked(1, 3, 1, bad, 4);
      printf("%d %d %s\\n", status == TILEWRIGHT_ASSERTION, tilewright_last_failure()->x,
             tilewright_last_failure()->message);
      return 0;
    }
    """
    first, second = run_c(tmp_path, source).splitlines()
    assert first == "0 4"
    assert second.startswith("1 0 ") and "not positive" in second


@needs_compiler
def test_programs_that_wait_for_others(tmp_path: Path) -> None:
    assert compile_kernel("in_reverse", tmp_path, signatures=["*i32,*i32"]) == 0
    source = """
    #include <stdio.h>
    #include "in_reverse.h"
    int main(void) {
      for (int threads = 1; threads < 4; threads++) {
        int flags[40] = {0}, x[40], wrong = 0;
        for (int i = 0; i < 40; i++) x[i] = 1;
        tilewright_use_threads(threads);
        int status = in_reverse(40, 1, 1, flags, x);
        for (int i = 0; i < 40; i++) wrong += x[i] != 40 - i;
        printf("%d %d\\n", status, wrong);
      }
      return 0;
    }
    """
    assert run_c(tmp_path, source).splitlines() == ["0 0"] * 3


@needs_compiler
def test_a_shared_library(tmp_path: Path) -> None:
    import ctypes

    import numpy as np

    assert compile_kernel("tuned", tmp_path, "--shared", signatures=["*fp32, i32, 64"]) == 0
    library = ctypes.CDLL(str(tmp_path / "libtuned.so"))
    x = np.zeros(40, np.float32)
    address = ctypes.c_void_p(x.ctypes.data)
    assert library.tuned(ctypes.c_uint32(1), ctypes.c_uint32(1), ctypes.c_uint32(1), address, ctypes.c_int32(30)) == 0
    assert x.sum() == 30


@needs_compiler
def test_a_kernel_in_gluon(tmp_path: Path) -> None:
    import ctypes

    import numpy as np

    assert compile_kernel("with_layouts", tmp_path, "--shared", signatures=["*fp32, i32"]) == 0
    library = ctypes.CDLL(str(tmp_path / "libwith_layouts.so"))
    x = np.zeros(256, np.float32)
    one, address = ctypes.c_uint32(1), ctypes.c_void_p(x.ctypes.data)
    assert library.with_layouts(one, one, one, address, ctypes.c_int32(200)) == 0
    assert (x == (np.arange(256) < 200)).all()


def test_a_named_processor(tmp_path: Path) -> None:
    """Objects for a baseline processor do not depend on the machine that they were compiled on."""
    signature = "*fp32,*fp32,*fp32,i32,fp32,1024"
    assert compile_kernel("scaled_sum", tmp_path, "-t", "cpu:x86-64", signatures=[signature]) == 0
    (image,) = tmp_path.glob("scaled_sum_*.o")
    assert image.read_bytes()[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")


@pytest.mark.parametrize(
    ("kernel", "arguments", "signature", "words"),
    [
        ("missing", (), "*fp32", "has no kernel 'missing'; it has add_row, checked, in_reverse"),
        ("scaled_sum", (), "*fp32", "parameter 'y_ptr' is missing"),
        ("tuned", ("-t", "rocm:gfx942"), "*fp32,i32,64", "no files can be written for target 'rocm:gfx942'"),
        ("tuned", ("-t", "cpu:z80"), "*fp32,i32,64", "no processor 'z80'"),
        ("tuned", ("-t", "cuda:70"), "*fp32,i32,64", "no GPU architecture"),
        ("tuned", ("-w", "3"), "*fp32,i32,64", "power of 2"),
        ("tuned", ("--option", "num_wraps=3"), "*fp32,i32,64", "did you mean 'num_warps'"),
        ("tuned", ("-g", "1,2,3,4"), "*fp32,i32,64", "one to three expressions"),
        ("tuned", ("-g", "n +"), "*fp32,i32,64", "at the end\n    n +\n       ^\n"),
        ("tuned", ("-on", "a-b"), "*fp32,i32,64", "not the name of a C function"),
        ("tuned", (), "*fp32,i32,65", "power of 2"),
    ],
)
def test_messages(
    kernel: str, arguments: tuple[str, ...], signature: str, words: str, tmp_path: Path, capsys: Any
) -> None:
    assert compile_kernel(kernel, tmp_path, *arguments, signatures=[signature]) == 2
    said = capsys.readouterr().err
    assert words in said and "Traceback" not in said


def test_signatures_of_different_functions(tmp_path: Path, capsys: Any) -> None:
    assert compile_kernel("tuned", tmp_path, signatures=["*fp32,i32,64", "*fp16,i32,64"]) == 2
    assert "different functions" in capsys.readouterr().err
    assert compile_kernel("tuned", tmp_path, signatures=["*fp32,i32,64", "*fp32, i32, 64"]) == 2
    assert "equal" in capsys.readouterr().err


DRIVER = """
#include <cuda.h>
#include <stdio.h>
#include <string.h>
/* A driver that prints what it is asked for. */
CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *o, void **v, unsigned n,
                           CUlibraryOption *p, void **w, unsigned m) {
  (void)o; (void)v; (void)n; (void)p; (void)w; (void)m;
  int is_known = memcmp(code, "\\177ELF", 4) == 0 || memcmp(code, "//", 2) == 0;
  printf("load %d\\n", is_known);
  *library = (CUlibrary)code;
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  (void)library;
  *kernel = (CUkernel)name;
  return CUDA_SUCCESS;
}
CUresult cuLibraryUnload(CUlibrary library) { (void)library; puts("unload"); return CUDA_SUCCESS; }
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  (void)kernel; (void)device;
  printf("attribute %d %d\\n", attribute, value);
  return CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s) { (void)n; (void)s; *p = 4096; return CUDA_SUCCESS; }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) { (void)p; (void)s; return CUDA_SUCCESS; }
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameters, void **extra) {
  (void)extra;
  printf("%s grid %u %u %u block %u attributes %u: %llx %d %g\\n", strrchr((const char *)function, '_'), c->gridDimX,
         c->gridDimY, c->gridDimZ, c->blockDimX, c->numAttrs, *(unsigned long long *)parameters[0],
         *(int *)parameters[3], *(float *)parameters[4]);
  return CUDA_SUCCESS;
}
"""


@needs_compiler
def test_a_c_program_for_a_gpu(tmp_path: Path) -> None:
    """Machine code in C, launched through a driver that prints: which variant, which extents, which arguments."""
    headers = cuda_headers()
    if headers is None:
        pytest.skip("no cuda.h: neither official Triton nor a CUDA toolkit is installed")
    signatures = ["*fp32:16,*fp32:16,*fp32:16,i32:16,fp32,1024", "*fp32,*fp32,*fp32,i32,fp32,1024"]
    arguments = ("-t", "cuda:90", "-w", "8", "--option", "launch_pdl=True")
    assert compile_kernel("scaled_sum", tmp_path, *arguments, signatures=signatures) == 0
    (tmp_path / "driver.c").write_text(DRIVER)
    source = """
    #include <stdio.h>
    #include "scaled_sum.h"
    int main(void) {
      printf("%d\\n", scaled_sum(0, 3, 2, 1, 0x1230, 0x2230, 0x3230, 32, 1.5f));
      printf("%d\\n", scaled_sum(0, 3, 1, 1, 0x1230, 0x2230, 0x3230, 33, 2.5f));
      printf("%d\\n", scaled_sum(0, 3, 1, 1, 0x1234, 0x2230, 0x3230, 32, 2.5f));
      printf("%d\\n", scaled_sum_algorithm(1, 0, 3, 1, 1, 0x1230, 0x2230, 0x3230, 32, 2.5f));
      printf("%d\\n", scaled_sum(0, 0, 1, 1, 0x1230, 0x2230, 0x3230, 32, 2.5f));
      printf("%d\\n", load_scaled_sum());
      return unload_scaled_sum();
    }
    """
    assert run_c(tmp_path, source, "-I", str(headers)).splitlines() == [
        "load 1", "_kernel grid 3 2 1 block 256 attributes 1: 1230 32 1.5", "0",
        "load 1", "_kernel grid 3 1 1 block 256 attributes 1: 1230 33 2.5", "0",
        "_kernel grid 3 1 1 block 256 attributes 1: 1234 32 2.5", "0",
        "1", "0", "0", "unload", "unload",
    ]  # fmt: skip
