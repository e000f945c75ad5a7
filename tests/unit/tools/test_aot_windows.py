"""Kernels compiled ahead of time for Windows: cross-compiled C programs run under Wine, on threads of Windows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from c_programs import KERNELS

from suite.requirements import MINGW, find_wine
from tilewright.codegen.llvm_backend import Effort, compile_text
from tilewright.targets.cpu.facts import named_facts
from tilewright.targets.cpu.native_runtime import runtime_text
from tilewright.tools.cli import main

KERNELS_OF_THE_PROGRAM = {
    "matrix_product": "*fp32,*fp32,*fp32,i32,i32,i32,32,ACT='relu'",
    "in_reverse": "*i32,*fp32",
    "checked": "*fp32,i32,64",
    "printing": "*i32,i64,2",
}

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "matrix_product.h"
#include "in_reverse.h"
#include "checked.h"
#include "printing.h"

enum { M = 330, N = 290, K = 50, PROGRAMS = 40 };
static float a[M * K], b[K * N], c[M * N], one[64];
static int32_t flags[PROGRAMS + 1], few[2] = {7, -8};
static float results[PROGRAMS + 1];

int main(int argc, char **argv) {
  tilewright_use_threads(argc > 1 ? atoi(argv[1]) : 4);
  for (int i = 0; i < M * K; i++) a[i] = i % 7 - 3;
  for (int i = 0; i < K * N; i++) b[i] = i % 5 - 2;
  int wrong = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < M * N; i++) c[i] = -1;
    wrong += matrix_product((M + 31) / 32, (N + 31) / 32, 1, a, b, c, M, N, K);
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
        wrong += c[i * N + j] != (sum > 0 ? sum : 0);
      }
  }
  printf("products %d\n", wrong);
  flags[PROGRAMS] = 1;
  printf("waits %d\n", in_reverse(PROGRAMS, 1, 1, flags, results));
  for (int i = 0; i < 64; i++) one[i] = i == 40 ? -1 : 4;
  int status = checked(1, 1, 1, one, 64);
  printf("assertion %d: %s\n", status == TILEWRIGHT_ASSERTION, tilewright_last_failure()->message);
  printf("prints %d\n", printing(1, 1, 1, few, 5));
  return 0;
}
"""


@pytest.mark.needs("wine")
@pytest.mark.costly
def test_a_program_for_windows(tmp_path: Path) -> None:
    """Threads start, sleep and wake each other; programs wait for others; assertions and prints arrive."""
    for kernel, signature in KERNELS_OF_THE_PROGRAM.items():
        words = ["compile", f"{KERNELS}:{kernel}", "-s", signature, "-t", "cpu:x86-64-v2:windows", "-o", str(tmp_path)]
        assert main([*words, "--option", "debug=True"]) == 0
    (tmp_path / "main.c").write_text(PROGRAM)
    files = [str(path) for path in tmp_path.iterdir() if path.suffix in (".c", ".o")]
    built = [
        MINGW,
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(tmp_path / "program.exe"),
        *files,
        "-lsynchronization",
    ]
    done = subprocess.run(built, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for threads in ("1", "4"):
        lines = run_under_wine(tmp_path, threads)
        assert lines[:2] == ["products 0", "waits 0"], lines
        assert lines[2].startswith("assertion 1: ") and "`not positive` failed" in lines[2], lines
        assert "pid (0, 0, 0) idx (1) x: (operand 0) -8" in lines and lines[-1] == "prints 0", lines


def run_under_wine(folder: Path, *arguments: str) -> list[str]:
    """The lines that the program prints."""
    wine = find_wine()
    assert wine is not None
    shared = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tilewright-wine"
    shared.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "WINEPREFIX": str(shared), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    command = [wine, str(folder / "program.exe"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("launcher", ["launcher.ll", "c_launcher.ll"])
@pytest.mark.parametrize("cpu", ["x86-64-v3", "generic-aarch64"])
@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
def test_the_runtime_is_an_object_on_every_system(system: str, cpu: str, launcher: str) -> None:
    facts = named_facts(cpu, system)
    image = compile_text(runtime_text(facts, launcher), facts, effort=Effort.NONE, verify=True)
    magic = {"linux": b"\x7fELF", "macos": b"\xcf\xfa\xed\xfe", "windows": b"\x64\x86" if "x86" in cpu else b"\x64\xaa"}
    assert image.startswith(magic[system])
    names = {"linux": b"pthread_create", "macos": b"pthread_create", "windows": b"CreateThread"}
    assert names[system] in image


def test_unknown_systems_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["compile", f"{KERNELS}:checked", "-s", "*fp32,i32,64", "-t", "cpu:x86-64:beos", "-o", str(tmp_path)]
    assert main(words) == 2
    assert "no system 'beos' can be compiled for; there are linux, macos, windows" in capsys.readouterr().err
