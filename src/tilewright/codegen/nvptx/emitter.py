"""`NvptxEmitter`: the hardware's instructions, one method each, as LLVM intrinsics or inline PTX.

A lowering gets one as an argument and calls its methods with the function under construction:

```python
other = fn.emitter.shuffle_xor(fn.text, value, 16)  # shfl.sync.bfly.b32
fn.emitter.barrier(fn.text)  # bar.sync 0
```

Methods are grouped in classes by subject, a module each: threads and warps (`threads`), global memory (`memory`),
atomics (`atomics`), matrices and asynchronous copies (`matrix`), Hopper's own (`hopper`). A method never decides what
is right for the program, only how the machine says it; `facts` tells what the machine has.
"""

from __future__ import annotations

from tilewright.codegen.nvptx.atomics import AtomicInstructions
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.hopper import (
    BarrierInstructions,
    BulkCopyInstructions,
    ClusterInstructions,
    WarpGroupInstructions,
)
from tilewright.codegen.nvptx.matrix import MatrixInstructions
from tilewright.codegen.nvptx.memory import MemoryInstructions
from tilewright.codegen.nvptx.threads import ThreadInstructions


class NvptxEmitter(
    ThreadInstructions,
    MemoryInstructions,
    AtomicInstructions,
    MatrixInstructions,
    BarrierInstructions,
    ClusterInstructions,
    BulkCopyInstructions,
    WarpGroupInstructions,
):
    """Every hardware instruction that lowering uses."""

    def __init__(self, facts: NvptxFacts) -> None:
        self.facts = facts
