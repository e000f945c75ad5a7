"""AxisInfo: what is known of the numbers and addresses in tensors along each dimension.

`ModuleAxisInfo(module)` has the facts about every value of a module; `.of(value)` gives those of one. What the facts
mean for an access through a tensor of pointers with a layout, `.pointer_contiguity(value)` and its siblings say.

```mlir
%r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>       // contiguity [128], divisibility [2^30]
%s = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>                   // constancy [128], divisibility [16]
%a = tt.addptr %s, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>             // contiguity [128], divisibility [16]
```
"""

from __future__ import annotations

from tilewright.analysis.axis_info.lattice import AxisInfo
from tilewright.analysis.axis_info.queries import ModuleAxisInfo

__all__ = ["AxisInfo", "ModuleAxisInfo"]
