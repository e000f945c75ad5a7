"""Official Triton with tilewright behind it on a real GPU, beside Triton's own back end on the same one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import pytest

triton: Any = pytest.importorskip("triton", reason="official Triton is not installed")
torch: Any = pytest.importorskip("torch", reason="official Triton's launches need PyTorch")
# All of these import official Triton.
official_kernels: Any = import_module("official_kernels")
launches: Any = import_module("official_launches")
triton_backend: Any = import_module("tilewright.triton_backend")
random = partial(launches.random, device="cuda")

pytestmark = [
    pytest.mark.needs("gpu"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no NVIDIA GPU"),
    pytest.mark.skipif(
        "tilewright" not in triton.backends.backends,
        reason="tilewright is not installed as a distribution, whose entry points Triton looks at",
    ),
]


@pytest.fixture(autouse=True)
def on_the_gpu(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Launches go to our CUDA target, and to Triton's own driver afterwards."""
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path_factory.getbasetemp() / "triton"))
    triton_backend.activate("cuda")
    yield
    triton_backend.deactivate()


@pytest.mark.parametrize("launch", launches.LAUNCHES)
def test_launches(launch: str) -> None:
    launches.LAUNCHES[launch]("cuda")


def test_one_kernel_on_both_back_ends() -> None:
    """Neither takes what the other compiled."""
    x, y = random(1000), random(1000) + 1
    compiled: list[Any] = []
    for back_end in ("tilewright", "nvidia", "tilewright"):
        if back_end == "nvidia":
            triton_backend.deactivate()
        else:
            triton_backend.activate("cuda")
        out = torch.full((1024,), 7.0, device="cuda")
        compiled.append(official_kernels.add[(16,)](x, y, out, 1000, BLOCK=64))
        assert torch.equal(out[:1000], x + y)
        assert torch.all(out[1000:] == 7)
    ours, theirs, again = compiled
    assert again is ours
    assert list(ours.asm) == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert theirs.asm["ptx"] != ours.asm["ptx"]
    assert ours.metadata.target.backend == "tilewright-cuda"


def test_pointers_that_share_memory() -> None:
    """What is compiled is for pointers that do not; the kernel for others is found at their first launch."""
    x, out = torch.arange(48, dtype=torch.float32, device="cuda"), torch.zeros(64, device="cuda")
    official_kernels.shift[(1,)](x, out, 48, BLOCK=16)
    assert torch.equal(out[16:], x + 1)
    row = torch.zeros(32, device="cuda")
    official_kernels.shift[(1,)](row, row, 16, BLOCK=16)
    assert torch.equal(row, torch.tensor([0.0, 1]).repeat_interleave(16).cuda())


def test_inline_assembly() -> None:
    number = torch.tensor([41], dtype=torch.int32, device="cuda")
    official_kernels.assembly[(1,)](number)
    assert number.item() == 41


def test_random_numbers_are_those_of_the_other_back_end() -> None:
    ones = torch.ones(4096, device="cuda")
    ours, theirs = torch.empty_like(ones), torch.empty_like(ones)
    official_kernels.dropout[(4,)](ones, ours, 123, 0.25, BLOCK=1024)
    triton_backend.deactivate()
    official_kernels.dropout[(4,)](ones, theirs, 123, 0.25, BLOCK=1024)
    assert torch.equal(ours, theirs)


def test_what_programs_ask_of_the_driver() -> None:
    active = triton.runtime.driver.active
    assert active.get_active_torch_device().type == "cuda"
    assert active.get_device_capability() == torch.cuda.get_device_capability()
    assert active.get_device_interface() is torch.cuda
    properties = active.utils.get_device_properties(active.get_current_device())
    assert properties["multiprocessor_count"] == torch.cuda.get_device_properties(0).multi_processor_count
    x, out = random(64), torch.empty(64, device="cuda")
    assert triton.testing.do_bench(lambda: official_kernels.add[(1,)](x, x, out, 64, BLOCK=64), warmup=1, rep=2) > 0


def test_launches_go_to_the_current_stream() -> None:
    x = torch.ones(1 << 20, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(3)
        out = torch.empty_like(x)
        official_kernels.add[(1 << 10,)](x, x, out, 1 << 20, BLOCK=1024)
    stream.synchronize()
    assert torch.all(out == 6)


def test_launches_are_captured_in_graphs() -> None:
    x, out = torch.ones(256, device="cuda"), torch.empty(256, device="cuda")
    official_kernels.add[(1,)](x, x, out, 256, BLOCK=256)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        official_kernels.add[(1,)](x, x, out, 256, BLOCK=256)
    x.fill_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.all(out == 10)
