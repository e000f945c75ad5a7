"""Runs cases and prints one line of JSON for each result; started anew by `run.py` after a case that lost the GPU.

python worker.py smoke|table NUMBER NUMBER ...
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from types import ModuleType
from typing import Any

import cases
import measure
import torch
from case import TERA, Case, load_kernels

IMPLEMENTATIONS = ("tilewright", "triton")


def main(arguments: list[str]) -> None:
    kind, *numbers = arguments
    torch.backends.cuda.matmul.allow_tf32 = True
    kernels: dict[str, Any] = {name: load(name) for name in IMPLEMENTATIONS}
    timer = measure.Timer()
    rows = cases.smoke_cases() if kind == "smoke" else cases.table_cases()
    for number in map(int, numbers):
        case = rows[number]
        for name, module in kernels.items():
            if isinstance(module, str):
                say(number, name, {"error": module})
            else:
                say(number, name, attempt(case, module, timer, quick=kind == "smoke"))
        if case.peer is not None:
            say(number, "torch", attempt_peer(case, timer, quick=kind == "smoke"))
        torch.cuda.empty_cache()


def load(name: str) -> ModuleType | str:
    """The kernels of an implementation, or why there are none."""
    try:
        return load_kernels(name)
    except Exception as error:
        return first_line(error)


def say(number: int, implementation: str, result: dict[str, Any]) -> None:
    print(json.dumps({"case": number, "implementation": implementation, **result}), flush=True)


def attempt(case: Case, kernels: ModuleType, timer: measure.Timer, *, quick: bool) -> dict[str, Any]:
    """The fastest of the configurations that give the right result; the reasons where none does."""
    failures: list[str] = []
    best: dict[str, Any] | None = None
    tensors = case.make()
    expected = case.expected(tensors)
    worst_error, compile_seconds = 0.0, 0.0
    for config in case.configs[:1] if quick else case.configs:
        try:
            tensors["out"].fill_(float("nan"))
            start = time.perf_counter()
            case.run(kernels, tensors, config)
            torch.cuda.synchronize()
            compile_seconds = time.perf_counter() - start
            error = measure.relative_error(tensors["out"], expected)
            if not error <= case.tolerance:
                failures.append(f"{config}: relative error {error:.3g}")
                continue
            worst_error = max(worst_error, error)
            seconds = timer.median(lambda: case.run(kernels, tensors, config), seconds=0.03 if quick else 0.15)  # noqa: B023
        except Exception as error:
            failures.append(f"{config}: {first_line(error)}")
            if is_lost(error):
                return {"error": "; ".join(failures), "lost": True}
            if quick:
                traceback.print_exc()
            continue
        if best is None or seconds < best["seconds"]:
            best = {"seconds": seconds, "config": config}
    if best is None:
        return {"error": "; ".join(failures) or "no configuration"}
    rate = case.work / best["seconds"] / TERA
    return {**best, "rate": rate, "error_norm": worst_error, "compile_seconds": compile_seconds, "failures": failures}


def attempt_peer(case: Case, timer: measure.Timer, *, quick: bool) -> dict[str, Any]:
    assert case.peer is not None
    tensors = case.make()
    try:
        found = case.peer(tensors)
        found = torch.stack(found, 2) if isinstance(found, tuple) else found
        found = found[0] if found.dim() > 3 else found
        error = measure.relative_error(found, case.expected(tensors))
        peer = case.peer
        seconds = timer.median(lambda: peer(tensors), seconds=0.03 if quick else 0.15)
    except Exception as error:
        return {"error": first_line(error)}
    return {"seconds": seconds, "rate": case.work / seconds / TERA, "error_norm": error}


def is_lost(error: BaseException) -> bool:
    """Whether the GPU can be used no more in this process."""
    try:
        torch.cuda.synchronize()
    except Exception:
        return True
    return "CUDA error" in str(error)


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {' '.join(text.split())[:300]}"


if __name__ == "__main__":
    main(sys.argv[1:])
