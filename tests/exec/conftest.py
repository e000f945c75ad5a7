"""Makes the modules of this folder, and those of the corpus, importable by the tests in it; chooses targets.

`TILEWRIGHT_TARGET` names the one target that launches go to. Without it, tests that ask for `every_target` run on the
CPU and on the simulated GPU.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.children import Children, start_children
from suite.kept_modules import keep_modules
from tilewright.support import knobs

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernels")]

CHOSEN = knobs.get("target")
REAL = "cuda"


@pytest.fixture(params=[CHOSEN] if CHOSEN else ["cpu", "cuda_sim"])
def every_target(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each target that kernels can run on here. Products of f32 are exact in it: limits are those of f32."""
    with knobs.scope(target=request.param, f32_default="ieee"):
        yield request.param


@pytest.fixture
def a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A GPU as target: the real one where it was named, else the simulated one. To read `asm["ttgir"]` compiles nothing."""
    keep_modules(monkeypatch, "ttgir")
    with knobs.scope(target=CHOSEN if CHOSEN == REAL else "cuda_sim"):
        yield CHOSEN


@pytest.fixture
def on_hopper(a_gpu: str) -> Iterator[None]:
    """Hopper as target: the real one where a GPU was named, which may be older, else the simulated one."""
    if a_gpu == REAL:
        from device_memory import device_capability

        if device_capability() < 90:
            pytest.skip("this GPU is older than Hopper")
        yield
        return
    with knobs.scope(override_arch="sm90"):
        yield


@pytest.fixture(scope="session")
def torch_children() -> Iterator[Children]:
    """Programs with PyTorch, which import it, what most of it imports, and the compiler once for all."""
    yield from start_children("torch", "torch.distributed.tensor", "sympy", "suite.whole_compiler")


@pytest.fixture(scope="session")
def inductor_children() -> Iterator[Children]:
    """Programs of `tilewright run` that are compiled by PyTorch, which import its compiler and ours once for all."""
    yield from start_children("torch", "torch.distributed.tensor", "sympy", "suite.whole_inductor")


@pytest.fixture(autouse=CHOSEN == REAL)
def arrays_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches on a real GPU get CUDA tensors where the tests have arrays."""
    from device_memory import LAUNCHES, launching_on_gpu, skip_without_gpu

    from tilewright.runtime.jit import JITFunction

    skip_without_gpu()
    for name in LAUNCHES:
        monkeypatch.setattr(JITFunction, name, launching_on_gpu(getattr(JITFunction, name)))
