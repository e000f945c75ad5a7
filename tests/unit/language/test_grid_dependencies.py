"""Grids that wait for others (programmatic dependent launch): the ops of Triton 3.9, and what they become."""

from __future__ import annotations

import pytest

import tilewright
import tilewright.language as tl
from tilewright.compat import compiler
from tilewright.compat.backends.compiler import GPUTarget
from tilewright.support import knobs


@tilewright.jit
def adds_to_what_came(x_ptr):
    tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(x_ptr, x + 1)


@pytest.mark.parametrize(("capability", "count"), [(80, 0), (90, 1)])
def test_instructions_of_hopper(capability: int, count: int) -> None:
    source = compiler.ASTSource(adds_to_what_came, {"x_ptr": "*fp32"})
    kernel = compiler.compile(source, target=GPUTarget("cuda", capability, 32))
    ttir, ptx = kernel.asm["ttir"], kernel.asm["ptx"]
    assert ttir.index("tt.grid_dependency_wait") < ttir.index("tt.load")
    assert ttir.index("tt.grid_dependency_launch_dependents") < ttir.index("tt.store")
    assert ptx.count("griddepcontrol.wait;") == ptx.count("griddepcontrol.launch_dependents;") == count


def test_triton_3_6_has_assembly_for_them() -> None:
    with knobs.scope(triton_version="3.6"):
        source = compiler.ASTSource(adds_to_what_came, {"x_ptr": "*fp32"})
        text = compiler.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]
    assert "tt.grid_dependency" not in text
    assert 'tt.elementwise_inline_asm "griddepcontrol.wait;' in text
