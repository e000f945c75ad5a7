"""Loads what ahead_of_time_in_torch.py has written, in a process that finds neither tilewright nor Triton."""

import sys
from pathlib import Path

for name in ("tilewright", "triton", "xdsl", "llvmlite"):
    sys.modules[name] = None

import torch  # noqa: E402
from torch._inductor import aoti_load_package  # noqa: E402

folder = Path(sys.argv[1])
model = aoti_load_package(str(folder / "model.pt2"))
for x, expected in torch.load(folder / "expected.pt"):
    torch.testing.assert_close(model(x), expected)
try:
    model(torch.full((2, 50), 20.0))
except RuntimeError as error:
    assert "kernel" in str(error), error
else:
    raise AssertionError("the kernel's device_assert was not heard of")
print("right")
