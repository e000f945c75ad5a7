"""The NVIDIA driver, through NVIDIA's own `cuda-bindings`: devices, modules, launches, and what its errors mean.

Nothing here is touched before a kernel is launched on a GPU or asks which GPU there is.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any

from tilewright.support.errors import (
    AssemblerError,
    DriverTooOldError,
    NoDriverError,
    OutOfSharedMemory,
    TilewrightError,
)
from tilewright.targets.cuda.failures import Failures

OLDEST_DRIVER = 12000
"""CUDA 12.0: the first that knows Hopper's instructions and tensor maps."""

LOG_BYTES = 16 * 1024

LaunchFunction = Callable[..., int]
"""cuLaunchKernelEx(configuration, function, parameters, extra)."""

_LAUNCH_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
_CURRENT_CONTEXT_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
_CURRENT_STREAM_CAPTURE = 1


class Device:
    """One GPU, with its primary context, which PyTorch and CuPy use too."""

    def __init__(self, driver: CudaDriver, ordinal: int) -> None:
        self.driver = driver
        self.ordinal = ordinal
        self.handle = driver.call("cuDeviceGet", ordinal)

    def attribute(self, name: str) -> int:
        """A number such as `MULTIPROCESSOR_COUNT`."""
        names = self.driver.api.CUdevice_attribute
        return int(self.driver.call("cuDeviceGetAttribute", getattr(names, f"CU_DEVICE_ATTRIBUTE_{name}"), self.handle))

    @cached_property
    def name(self) -> str:
        """The vendor's name of the GPU."""
        return self.driver.call("cuDeviceGetName", 128, self.handle).split(b"\0", 1)[0].decode()

    @cached_property
    def capability(self) -> int:
        """Compute capability, major * 10 + minor."""
        return 10 * self.attribute("COMPUTE_CAPABILITY_MAJOR") + self.attribute("COMPUTE_CAPABILITY_MINOR")

    @cached_property
    def shared_limit(self) -> int:
        """Bytes of shared memory that one CTA may have if it asks."""
        return self.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    @cached_property
    def thread_limit(self) -> int:
        """Threads that one CTA may have."""
        return self.attribute("MAX_THREADS_PER_BLOCK")

    @cached_property
    def multiprocessors(self) -> int:
        return self.attribute("MULTIPROCESSOR_COUNT")

    @cached_property
    def l2_bytes(self) -> int:
        return self.attribute("L2_CACHE_SIZE")

    def properties(self) -> dict[str, int]:
        """Return what programs size their grids by, under the names of Triton's driver; clocks in kHz, the bus in
        bits.
        """
        return {
            "multiprocessor_count": self.multiprocessors,
            "warpSize": self.attribute("WARP_SIZE"),
            "max_num_regs": self.attribute("MAX_REGISTERS_PER_BLOCK"),
            "max_shared_mem": self.shared_limit,
            "sm_clock_rate": self.attribute("CLOCK_RATE"),
            "mem_clock_rate": self.attribute("MEMORY_CLOCK_RATE"),
            "mem_bus_width": self.attribute("GLOBAL_MEMORY_BUS_WIDTH"),
        }

    @cached_property
    def context(self) -> int:
        """The primary context."""
        return int(self.driver.call("cuDevicePrimaryCtxRetain", self.handle))


class Entered:
    """`with driver.entered(device):` the device's context is this thread's current one."""

    def __init__(self, driver: CudaDriver, context: int) -> None:
        self._driver = driver
        self._context = context
        self._is_pushed = False

    def __enter__(self) -> None:
        if self._driver.current_context() != self._context:
            self._driver.call("cuCtxPushCurrent", self._driver.api.CUcontext(self._context))
            self._is_pushed = True

    def __exit__(self, *_: object) -> None:
        if self._is_pushed:
            self._driver.call("cuCtxPopCurrent")


