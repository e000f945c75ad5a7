"""Coroutines: how a function is marked as one, and the functions that suspend, resume, and destroy it.

A private function with the attribute `tilewright.coroutine` is one. A call of it runs it until it suspends itself for
the first time, or ends, and gives its handle, which is also what its body returns. These are declared, not defined:

```mlir
%h = tt.call @partition(%x) : (!tt.ptr<f32>) -> i64   // runs as far as it can without others
tt.call @tilewright_resume(%h) : (i64) -> ()          // goes on; nothing where it has ended
%over = tt.call @tilewright_has_ended(%h) : (i64) -> i1
tt.call @tilewright_destroy(%h) : (i64) -> ()         // the handle is used no more

tt.func private @partition(%x: !tt.ptr<f32>) -> i64 attributes {noinline = true, tilewright.coroutine} {
  tt.call @tilewright_suspend() : () -> ()            // to be resumed here
  %own = tt.call @tilewright_handle() : () -> i64
  tt.return %own : i64
}
```
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute

COROUTINE = "tilewright.coroutine"
"""Unit attribute of functions that suspend themselves."""

SUSPEND, HANDLE = "tilewright_suspend", "tilewright_handle"
RESUME, HAS_ENDED, DESTROY = "tilewright_resume", "tilewright_has_ended", "tilewright_destroy"

SIGNATURES: dict[str, tuple[list[Attribute], list[Attribute]]] = {
    SUSPEND: ([], []),
    HANDLE: ([], [i64]),
    RESUME: ([i64], []),
    HAS_ENDED: ([i64], [i1]),
    DESTROY: ([i64], []),
}
"""What the functions take and give."""
