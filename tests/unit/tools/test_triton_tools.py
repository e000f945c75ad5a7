"""`python -m triton.tools.compile` and `link`: kernels of several signatures behind one function of a C program."""

from __future__ import annotations

import subprocess
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from c_programs import COMPILER, KERNELS, cuda_headers, needs_compiler, run_c

from suite.children import Children
from tilewright.tools.compile import CompileArgs, compile_kernel
from tilewright.tools.link import LinkerError, link

GRID = "(n + BLOCK - 1) / BLOCK, 1, 1"
POINTERS = "*fp32:16,*fp32:16,*fp32:16"


def write(
    folder: Path, signature: str, target: str = "cpu", kernel: str = "scaled_sum", grid: str = GRID
) -> list[Path]:
    arguments = CompileArgs(
        path=str(KERNELS), kernel_name=kernel, signature=signature, grid=grid, target=target, out_path=folder / "kernel"
    )
    name, files = compile_kernel(arguments)
    top = next(path for path in files if path.name.startswith("kernel.") and path.suffix == ".h")
    assert f" {name}(" in top.read_text()
    return files


@pytest.mark.costly
@needs_compiler
def test_joined_kernels_on_the_cpu(tmp_path: Path) -> None:
    signatures = [
        f"{POINTERS},i32:16,fp32,1024",
        "*fp32,*fp32,*fp32,i32,fp32,1024",
        "*fp32,*fp32,*fp32,i32:1,fp32,1024",
    ]
    for signature in [*signatures, "*fp32,*fp32,*fp32,i32,fp32,64"]:
        write(tmp_path, signature)
    top, source = link(sorted(tmp_path.glob("*.h")), tmp_path / "joined")
    assert (top.name, source.name) == ("joined.h", "joined.c")
    program = """
    #include <stdio.h>
    #include "joined.h"
    static float x[5000] __attribute__((aligned(64))), y[5000] __attribute__((aligned(64)));
    static float out[5001] __attribute__((aligned(64)));
    static int wrong(float *at, int n, float scale) {
      int count = at[n] != 0;
      for (int i = 0; i < n; i++) { count += at[i] != (x[i] + y[i]) * scale; at[i] = 0; }
      return count;
    }
    int main(void) {
      for (int i = 0; i < 5000; i++) { x[i] = i; y[i] = 2 * i + 1; }
      int status;
      load_scaled_sum();
      status = scaled_sum_default(x, y, out, 4992, 2);
      printf("%d %d\\n", status, wrong(out, 4992, 2));
      status = scaled_sum(x, y, out + 1, 4999, 3, 0);
      printf("%d %d\\n", status, wrong(out + 1, 4999, 3));
      status = scaled_sum(x, y, out, 1, 4, 0);
      printf("%d %d\\n", status, wrong(out, 1, 4));
      status = scaled_sum(x, y, out, 77, 5, 1);
      printf("%d %d\\n", status, wrong(out, 77, 5));
      printf("%d %d\\n", scaled_sum_get_num_algos(), scaled_sum(x, y, out, 1, 1, 2) == TILEWRIGHT_REFUSED);
      unload_scaled_sum();
      return 0;
    }
    """
    assert run_c(tmp_path, program).splitlines() == ["0 0", "0 0", "0 0", "0 0", "2 1"]


@needs_compiler
def test_joined_kernels_for_a_gpu_are_sound_c(tmp_path: Path) -> None:
    headers = cuda_headers()
    if headers is None:
        pytest.skip("no cuda.h: neither official Triton nor a CUDA toolkit is installed")
    for signature in (f"{POINTERS},i32:1,fp32,64", "*fp32,*fp32,*fp32,i32,fp32,64"):
        files = write(tmp_path, signature, "cuda:80:32")
        assert [path.suffix for path in files] == [".h", ".c"]
    top, _ = link(sorted(tmp_path.glob("kernel.*.h")), tmp_path / "joined")
    assert "CUresult scaled_sum_default(CUstream stream, CUdeviceptr x_ptr," in top.read_text()
    for source in tmp_path.glob("*.c"):
        command = [str(COMPILER), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(headers), str(source)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_names_are_those_of_official_triton(tmp_path: Path) -> None:
    """The hash is of the signature as it is written and of the launch options."""
    names = [path.name for path in write(tmp_path, "*fp32:16, *fp32, *fp32, i32:16, fp32, 1024", grid="1,1,1")]
    assert names[:3] == [f"kernel.0a4eb962_0d123d45{suffix}" for suffix in (".h", ".c", ".o")]


def test_headers_that_cannot_be_joined(tmp_path: Path) -> None:
    one = write(tmp_path, "*fp32,*fp32,*fp32,i32,fp32,64")[0]
    other = write(tmp_path, "*fp16,*fp32,*fp32,i32,fp32,64")[0]
    with pytest.raises(LinkerError, match="different functions"):
        link([one, other], tmp_path / "joined")
    (tmp_path / "plain.h").write_text("int f(void);\n")
    with pytest.raises(LinkerError, match=r"plain\.h is not a header"):
        link([tmp_path / "plain.h"], tmp_path / "joined")


@pytest.mark.costly
def test_as_a_user_runs_them(tmp_path: Path, compiler_children: Children) -> None:
    def run(*command: str) -> CompletedProcess[str]:
        return compiler_children.run(["tilewright.tools.cli", "run", "-m", *command], {}, tmp_path, cwd=tmp_path)

    tool = ["triton.tools.compile", str(KERNELS), "-n", "tuned", "-s", "*fp32,i32,64", "-t", "cpu", "-o", "tuned"]
    done = run(*tool, "-g", "n +")
    assert done.returncode == 2 and "error: --grid: expected a number" in done.stderr
    assert run(*tool, "-g", "1,1,1").returncode == 0
    (top,) = tmp_path.glob("tuned.*.h")
    assert run(*tool[:-1], "new/folder/tuned", "-g", "1,1,1").returncode == 0
    assert (tmp_path / "new/folder" / top.name).is_file()
    done = run(*tool[:-1], f"{top.name}/tuned", "-g", "1")
    assert done.returncode == 2 and done.stderr == f"error: {top.name}: File exists\n"
    assert run("triton.tools.link", top.name, "-o", "all").returncode == 0
    assert "int tuned(float *x_ptr, int32_t n, int algo_id);" in (tmp_path / "all.h").read_text()
    done = run("triton.no_such")
    assert done.returncode == 2 and "no module named triton.no_such" in done.stderr
