"""What the driver's errors mean to a user: one of our classes, and what to do about it."""

from __future__ import annotations

from tilewright.support.errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DriverTooOldError,
    ForkedProcessError,
    IllegalAddressError,
    LaunchTimeoutError,
    LostToAssertionError,
    MisalignedAddressError,
    NoAssemblerError,
    NoDriverError,
    TargetError,
    TilewrightError,
)
from tilewright.support.records import dataclass

LOST = (
    "the CUDA context of this process is lost: results that are still on the GPU cannot be read, and further launches "
    "on it fail; arrays in host memory and kernels on the CPU go on working"
)
FIND_ACCESS = (
    "run the kernel on copies of its arguments in host memory with TILEWRIGHT_SANITIZE=bounds, which names the line "
    "and the element, or under compute-sanitizer"
)
FIND_KERNEL = "CUDA_LAUNCH_BLOCKING=1 makes the launch that is at fault the one that reports"
USE_CPU = "run on the CPU: arrays in host memory"
GET_PTXAS = "install ptxas (pip install 'tilewright[cuda]'), or name one by TILEWRIGHT_PTXAS_PATH"


@dataclass(frozen=True)
class Meaning:
    """The class of an error and what its message says after what was being done; `{text}` is the driver's own text."""

    kind: type[TilewrightError]
    message: str

    def error(self, doing: str, code: str, text: str) -> TilewrightError:
        """The error to raise."""
        message = f"{doing}: {self.message.format(text=text)}"
        if issubclass(self.kind, DeviceError):
            message = f"{message}. Now {LOST}" if issubclass(self.kind, DeviceLostError) else message
            return self.kind(message, code=code)
        return self.kind(f"{message} ({code})")


_NO_DEVICE = Meaning(NoDriverError, "{text}. See `nvidia-smi` and CUDA_VISIBLE_DEVICES, or " + USE_CPU)
_OLD_DRIVER = Meaning(
    DriverTooOldError,
    "{text}. Update the driver, or put a ptxas of the driver's CUDA version on the PATH (TILEWRIGHT_PTXAS_PATH)",
)
_OTHER_GPU = Meaning(
    TargetError,
    "it was compiled for another GPU. Leave TILEWRIGHT_OVERRIDE_ARCH and the option `arch` unset to compile for the "
    "GPU that is there",
)
_NO_JIT = Meaning(NoAssemblerError, "{text}: the driver does not compile PTX here; " + GET_PTXAS)
_ILLEGAL_ADDRESS = Meaning(
    IllegalAddressError,
    f"a kernel accessed memory outside of its arguments. To find the access, {FIND_ACCESS}; {FIND_KERNEL}",
)
_FAULT = Meaning(DeviceLostError, "{text}: a kernel, or the GPU itself, failed; " + FIND_KERNEL)

MEANINGS: dict[str, Meaning] = {
    "CUDA_ERROR_NO_DEVICE": _NO_DEVICE,
    "CUDA_ERROR_INVALID_DEVICE": _NO_DEVICE,
    "CUDA_ERROR_STUB_LIBRARY": _NO_DEVICE,
    "CUDA_ERROR_SYSTEM_NOT_READY": _NO_DEVICE,
    "CUDA_ERROR_DEVICE_UNAVAILABLE": _NO_DEVICE,
    "CUDA_ERROR_NOT_INITIALIZED": Meaning(
        ForkedProcessError,
        "{text}. A child made by fork cannot use the GPU that its parent used: start it with spawn "
        "(multiprocessing.set_start_method('spawn')), or launch nothing in the parent before",
    ),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": _OLD_DRIVER,
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": _OLD_DRIVER,
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": _OLD_DRIVER,
    "CUDA_ERROR_NO_BINARY_FOR_GPU": _OTHER_GPU,
    "CUDA_ERROR_INVALID_IMAGE": _OTHER_GPU,
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND": _NO_JIT,
    "CUDA_ERROR_JIT_COMPILATION_DISABLED": _NO_JIT,
    "CUDA_ERROR_OUT_OF_MEMORY": Meaning(
        DeviceMemoryError,
        "{text}. Free tensors, or hand memory back that a framework keeps (torch.cuda.empty_cache())",
    ),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": Meaning(
        DeviceError, "{text}. Fewer warps, smaller blocks or `maxnreg` lower what it needs"
    ),
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": Meaning(DeviceError, "{text}. Lower `num_ctas`: clusters have at most 8 CTAs"),
    "CUDA_ERROR_ILLEGAL_ADDRESS": _ILLEGAL_ADDRESS,
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": _ILLEGAL_ADDRESS,
    "CUDA_ERROR_MISALIGNED_ADDRESS": Meaning(
        MisalignedAddressError,
        "an address was not aligned as the kernel was told it would be (tl.multiple_of, tl.max_contiguous, a pointer "
        f"computed from an aligned argument). To find the access, {FIND_ACCESS}; {FIND_KERNEL}",
    ),
    "CUDA_ERROR_LAUNCH_TIMEOUT": Meaning(
        LaunchTimeoutError,
        "{text}: a kernel ran longer than this machine allows on a GPU that also draws a screen. Divide the work over "
        "several launches, or use a GPU without a display. A kernel that never ends shows on the CPU, too",
    ),
    "CUDA_ERROR_ASSERT": Meaning(
        LostToAssertionError,
        "a tl.device_assert of a kernel failed; the driver wrote message, file, line and thread to the standard error "
        "stream",
    ),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": _FAULT,
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": _FAULT,
    "CUDA_ERROR_INVALID_PC": _FAULT,
    "CUDA_ERROR_LAUNCH_FAILED": _FAULT,
    "CUDA_ERROR_ECC_UNCORRECTABLE": _FAULT,
    "CUDA_ERROR_NVLINK_UNCORRECTABLE": _FAULT,
    "CUDA_ERROR_TENSOR_MEMORY_LEAK": _FAULT,
    "CUDA_ERROR_CONTEXT_IS_DESTROYED": _FAULT,
}
"""What to tell for each error of the driver that a program or a machine may cause."""


class Failures:
    """Makes errors of what the driver reports, and remembers what lost the GPU.

    The driver answers every call after a loss with the same code, whatever the call was for: the first report is the
    one that tells where to look, so later ones repeat it.
    """

    def __init__(self) -> None:
        self.first_loss = ""

    def error(self, doing: str, code: str, text: str) -> TilewrightError:
        """The error to raise where `doing` (such as "cuMemAlloc failed") ended in the driver's `code`."""
        meaning = MEANINGS.get(code)
        if meaning is None:
            return DeviceError(f"{doing}: {text}", code=code)
        if not issubclass(meaning.kind, DeviceLostError):
            return meaning.error(doing, code, text)
        if not self.first_loss:
            self.first_loss = doing
            return meaning.error(doing, code, text)
        return meaning.error(f"{doing}; the GPU was lost before ({self.first_loss})", code, text)
