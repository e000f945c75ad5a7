"""What tests need that a machine may lack: `@pytest.mark.needs("gpu")`. Where it is absent they are not collected."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest

from suite import official_packages


@dataclass(frozen=True)
class Requirement:
    """Something that a machine may lack, by its name in a sentence."""

    phrase: str
    is_met: Callable[[], bool]


def _has_gpu() -> bool:
    from tilewright.support.errors import TilewrightError
    from tilewright.targets.cuda.driver import cuda_driver

    try:
        cuda_driver().device(0)
    except TilewrightError:
        return False
    return True


def _has_ptxas() -> bool:
    from tilewright.codegen.nvptx.ptxas import find_ptxas

    return find_ptxas() is not None


def _has_package(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


def _has(*names: str) -> bool:
    return all(_has_package(name)() for name in names)


def _has_mlir_opt() -> bool:
    return shutil.which("mlir-opt-22") is not None or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin") is not None


BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of a browser that Playwright drives."""
    return next((path for path in map(shutil.which, BROWSERS) if path is not None), None)


def _has_browser() -> bool:
    return find_browser() is not None and _has_package("playwright")()


MINGW = "x86_64-w64-mingw32-gcc"


def find_wine() -> str | None:
    """The path of what runs 64-bit programs for Windows."""
    return shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine") or shutil.which("wine")


def _has_wine() -> bool:
    return find_wine() is not None and shutil.which(MINGW) is not None


def _has_level(name: str) -> bool:
    from tilewright.targets.cpu.facts import host_facts, named_facts

    return host_facts().is_x86 and named_facts(name).features <= host_facts().features


def _has_feature(name: str) -> bool:
    from tilewright.targets.cpu.facts import host_facts

    return host_facts().has(name)


LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
"""Whose machine code a processor runs or not."""

FEATURES = ("avx512bf16", "avx512vl", "avx512vnni", "avxvnni")
"""What a processor has or not, by LLVM's names."""

REQUIREMENTS = {
    "browser": Requirement("Chromium and Playwright (make browser)", cache(_has_browser)),
    "gdb": Requirement("gdb", lambda: shutil.which("gdb") is not None),
    "gpu": Requirement("an NVIDIA GPU", cache(_has_gpu)),
    "jupyter": Requirement("nbclient and ipykernel (pip install '.[docs]')", lambda: _has("nbclient", "ipykernel")),
    "mkdocs": Requirement("MkDocs (make docs)", cache(_has_package("mkdocs"))),
    "mlir-opt": Requirement("mlir-opt of LLVM 22 (make oracles)", cache(_has_mlir_opt)),
    "ptxas": Requirement("ptxas (make oracles)", cache(_has_ptxas)),
    "torch": Requirement("PyTorch (make torch)", cache(_has_package("torch"))),
    "triton": Requirement("official Triton (make oracles)", cache(_has_package("triton"))),
    "wine": Requirement("Wine and a compiler for Windows (make windows)", cache(_has_wine)),
    **{name: Requirement(f"a processor of {name}", cache(partial(_has_level, name))) for name in LEVELS},
    **{name: Requirement(f"a processor with {name}", cache(partial(_has_feature, name))) for name in FEATURES},
    **{
        f"triton-{version}": Requirement(
            f"official Triton {version} (make oracles)", partial(official_packages.is_available, version)
        )
        for version in (official_packages.NEWEST, official_packages.OLDEST)
    },
}


class LeftOut:
    """Counts the cases of tests that are not collected, by the first thing that they need and the machine lacks."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def leaves_out(self, collector: pytest.Collector, item: Any) -> bool:
        """Whether a function or class of tests cannot run here."""
        for mark in (*_marks(item), *_marks(getattr(collector, "obj", None))):
            if mark.name != "needs":
                continue
            for name in mark.args:
                if not REQUIREMENTS[name].is_met():
                    self.counts[name] += _count_cases(item)
                    return True
        return False

    def leaves_out_case(self, item: pytest.Item) -> bool:
        """Whether a case cannot run here by what its parameters need, or is not about the target it would be for."""
        for mark in item.iter_markers("needs"):
            for name in mark.args:
                if not REQUIREMENTS[name].is_met():
                    self.counts[name] += 1
                    return True
        target = item.callspec.params.get("every_target") if hasattr(item, "callspec") else None
        return target is not None and any(target not in mark.args for mark in item.iter_markers("only_on"))


def describe(counts: Counter[str]) -> str:
    """One line: what was not collected, and why."""
    parts = [f"{count} need {REQUIREMENTS[name].phrase}" for name, count in counts.most_common()]
    return f"not run here: {', '.join(parts)}" if parts else ""


def _marks(item: Any) -> Iterator[pytest.Mark]:
    found = getattr(item, "pytestmark", ())
    for mark in found if isinstance(found, (list, tuple)) else (found,):
        yield getattr(mark, "mark", mark)


def _count_cases(item: Any) -> int:
    """The combinations of a function's parameters."""
    return math.prod(len(mark.args[1]) for mark in _marks(item) if mark.name == "parametrize")
