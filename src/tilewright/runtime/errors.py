"""What Triton calls `triton.runtime.errors`: the classes that programs catch, under Triton's names."""

from tilewright.reference.errors import ReferenceError
from tilewright.runtime.autotuner import AutotunerError
from tilewright.support.errors import AssemblerError, OutOfResources

InterpreterError = ReferenceError
PTXASError = AssemblerError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError"]
