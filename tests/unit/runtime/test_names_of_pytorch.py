"""What PyTorch 2.15 asks of `triton`: read from its wheel (imports, attributes, texts that Inductor writes), without
what official Triton 3.9 lacks as well, which PyTorch asks for by way of exceptions. Each name is there, or listed."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from inspect import getsource
from pathlib import Path

import pytest

from suite import official_packages
from tilewright import compat

ASKED = Path(__file__).with_name("pytorch_2_15_names.txt")

ABSENT = {
    "triton.backends.nvidia.driver.make_tensordesc_arg": "PyTorch's own launcher of cubins: ours is the CPU's",
    "triton.profiler.hooks": "with `config.triton.proton_profiling` alone",
}


def asked() -> list[str]:
    """The names, from the file: a module or object at the start of a line, then the names in it."""
    names: list[str] = []
    owner = ""
    for line in ASKED.read_text().splitlines():
        if line.startswith(" "):
            names += [f"{owner}.{name}" for name in line.split()]
        else:
            owner = line.strip()
    return names


def find(name: str) -> object:
    """Import as much of a name as is a module, and look the rest up."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def is_there(name: str) -> bool:
    """Does a name lead to anything?"""
    try:
        find(name)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


def test_a_name_is_there_or_listed_with_the_reason() -> None:
    with compat.standing_in():
        assert [name for name in asked() if not is_there(name)] == sorted(ABSENT)


def test_what_is_listed_is_asked_for() -> None:
    assert set(ABSENT) <= set(asked()) and len(asked()) > 150


@pytest.mark.costly
@pytest.mark.needs("triton")
def test_the_official_package_has_the_names() -> None:
    """The list is of names that are: a slip in it would be found here. The driver's need a GPU."""
    program = f"import importlib, json, sys\n{getsource(find)}\n{getsource(is_there)}\n" + (
        "print(json.dumps([name for name in json.loads(sys.argv[1]) if not is_there(name)]))"
    )
    names = json.dumps([name for name in asked() if not name.startswith("triton.runtime.driver")])
    command, environment = [sys.executable, "-c", program, names], official_packages.environment("3.9")
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout.splitlines()[-1]) == []


def test_questions_of_pytorch_are_answered() -> None:
    """As its `torch.utils._triton` asks: block pointers, descriptors on the host and in kernels, a CPU back end."""
    with compat.standing_in():
        triton, language = map(importlib.import_module, ("triton", "triton.language"))
        assert "cpu" in triton.backends.backends
        assert tuple(map(int, triton.__version__.split(".")[:2])) == (3, 9)
        assert hasattr(language, "make_block_ptr") and hasattr(language, "advance")
        assert find("triton.tools.tensor_descriptor.TensorDescriptor") and language.make_tensor_descriptor
        cache = importlib.import_module("triton.runtime.cache")
        assert cache._base32("00ff") == "AD7Q" and cache.knobs.cache.dir
