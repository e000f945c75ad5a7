"""Where Triton keeps its compilation errors: the classes of `tilewright.support.errors` under that module's name."""

from tilewright.support.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct"]
