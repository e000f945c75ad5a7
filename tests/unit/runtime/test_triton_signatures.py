"""Attributes of the public classes of official Triton, and parameters of its functions: each is there, or listed."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from suite import official_packages
from tilewright import compat

DESCRIBE = """
import importlib, inspect, json, sys

MODULES = [
    "triton", "triton.language", "triton.runtime", "triton.runtime.driver",
    "triton.runtime.cache", "triton.runtime.autotuner", "triton.testing", "triton.tools.tensor_descriptor",
    "triton.tools.mxfp", "triton.tools.ragged_tma", "triton.profiler", "triton.experimental.gluon",
    "triton.experimental.gluon.language", "triton.experimental.gluon.nvidia.hopper",
    *[f"triton.experimental.gluon.language.nvidia.{name}" for name in (
        "ampere", "ampere.async_copy", "ampere.mbarrier", "hopper", "hopper.tma", "hopper.mbarrier", "hopper.cluster")],
]

def parameters(value):
    try:
        named = inspect.signature(getattr(value, "fn", value)).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = [p.name for p in named if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    any_other = ["**"] if any(p.kind == p.VAR_KEYWORD for p in named) else []
    return [name for name in plain if not name.startswith("_")] + any_other

found = {}
for name in MODULES:
    module = importlib.import_module(name)
    for label in dir(module):
        value = getattr(module, label)
        home = str(getattr(value, "__module__", ""))
        if not label.startswith("_") and home.startswith(sys.argv[1]) and (inspect.isclass(value) or callable(value)):
            attributes = [a for a in dir(value) if not a.startswith("_")] if inspect.isclass(value) else []
            found[f"{name}.{label}"] = [attributes, parameters(value)]
print(json.dumps(found))
"""

OURS = f"from tilewright import compat; compat.install(); exec({DESCRIBE!r})"

_OF_THE_COMPILER = "made by the compiler alone"
_MADE = "errors are made with the place and the text that they show"
_KEYS = "`str()` of the type says the same"

ABSENT = {
    "block_type.cache_key_part": _KEYS,
    "distributed_type.cache_key_part": _KEYS,
    "dtype.cache_key_part": _KEYS,
    "pointer_type.cache_key_part": _KEYS,
    "Autotuner.check_disk_cache": "a part of a tuning",
    "PaddedSharedLayout.verify": "called when one is made",
    "GluonASTSource.parse_options": "options are the launch's",
    "CompilationError.source_line_count_max_in_message": "messages show the statement",
    **{
        f"{kind}.{name}": reason
        for kind in ("JITFunction", "GluonJITFunction")
        for name, reason in {
            "create_binder": "`kernel.binder` is made when it is needed",
            "type": "a part of the front end",
        }.items()
    },
}

OTHERWISE_CALLED = {
    "AutotunerError": _MADE,
    "CompilationError": _MADE,
    "InterpreterError": _MADE,
    "PTXASError": _MADE,
    "FutureKernel": _OF_THE_COMPILER,
    "tensor_descriptor": _OF_THE_COMPILER,
    "tensor_descriptor_type": _OF_THE_COMPILER,
    "tensor_descriptor_im2col": _OF_THE_COMPILER,
    "tensor_descriptor_im2col_type": _OF_THE_COMPILER,
    "must_use_result": "a decorator, with or without advice, by position",
}


def described(program: str, home: str, environment: dict[str, str]) -> dict[str, list[list[str]]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, home], capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.costly
@pytest.mark.needs("triton-3.9")
def test_attributes_and_parameters() -> None:
    environment = official_packages.environment(official_packages.NEWEST)
    theirs = described(DESCRIBE, "triton", environment)
    ours = described(OURS, "", environment)
    missing: set[str] = set()
    differ: set[str] = set()
    for name, (attributes, parameters) in theirs.items():
        if name not in ours:
            continue  # see test_triton_names.py
        label = name.rpartition(".")[2]
        missing |= {f"{label}.{attribute}" for attribute in attributes if attribute not in ours[name][0]}
        unknown = set(parameters) - {*ours[name][1], "**"}
        differ |= {label} if unknown and "**" not in ours[name][1] else set()
    assert len(theirs) > 400 and missing == ABSENT.keys() and differ == OTHERWISE_CALLED.keys()


class Counted(tilewright.KernelInterface):
    """A kernel of a program's own."""

    def run(self, *args: object, grid: object = None, warmup: bool = False, **keywords: object) -> object:
        return args, grid, warmup, keywords


def test_what_programs_derive_from_is_warmed_up() -> None:
    (tensor, number), grid, is_warmup, keywords = Counted().warmup(tl.float32, 3, grid=(1,), N=4)
    assert (tensor.dtype, number, grid, is_warmup, keywords) == (tl.float32, 3, (1,), True, {"N": 4})


def test_names_of_parameters() -> None:
    wrapped = tilewright.TensorWrapper(np.zeros(4, np.int8), dtype=tl.float8e5)
    assert wrapped.dtype == tl.float8e5
    with compat.standing_in():
        from triton.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col

        assert isinstance(TensorDescriptor.mode, property) and isinstance(TensorDescriptorIm2Col.mode, property)
    time = tilewright.testing.do_bench_cudagraph(lambda: None, rep=1, quantiles=[0.5], return_mode="mean")
    assert time >= 0