class CudaDriver:
    """The driver of this process. Use `cuda_driver()`."""

    def __init__(self) -> None:
        self.api = _import_bindings()
        self._failures = Failures()
        self._initialise()
        self.version = int(self.call("cuDriverGetVersion"))
        """CUDA version that the driver supports, 1000 * major + 10 * minor."""
        if self.version < OLDEST_DRIVER:
            raise DriverTooOldError(
                f"the NVIDIA driver supports CUDA {_dotted(self.version)}; tilewright needs one that supports "
                f"{_dotted(OLDEST_DRIVER)} or later (driver 525). Update the driver, or run on the CPU"
            )
        self._devices: dict[int, Device] = {}
        self._lock = threading.Lock()
        self.launch_address = self._symbol("cuLaunchKernelEx")
        self.get_context_address = self._symbol("cuCtxGetCurrent")
        self.launch: LaunchFunction = _LAUNCH_TYPE(self.launch_address)
        self._get_context = _CURRENT_CONTEXT_TYPE(self.get_context_address)

    def _initialise(self) -> None:
        try:
            result = self.api.cuInit(0)[0]
        except RuntimeError as error:
            raise NoDriverError(
                f"there is no NVIDIA driver on this machine ({error}). Install one, or run on the CPU (arrays in host "
                "memory) or on the simulated GPU (TILEWRIGHT_TARGET=cuda_sim)"
            ) from None
        if int(result):
            raise self.error(int(result), "the NVIDIA driver cannot be used")

    def _symbol(self, name: str) -> int:
        flags = self.api.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
        return int(self.call("cuGetProcAddress", name.encode(), OLDEST_DRIVER, flags)[0])

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a driver function; its results without the status. Raises the class of the error."""
        status, *results = getattr(self.api, name)(*arguments)
        if int(status):
            raise self.error(int(status), f"{name} failed")
        return results[0] if len(results) == 1 else tuple(results) or None

    @cached_property
    def device_count(self) -> int:
        """GPUs that the process sees."""
        return int(self.call("cuDeviceGetCount"))

    @cached_property
    def has_several(self) -> bool:
        """True if there are several GPUs: a launch must make sure of the right context."""
        return self.device_count > 1

    def device(self, ordinal: int) -> Device:
        """The GPU of a number. Raises NoDriverError when there is none."""
        with self._lock:
            if ordinal not in self._devices:
                if ordinal >= self.device_count:
                    raise NoDriverError(f"there is no GPU number {ordinal}: the driver shows {self.device_count}")
                self._devices[ordinal] = Device(self, ordinal)
            return self._devices[ordinal]

    def current_context(self) -> int:
        """The context of this thread, 0 where it has none."""
        context = ctypes.c_void_p()
        self._get_context(ctypes.byref(context))
        return context.value or 0

    def entered(self, device: Device) -> Entered:
        """Make a device's context current for a `with`."""
        return Entered(self, device.context)

    def load_module(self, image: bytes, *, is_text: bool, max_registers: int | None = None) -> Any:
        """Load machine code, or PTX text that the driver compiles, into the current context."""
        api = self.api
        if not is_text:
            return self.call("cuModuleLoadData", image)
        log = bytearray(LOG_BYTES)
        jit = api.CUjit_option
        options: list[Any] = [jit.CU_JIT_ERROR_LOG_BUFFER, jit.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
        values: list[Any] = [log, LOG_BYTES]
        if max_registers is not None:
            options.append(jit.CU_JIT_MAX_REGISTERS)
            values.append(max_registers)
        status, module = api.cuModuleLoadDataEx(image + b"\0", len(options), options, values)
        if int(status):
            text = log.split(b"\0", 1)[0].decode(errors="replace")
            code = int(status)
            if code == api.CUresult.CUDA_ERROR_INVALID_PTX:
                raise AssemblerError("the driver rejects the PTX of the kernel", text)
            raise self.error(code, f"the kernel cannot be loaded: {text}" if text else "the kernel cannot be loaded")
        return module

    def function(self, module: Any, name: str) -> int:
        """The handle of a kernel of a loaded module."""
        return int(self.call("cuModuleGetFunction", module, name.encode()))

    def function_attribute(self, function: int, name: str) -> int:
        """A number of a loaded kernel, such as `NUM_REGS` or `LOCAL_SIZE_BYTES`."""
        attribute = getattr(self.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(self.call("cuFuncGetAttribute", attribute, self.api.CUfunction(function)))

    def set_function_attribute(self, function: int, name: str, value: int) -> None:
        attribute = getattr(self.api.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        self.call("cuFuncSetAttribute", self.api.CUfunction(function), attribute, value)

    def synchronize(self, stream: int) -> None:
        """Wait for a stream. Raises the error of the kernel that failed on it."""
        status = int(self.api.cuStreamSynchronize(self.api.CUstream(stream))[0])
        if status:
            raise self.error(status, "a kernel failed")

    def is_capturing(self, stream: int) -> bool:
        """Return whether a graph is being captured from a stream."""
        return int(self.call("cuStreamIsCapturing", self.api.CUstream(stream))) == _CURRENT_STREAM_CAPTURE

    def error(self, code: int, doing: str) -> TilewrightError:
        """The error of ours for one of the driver's."""
        return self._failures.error(doing, *self._describe(code))

    def _describe(self, code: int) -> tuple[str, str]:
        result = self.api.CUresult(code)
        name = self.api.cuGetErrorName(result)[1]
        text = self.api.cuGetErrorString(result)[1]
        return (name or b"CUDA_ERROR_UNKNOWN").decode(), (text or b"unknown error").decode()


def _import_bindings() -> Any:
    try:
        return import_module("cuda.bindings.driver")
    except ImportError as error:
        raise NoDriverError(
            f"the Python binding of the NVIDIA driver is missing ({error}). Where there is a GPU, install it: pip "
            "install 'tilewright[cuda]'; else run on the CPU (arrays in host memory) or on the simulated GPU "
            "(TILEWRIGHT_TARGET=cuda_sim)"
        ) from None


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


@lru_cache(maxsize=1)
def cuda_driver() -> CudaDriver:
    """The driver of this process, initialised at the first call. Raises NoDriverError, DriverTooOldError."""
    return CudaDriver()


def check_shared_memory(required: int, limit: int) -> None:
    """OutOfSharedMemory where a CTA would need more than it may have."""
    if required > limit:
        raise OutOfSharedMemory(required, limit, "shared memory")


def encode_tensor_map(
    driver: CudaDriver,
    *,
    element: int,
    address: int,
    extents: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    swizzle: int,
    fills_nan: bool,
    pixels: Sequence[Sequence[int]] | None = None,
) -> bytes:
    """The 128 bytes of a tensor map; dimensions innermost first, strides in bytes of all but the innermost. Of images,
    `pixels` are the lower and upper corner and the steps of the walk, `box` is channels and pixels.

    `element` and `swizzle` are the driver's numbers. Raises DeviceError for what the hardware does not take.
    """
    api = driver.api
    fill = api.CUtensorMapFloatOOBfill
    lower, upper, steps = pixels or ((), (), [1] * (len(extents) - 2))
    if pixels is None:
        boxes = [[api.cuuint32_t(size) for size in box]]
        steps = [1] * len(extents)
    else:
        boxes, steps = [list(lower), list(upper), *box], [1, *steps, 1]
    result = driver.call(
        "cuTensorMapEncodeTiled" if pixels is None else "cuTensorMapEncodeIm2col",
        api.CUtensorMapDataType(element),
        len(extents),
        address,
        [api.cuuint64_t(extent) for extent in extents],
        [api.cuuint64_t(stride) for stride in strides or (0,)],  # one dimension has none: the driver wants an array
        *boxes,
        [api.cuuint32_t(step) for step in steps],
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        api.CUtensorMapSwizzle(swizzle),
        api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA if fills_nan else fill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    return ctypes.string_at(int(result.getPtr()), 128)
