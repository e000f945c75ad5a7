"""What a case of the GPU benchmarks is, the kernels that it runs, and inputs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
KERNELS = ("kernels", "gradient_kernels", "mixed_kernels")
TERA = 1e12

Config = dict[str, Any]
Tensors = dict[str, Any]


def load_kernels(implementation: str) -> ModuleType:
    """The kernels of all files in one module, for `tilewright` or for official `triton`."""
    every = ModuleType(f"gpu_kernels_{implementation}")
    for file in KERNELS:
        vars(every).update((name, value) for name, value in vars(_load(file, implementation)).items() if name[0] != "_")
    return every


def _load(file: str, implementation: str) -> ModuleType:
    name = f"{file}_{implementation}"
    spec = importlib.util.spec_from_file_location(name, HERE / f"{file}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if implementation == "triton":
        spec.loader.exec_module(module)
        return module
    from tilewright import compat

    with compat.standing_in():
        spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Case:
    """One row of the table. `work` is bytes or operations of a run, `unit` TB/s or TFLOP/s; `run(kernels, tensors,
    config)` launches; `expected(tensors)` is what `tensors["out"]` must hold, in float64."""

    name: str
    make: Callable[[], Tensors]
    run: Callable[[ModuleType, Tensors, Config], None]
    expected: Callable[[Tensors], Any]
    work: float
    unit: str
    configs: Sequence[Config] = field(default_factory=lambda: [{}])
    peer: Callable[[Tensors], Any] | None = None
    """The same by PyTorch, to be timed too."""
    tolerance: float = 1e-2


def warps(*counts: int) -> list[Config]:
    return [{"num_warps": count} for count in counts]


def normal(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(dtype)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def power_of_2(n: int) -> int:
    return 1 << (n - 1).bit_length()
