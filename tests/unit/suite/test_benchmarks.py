"""The benchmark's scripts find what they share with the tests: between two releases nothing else imports them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tilewright.codegen import llvm_backend
from tilewright.targets.cpu.facts import named_facts

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def _load(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"benchmarks_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


limits = _load(BENCHMARKS / "cpu" / "limits.py")


@pytest.mark.costly
@pytest.mark.sampled
@pytest.mark.parametrize("script", ["cpu/worker.py", "cpu/block_growth.py", "cpu/sanitizing.py"])
def test_scripts_are_imported(script: str) -> None:
    """In a process of its own: here pytest has added the folders of the tests to the path."""
    path = BENCHMARKS / script
    code = f"import sys; sys.path.insert(0, {str(path.parent)!r}); import {path.stem}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+avx512vnni", "generic-aarch64+dotprod"]
)
def test_products_of_bytes_have_a_limit(cpu: str) -> None:
    """Each kind of vectors has a loop that only multiplies; it compiles, with the instruction of the processor."""
    name, _, more = cpu.partition("+")
    facts = named_facts(name)
    facts = replace(facts, features=facts.features | {feature for feature in (more,) if feature})
    product = limits._byte_product(facts)
    assert product is not None
    text = "\n".join([f'target triple = "{facts.triple}"', product])
    machine_code = llvm_backend.compile_text(text, facts, effort=llvm_backend.Effort.LIGHT)
    assert len(machine_code) > 0
    assert ("vpdpbusd" in product, "sdot" in product) == ("vnni" in more, "dotprod" in more)


def test_processors_without_products_of_bytes_have_no_limit() -> None:
    assert limits._byte_product(named_facts("x86-64")) is None
