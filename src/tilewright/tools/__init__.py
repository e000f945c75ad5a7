"""Programs around the compiler: `tilewright-opt` and the subcommands of `tilewright`; and what Triton calls
`triton.tools`."""

from __future__ import annotations

from tilewright.support.late import late_names

NAMES = {
    "disasm": "tilewright.codegen.nvptx.disasm",
    "tensor_descriptor": "tilewright.runtime.tensor_descriptor",
}
"""What `import triton` has there without an import of its own."""

__getattr__ = late_names(__name__, NAMES)
