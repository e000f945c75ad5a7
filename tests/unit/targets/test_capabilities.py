"""What targets and kernels can do besides what all can; a member of theirs that is renamed is seen here."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Protocol

import pytest

import tilewright
from tilewright.targets import capabilities
from tilewright.targets.base import Target, find_target
from tilewright.targets.cpu.kernel import CpuKernel
from tilewright.targets.cpu.target import CpuTarget
from tilewright.targets.cuda.kernel import CudaKernel
from tilewright.targets.cuda.simulated import SimulatedKernel, SimulatedTarget
from tilewright.targets.cuda.target import CudaTarget
from tilewright.targets.reference.kernel import ReferenceKernel
from tilewright.targets.reference.target import ReferenceTarget

CLASSES = {name: cls for name, cls in vars(capabilities).items() if inspect.isclass(cls) and cls is not Protocol}
PROTOCOLS = {name: cls for name, cls in CLASSES.items() if getattr(cls, "_is_protocol", False)}
CAPABILITIES = {
    CpuTarget: {"HasBaseline", "HasGluon", "HasLibraries", "IgnoresOptions", "LinksFiles", "PreparesToLoad"},
    CudaTarget: {"Configurable", "HasGluon", "HasLateStages", "HasSmallerPlans", "NamesCode", "Placed"},
    SimulatedTarget: {"Configurable", "HasGluon", "HasLateStages", "HasSmallerPlans", "NamesCode", "Placed", "Untimed"},
    ReferenceTarget: {"HasGluon", "Untimed"},
    CpuKernel: {"HostKernel", "Recognisable", "Repeatable"},
    CudaKernel: {"CountsRegisters", "DeviceKernel", "HasOtherForm", "Recognisable", "Repeatable"},
    SimulatedKernel: {"BoundedKernel", "HasOtherForm"},
    ReferenceKernel: {"BoundedKernel"},
}


@pytest.mark.parametrize("cls", CAPABILITIES, ids=lambda cls: cls.__name__)
def test_what_our_own_can_do(cls: type) -> None:
    bare = object.__new__(cls)
    found = {
        name
        for name, protocol in PROTOCOLS.items()
        if all(inspect.getattr_static(bare, member, None) is not None for member in members_of(protocol))
    }
    assert found == CAPABILITIES[cls]


def members_of(protocol: type) -> set[str]:
    return {*protocol.__annotations__, *(name for name, value in vars(protocol).items() if is_member(name, value))}


def is_member(name: str, value: object) -> bool:
    return not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))


def test_isinstance_agrees() -> None:
    cpu = find_target("cpu")
    assert isinstance(cpu, Target) and isinstance(cpu, capabilities.HasBaseline)
    assert not isinstance(cpu, capabilities.NamesCode) and not isinstance(cpu, capabilities.Untimed)
    assert capabilities.code_keys(cpu) == ("asm", "obj") and capabilities.is_timed(cpu)
    assert capabilities.code_keys(find_target("cuda_sim")) == ("ptx", "obj")
    assert not capabilities.is_timed(find_target("reference"))


@pytest.mark.costly
def test_targets_kernels_and_facts_are_asked_by_protocol() -> None:
    """No `getattr(target, "name", default)`."""
    package = Path(tilewright.__file__).parent
    wrong = [
        f"{path.relative_to(package)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(package.rglob("*.py"))
        if "getattr(" in (text := path.read_text()) or "hasattr(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("getattr", "hasattr")
        and re.search(r"(^|[._])(target|native|artefact|facts)$", ast.unparse(node.args[0]))
    ]
    assert not wrong, "\n".join(wrong)
