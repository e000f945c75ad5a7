"""`NvptxEmitter`: the hardware's instructions, one method each, as LLVM intrinsics or inline PTX.

A lowering gets one as an argument and calls its methods with the function under construction:

```python
other = fn.leaf.shuffle_xor(fn.text, value, 16)  # shfl.sync.bfly.b32
fn.leaf.barrier(fn.text)  # bar.sync 0
```

Methods are grouped in classes by subject, a module each: threads and warps (`leaf_threads`), global memory
(`leaf_memory`), atomics (`leaf_atomics`), matrices and copies beside the program (`leaf_matrix`), Hopper's own
(`leaf_hopper`). A method never decides what is right for the program, only how the machine says it; `facts` tells what
the machine has.
"""

from __future__ import annotations

from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.leaf_atomics import AtomicLeaf
from tilewright.codegen.nvptx.leaf_hopper import BarrierLeaf, BulkCopyLeaf, WarpGroupLeaf
from tilewright.codegen.nvptx.leaf_matrix import MatrixLeaf
from tilewright.codegen.nvptx.leaf_memory import MemoryLeaf
from tilewright.codegen.nvptx.leaf_threads import ThreadLeaf


class NvptxEmitter(ThreadLeaf, MemoryLeaf, AtomicLeaf, MatrixLeaf, BarrierLeaf, BulkCopyLeaf, WarpGroupLeaf):
    """Every hardware instruction that lowering uses."""

    def __init__(self, facts: NvptxFacts) -> None:
        self.facts = facts
