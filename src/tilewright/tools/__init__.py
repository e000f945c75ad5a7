"""Programs around the compiler: `tilewright-opt` and the subcommands of `tilewright`; and what Triton calls
`triton.tools`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {"disasm": "tilewright.codegen.nvptx.disasm", "tensor_descriptor": "tilewright.runtime.tensor_descriptor"}
"""What `import triton` has there without an import of its own."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'tilewright.tools' has no attribute {name!r}")
