"""What Triton calls `triton.runtime.errors`: the classes that programs catch, under Triton's names."""

from tilewright.reference.errors import ReferenceError
from tilewright.runtime.autotuner import AutotunerError, PTXASError
from tilewright.support.errors import OutOfResources, TilewrightError

InterpreterError = ReferenceError
TritonError = TilewrightError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
