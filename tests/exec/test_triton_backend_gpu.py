"""Official Triton with tilewright behind it on a real GPU, beside Triton's own back end on the same one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

triton: Any = pytest.importorskip("triton", reason="official Triton is not installed")
torch: Any = pytest.importorskip("torch", reason="official Triton's launches need PyTorch")
official_kernels: Any = pytest.importorskip("official_kernels")
triton_backend: Any = pytest.importorskip("tilewright.triton_backend")

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU"),
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


def random(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to("cuda", dtype)


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


@pytest.mark.parametrize("inner", [64, 50])
def test_autotuned_products(inner: int) -> None:
    a, b = random(40, inner, dtype=torch.float16), random(inner, 48, dtype=torch.float16)
    c = torch.empty(40, 48, device="cuda")
    official_kernels.matmul.cache.clear()
    grid = lambda meta: (triton.cdiv(40, meta["BM"]), triton.cdiv(48, meta["BN"]))  # noqa: E731
    official_kernels.matmul[grid](a, b, c, 40, 48, inner, BK=16)
    torch.testing.assert_close(c, a.float() @ b.float(), atol=1e-2, rtol=1e-2)
    assert official_kernels.matmul.best_config in official_kernels.matmul.configs


def test_reductions_scans_and_sorts() -> None:
    x = random(5, 100)
    out = torch.empty_like(x)
    official_kernels.softmax[(5,)](x, out, 100, BLOCK=128)
    torch.testing.assert_close(out, torch.softmax(x, 1))
    row = random(64)
    sums, peaks, ordered = (torch.empty(64, device="cuda") for _ in range(3))
    official_kernels.scans[(1,)](row, sums, peaks, ordered, BLOCK=64)
    torch.testing.assert_close(sums, row.cumsum(0))
    assert torch.equal(peaks, row.flip(0).cummax(0).values.flip(0))
    assert torch.equal(ordered, row.sort(descending=True).values)


def test_atomics() -> None:
    x = torch.randint(0, 8, (300,), dtype=torch.int32, device="cuda")
    counts = torch.zeros(8, dtype=torch.int32, device="cuda")
    last = torch.full((8,), -1, dtype=torch.int32, device="cuda")
    official_kernels.count[(5,)](x, counts, last, 300, BLOCK=64)
    assert torch.equal(counts, torch.bincount(x, minlength=8).int())
    assert last.tolist() == [int((x == value).nonzero().max()) if (x == value).any() else -1 for value in range(8)]


def test_functions_scalars_and_loops() -> None:
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    official_kernels.functions[(1,)](out, 3, (5, 1), STEPS=3, NAME="calls")
    assert out.item() == 5 * 9 + 1 + 3 * 2 + 3
    wide, bias = torch.zeros(1, dtype=torch.float64, device="cuda"), torch.tensor([0.25], device="cuda")
    official_kernels.scalars[(1,)](wide, 3, 0.1, 2**40, True, None, 1, INCLUDED=True)
    assert wide.item() == -(3 * 0.1 + 2**40) + 1
    official_kernels.scalars[(1,)](wide, -5, 1.5, 2.5, False, bias, 16, INCLUDED=False)
    assert wide.item() == -5.0 + 0.25
    n, steps = torch.tensor([1, 6, 27], device="cuda"), torch.zeros(3, dtype=torch.int32, device="cuda")
    official_kernels.collatz[(3,)](n, steps)
    assert steps.tolist() == [0, 8, 111]


def test_descriptors_and_block_pointers() -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, out = random(40, 72, dtype=torch.float16), torch.zeros(40, 72, dtype=torch.float16, device="cuda")
    blocks = [TensorDescriptor.from_tensor(tensor, [16, 32]) for tensor in (x, out)]
    for _ in range(2):
        official_kernels.copy_blocks[(3, 3)](*blocks, ROWS=16, COLUMNS=32)
        assert torch.equal(out, x * 2)
    rows, turned = random(20, 30), torch.zeros(30, 20, device="cuda")
    official_kernels.block_pointers[(1,)](rows, turned, 20, 30, BLOCK=32)
    assert torch.equal(turned, rows.T)


def test_mathematics_and_inline_assembly() -> None:
    x, out = random(32).abs() + 0.5, torch.empty(32, device="cuda")
    official_kernels.mathematics[(1,)](x, out, BLOCK=32)
    expected = x.lgamma().exp() + torch.hypot(x, torch.tensor(2.0, device="cuda")) + x.erf()
    torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
    number = torch.tensor([41], dtype=torch.int32, device="cuda")
    official_kernels.assembly[(1,)](number)
    assert number.item() == 41


def test_narrow_floats_and_random_numbers() -> None:
    x = random(32)
    eight = torch.empty(32, dtype=torch.float8_e5m2, device="cuda")
    sixteen = torch.empty(32, dtype=torch.bfloat16, device="cuda")
    official_kernels.narrow[(1,)](x, eight, sixteen, BLOCK=32)
    assert torch.equal(eight.float(), x.to(torch.float8_e5m2).float())
    assert torch.equal(sixteen, x.to(torch.bfloat16) * 2)
    ones, ours, theirs = (
        torch.ones(4096, device="cuda"),
        torch.empty(4096, device="cuda"),
        torch.empty(4096, device="cuda"),
    )
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
