"""Where Triton keeps its compilation errors: the classes of `tilewright.support.errors` under that module's name."""

from tilewright.support.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    TilewrightError,
    UnsupportedLanguageConstruct,
)

TritonError = TilewrightError

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "TritonError", "UnsupportedLanguageConstruct"]
