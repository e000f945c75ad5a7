"""Each error of the driver is one of our classes and says what to do; after a loss the first report is repeated."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from fake_driver import ERRORS, FakeApi

import tilewright as tw
import tilewright.language as tl
from tilewright.compiler.options import CompileOptions
from tilewright.support import errors, knobs
from tilewright.support.errors import (
    ArgumentValueError,
    AssemblerError,
    DeviceAssertionError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DriverTooOldError,
    ForkedProcessError,
    GridTooLarge,
    IllegalAddressError,
    LaunchTimeoutError,
    LostToAssertionError,
    MisalignedAddressError,
    NoAssemblerError,
    NoDriverError,
    OutOfRegisters,
    OutOfResources,
    OutOfSharedMemory,
    OutOfThreads,
    TargetError,
    TilewrightError,
)
from tilewright.targets.cuda.driver import cuda_driver
from tilewright.targets.cuda.failures import MEANINGS
from tilewright.targets.cuda.kernel import CudaKernel
from tilewright.targets.cuda.loaded_kernel import KernelFacts
from tilewright.targets.cuda.target import CudaTarget

GRID = (1, 1, 1)


class OnGpu:
    """An argument that lies on a device."""

    def get_device(self) -> int:
        return 0


ARRAYS: dict[int, Any] = {0: OnGpu()}


def kernel(name: str = "k", **facts: Any) -> CudaKernel:
    given: dict[str, Any] = {"num_threads": 128, "parameters": [0, 1], **facts}
    return CudaKernel(KernelFacts(entry=name, **given), b"cubin")


def launch(launched: CudaKernel, grid: tuple[int, int, int] = GRID) -> None:
    launched.launch_on([0, 0], ARRAYS, grid)


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (1, DeviceError, "CUDA_ERROR_INVALID_VALUE"),
        (2, DeviceMemoryError, "empty_cache"),
        (3, ForkedProcessError, "spawn"),
        (214, DeviceLostError, "uncorrectable ECC"),
        (700, IllegalAddressError, "TILEWRIGHT_SANITIZE=bounds"),
        (702, LaunchTimeoutError, "Divide the work"),
        (710, LostToAssertionError, "standard error"),
        (714, DeviceLostError, "CUDA_LAUNCH_BLOCKING"),
        (715, DeviceLostError, "illegal instruction"),
        (716, MisalignedAddressError, "multiple_of"),
        (717, IllegalAddressError, "TILEWRIGHT_SANITIZE=bounds"),
        (718, DeviceLostError, "program counter"),
        (719, DeviceLostError, "unspecified launch failure"),
        (912, DeviceError, "num_ctas"),
        (999, DeviceError, "CUDA_ERROR_UNKNOWN"),
    ],
)
def test_errors_of_a_launch(api: FakeApi, status: int, error: type[TilewrightError], words: str) -> None:
    api.launch_statuses = [status]
    with pytest.raises(error, match=words) as caught:
        launch(kernel())
    assert type(caught.value) is error
    assert "kernel 'k'" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (200, TargetError, "TILEWRIGHT_OVERRIDE_ARCH"),
        (209, TargetError, "another GPU"),
        (218, AssemblerError, "line 7: syntax error"),
        (221, NoAssemblerError, "install ptxas"),
        (222, DriverTooOldError, "Update the driver"),
    ],
)
def test_errors_of_loading_text(api: FakeApi, status: int, error: type[TilewrightError], words: str) -> None:
    api.load_status, api.jit_log = status, b"line 7: syntax error\0"
    with pytest.raises(error, match=words):
        launch(kernel(is_text=True))


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [(100, NoDriverError, "nvidia-smi"), (803, DriverTooOldError, "Update"), (999, DeviceError, "cannot be used")],
)
def test_errors_of_the_first_call(api: FakeApi, status: int, error: type[TilewrightError], words: str) -> None:
    api.init_status = status
    with pytest.raises(error, match=words):
        cuda_driver()


def test_every_error_of_the_table_is_simulated() -> None:
    """A code that is in the table under a name that the driver does not use would never be found."""
    simulated = {name for name, _ in ERRORS.values()}
    unseen = {
        "CUDA_ERROR_STUB_LIBRARY", "CUDA_ERROR_SYSTEM_NOT_READY", "CUDA_ERROR_DEVICE_UNAVAILABLE",
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "CUDA_ERROR_JIT_COMPILATION_DISABLED",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE", "CUDA_ERROR_TENSOR_MEMORY_LEAK", "CUDA_ERROR_CONTEXT_IS_DESTROYED",
    }  # fmt: skip
    assert set(MEANINGS) - simulated == unseen
    driver = pytest.importorskip("cuda.bindings.driver", reason="the names are checked against NVIDIA's cuda-bindings")
    known = {member.name for member in driver.CUresult}
    assert set(MEANINGS) - known <= {"CUDA_ERROR_TENSOR_MEMORY_LEAK"}, "only newer drivers know tensor memory"


def test_after_a_loss_every_launch_says_so(api: FakeApi) -> None:
    """The driver answers every later call with the same code, loading and allocating too."""
    api.launch_statuses = [700, 700]
    with pytest.raises(IllegalAddressError) as first:
        launch(kernel("first"))
    assert "lost before" not in str(first.value)
    with pytest.raises(IllegalAddressError, match=r"kernel 'second'.*lost before .*kernel 'first'"):
        launch(kernel("second"))
    api.load_status = 700
    with pytest.raises(IllegalAddressError, match=r"lost before .*kernel 'first'"):
        launch(kernel("third"))


def test_a_lost_gpu_leaves_the_cpu(api: FakeApi) -> None:
    @tw.jit
    def double(x_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets))

    api.launch_statuses = [700]
    with pytest.raises(IllegalAddressError, match="kernels on the CPU go on working"):
        launch(kernel())
    x = np.arange(8, dtype=np.float32)
    double[1,](x, BLOCK=8)
    assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_a_failed_assertion_is_one_of_python_too(api: FakeApi) -> None:
    api.synchronize_status = 710
    with pytest.raises(DeviceAssertionError, match="device_assert") as caught:
        launch(kernel(may_assert=True))
    assert isinstance(caught.value, AssertionError) and isinstance(caught.value, DeviceLostError)


def test_a_grid_that_is_too_high(api: FakeApi) -> None:
    api.launch_statuses = [1]
    with pytest.raises(ArgumentValueError, match="65535"):
        launch(kernel(), (1, 70000, 1))


def test_a_high_grid_is_not_blamed_for_what_happened_before(api: FakeApi) -> None:
    api.launch_statuses = [700]
    with pytest.raises(IllegalAddressError):
        launch(kernel(), (1, 70000, 1))


def test_a_cooperative_grid_that_does_not_fit(api: FakeApi) -> None:
    api.launch_statuses = [720]
    with pytest.raises(GridTooLarge, match="required: 1000, hardware limit: 264"):
        launch(kernel(is_cooperative=True), (1000, 1, 1))


def test_too_much_shared_memory(api: FakeApi) -> None:
    with pytest.raises(OutOfSharedMemory, match=r"required: 300000, hardware limit: 232448.*num_stages"):
        launch(kernel(shared=300_000))


def test_too_many_registers(api: FakeApi) -> None:
    api.attributes |= {"NUM_REGS": 200, "MAX_THREADS_PER_BLOCK": 256}
    with pytest.raises(OutOfRegisters, match=r"registers of a multiprocessor, required: 102400.*maxnreg"):
        launch(kernel(num_threads=512))


def test_too_many_threads(api: FakeApi) -> None:
    with pytest.raises(OutOfThreads, match="required: 2048, hardware limit: 1024; lower num_warps"):
        launch(kernel(num_threads=2048))


def test_resources_that_the_driver_counts_otherwise(api: FakeApi) -> None:
    api.launch_statuses = [701]
    with pytest.raises(DeviceError, match="maxnreg"):
        launch(kernel())


def test_an_old_driver(api: FakeApi) -> None:
    api.version = 11080
    with pytest.raises(DriverTooOldError, match=r"supports CUDA 11\.8.*12\.0 or later"):
        cuda_driver()


def test_no_driver_library(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(flags: int) -> Any:
        raise RuntimeError("Failed to dlopen libcuda.so.1")

    monkeypatch.setattr(api, "cuInit", missing)
    with pytest.raises(NoDriverError, match=r"libcuda\.so\.1.*TILEWRIGHT_TARGET=cuda_sim"):
        cuda_driver()


def test_compiling_without_a_driver_says_how_to(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names what does compile; who asks for a GPU itself is not told to compile for one that is not there."""

    def missing(flags: int) -> Any:
        raise RuntimeError("Failed to dlopen libcuda.so.1")

    monkeypatch.setattr(api, "cuInit", missing)
    with pytest.raises(NoDriverError, match=r"arch='sm90'.*TILEWRIGHT_OVERRIDE_ARCH=sm90 when the program starts"):
        CudaTarget().configured(CompileOptions())
    assert CudaTarget().configured(CompileOptions(arch="sm90")).facts.capability == 90
    with knobs.scope(override_arch="sm90"):
        assert CudaTarget().configured(CompileOptions()).facts.capability == 90
        with pytest.raises(NoDriverError, match="TILEWRIGHT_TARGET=cuda_sim") as raised:
            CudaTarget().on_device(0)
    assert "OVERRIDE_ARCH" not in str(raised.value)


def test_a_gpu_that_is_not_there(api: FakeApi) -> None:
    class OnThird:
        def get_device(self) -> int:
            return 3

    with pytest.raises(NoDriverError, match="no GPU number 3"):
        kernel().launch_on([0, 0], {0: OnThird()}, GRID)


def test_classes_tell_what_autotuning_may_skip() -> None:
    """Configurations that need too much are skipped; anything else stops a search."""
    skipped = {OutOfSharedMemory, OutOfRegisters, OutOfThreads, GridTooLarge}
    assert all(issubclass(kind, OutOfResources) for kind in skipped)
    assert not any(issubclass(kind, OutOfResources) for kind in (DeviceError, TargetError, AssemblerError))


def test_every_class_has_words_of_its_own() -> None:
    classes = [item for _, item in inspect.getmembers(errors, inspect.isclass) if item.__module__ == errors.__name__]
    texts = [inspect.getdoc(item) for item in classes]
    assert len(set(texts)) == len(texts)
