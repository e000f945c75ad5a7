"""A stand-in for `cuda.bindings.driver`, so that the launch path runs where there is no GPU.

It records what is loaded and launched; functions that the real driver hands out by address are ctypes callbacks here.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

SUCCESS = 0
CONTEXT = 0xC0


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute, of those whose value is an integer."""

    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint), ("rest", ctypes.c_uint8 * 60)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig"""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("num_attributes", ctypes.c_uint),
    ]


LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(LaunchConfig), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)
GET_CONTEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))

ERRORS = {
    1: ("CUDA_ERROR_INVALID_VALUE", "invalid argument"),
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
    3: ("CUDA_ERROR_NOT_INITIALIZED", "initialization error"),
    100: ("CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"),
    101: ("CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"),
    200: ("CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"),
    201: ("CUDA_ERROR_INVALID_CONTEXT", "invalid device context"),
    209: ("CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"),
    214: ("CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"),
    218: ("CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"),
    221: ("CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"),
    222: ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain"),
    700: ("CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
    701: ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"),
    702: ("CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"),
    710: ("CUDA_ERROR_ASSERT", "device-side assert triggered"),
    714: ("CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"),
    715: ("CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"),
    716: ("CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"),
    717: ("CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on global/shared address space"),
    718: ("CUDA_ERROR_INVALID_PC", "invalid program counter"),
    719: ("CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"),
    720: ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"),
    803: ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"),
    912: ("CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"),
    999: ("CUDA_ERROR_UNKNOWN", "unknown error"),
}


class Enum:
    """An enumeration of the driver: any name or number is a member."""

    def __getitem__(self, name: str) -> str:
        return name

    def __getattr__(self, name: str) -> str:
        return name

    def __call__(self, number: int) -> int:
        return number


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_PTX = 218

    @classmethod
    def _missing_(cls, value: object) -> Any:
        member = int.__new__(cls, value)  # pyright: ignore[reportArgumentType]
        member._name_, member._value_ = f"ERROR_{value}", value
        return member


class TensorMap:
    """What cuTensorMapEncodeTiled returns."""

    def __init__(self, data: bytes) -> None:
        self._memory = ctypes.create_string_buffer(data, 128)

    def getPtr(self) -> int:
        return ctypes.addressof(self._memory)


class FakeApi:
    """The functions of the binding that `targets/cuda` calls."""

    CUdevice_attribute = CUfunction_attribute = CUdriverProcAddress_flags = CUjit_option = Enum()
    CUtensorMapDataType = CUtensorMapSwizzle = CUtensorMapInterleave = Enum()
    CUtensorMapL2promotion = CUtensorMapFloatOOBfill = Enum()
    CUresult = CUresult
    CUcontext = CUfunction = CUstream = cuuint64_t = cuuint32_t = staticmethod(int)

    def __init__(self) -> None:
        self.init_status = SUCCESS
        self.version = 13000
        self.devices = 1
        self.capability = (9, 0)
        self.capabilities: dict[int, tuple[int, int]] = {}
        self.load_status = SUCCESS
        self.jit_log = b""
        self.synchronize_status = SUCCESS
        self.launch_statuses: list[int] = []
        self.attributes = {"NUM_REGS": 40, "LOCAL_SIZE_BYTES": 16, "MAX_THREADS_PER_BLOCK": 1024}
        self.loaded: list[bytes] = []
        self.launched: list[SimpleNamespace] = []
        self.calls: list[tuple[Any, ...]] = []
        self.maps: list[tuple[Any, ...]] = []
        self.parameter_sizes: list[int] = []
        self.current = CONTEXT
        self._functions: dict[str, Any] = {
            "cuLaunchKernelEx": LAUNCH(self._launch),
            "cuCtxGetCurrent": GET_CONTEXT(self._get_context),
        }

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        return (self.init_status,)

    def cuDriverGetVersion(self) -> tuple[Any, ...]:
        return SUCCESS, self.version

    def cuGetProcAddress(self, name: bytes, version: int, flags: Any) -> tuple[Any, ...]:
        function = self._functions[name.decode()]
        return SUCCESS, ctypes.cast(function, ctypes.c_void_p).value, None

    def cuDeviceGetCount(self) -> tuple[Any, ...]:
        return SUCCESS, self.devices

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        return SUCCESS, ordinal

    def cuDeviceGetName(self, size: int, device: int) -> tuple[Any, ...]:
        return SUCCESS, b"a fake GPU\0\0"

    def cuDeviceGetAttribute(self, attribute: str, device: int) -> tuple[Any, ...]:
        major, minor = self.capabilities.get(device, self.capability)
        values = {
            "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": major,
            "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": minor,
            "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
            "CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK": 65536,
            "CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK": 1024,
            "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT": 132,
        }
        return SUCCESS, values[attribute]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        return SUCCESS, CONTEXT

    def cuCtxPushCurrent(self, context: int) -> tuple[Any, ...]:
        self.calls.append(("push", context))
        self.current = context
        return (SUCCESS,)

    def cuCtxPopCurrent(self) -> tuple[Any, ...]:
        self.calls.append(("pop",))
        return SUCCESS, CONTEXT

    def cuModuleLoadData(self, image: bytes) -> tuple[Any, ...]:
        self.loaded.append(image)
        return self.load_status, "module"

    def cuModuleLoadDataEx(self, image: bytes, count: int, options: list[Any], values: list[Any]) -> tuple[Any, ...]:
        self.loaded.append(image)
        values[0][: len(self.jit_log)] = self.jit_log
        return self.load_status, "module"

    def cuModuleGetFunction(self, module: str, name: bytes) -> tuple[Any, ...]:
        return SUCCESS, 0xF0

    def cuFuncGetAttribute(self, attribute: str, function: int) -> tuple[Any, ...]:
        return SUCCESS, self.attributes[attribute.removeprefix("CU_FUNC_ATTRIBUTE_")]

    def cuFuncSetAttribute(self, function: int, attribute: str, value: int) -> tuple[Any, ...]:
        self.calls.append((attribute, value))
        return (SUCCESS,)

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, function: int, threads: int, shared: int) -> tuple[Any, ...]:
        return SUCCESS, 2

    def cuStreamSynchronize(self, stream: int) -> tuple[Any, ...]:
        self.calls.append(("synchronize", stream))
        return (self.synchronize_status,)

    def cuStreamIsCapturing(self, stream: int) -> tuple[Any, ...]:
        return SUCCESS, 0

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        self.calls.append(("alloc", size))
        return SUCCESS, 0xA0000000 + size

    def cuMemFree(self, address: int) -> tuple[Any, ...]:
        self.calls.append(("free", address))
        return (SUCCESS,)

    def cuEventCreate(self, flags: int) -> tuple[Any, ...]:
        self.calls.append(("event",))
        return SUCCESS, len(self.calls)

    def cuEventRecord(self, event: int, stream: int) -> tuple[Any, ...]:
        self.calls.append(("record", event))
        return (SUCCESS,)

    def cuEventElapsedTime(self, start: int, end: int) -> tuple[Any, ...]:
        return SUCCESS, 2.0

    def cuEventDestroy(self, event: int) -> tuple[Any, ...]:
        self.calls.append(("destroy", event))
        return (SUCCESS,)

    def cuMemsetD8Async(self, address: int, value: int, size: int, stream: int) -> tuple[Any, ...]:
        self.calls.append(("flush", size))
        return (SUCCESS,)

    def cuTensorMapEncodeTiled(self, *arguments: Any) -> tuple[Any, ...]:
        self.maps.append(arguments)
        return SUCCESS, TensorMap(bytes([len(self.maps)]) * 128)

    def cuGetErrorName(self, code: Any) -> tuple[Any, ...]:
        return SUCCESS, ERRORS[int(code)][0].encode()

    def cuGetErrorString(self, code: Any) -> tuple[Any, ...]:
        return SUCCESS, ERRORS[int(code)][1].encode()

    def _get_context(self, found: Any) -> int:
        found[0] = self.current
        return SUCCESS

    def _launch(self, config: Any, function: int, parameters: Any, extra: Any) -> int:
        launch = config.contents
        values = [ctypes.string_at(parameters[i], size) for i, size in enumerate(self.parameter_sizes)]
        attributes = [launch.attributes[i] for i in range(launch.num_attributes)]
        launched = SimpleNamespace(
            function=function,
            grid=tuple(launch.grid),
            block=tuple(launch.block),
            shared=launch.shared,
            stream=launch.stream or 0,
            attributes={attribute.id: attribute.value for attribute in attributes},
            values=values,
        )
        self.launched.append(launched)
        return self.launch_statuses.pop(0) if self.launch_statuses else SUCCESS
