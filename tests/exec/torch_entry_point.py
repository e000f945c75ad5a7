"""`torch.compile` finds tilewright by its entry point; a program for `tilewright run`. The argument is a folder in which
a distribution with the entry points of pyproject.toml is made."""

import sys
import tomllib
from pathlib import Path

folder = Path(sys.argv[1]) / "tilewright_entries-0.dist-info"
folder.mkdir()
project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
entries = project["entry-points"]["torch_dynamo_backends"]
(folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tilewright-entries\nVersion: 0\n")
(folder / "entry_points.txt").write_text(
    "[torch_dynamo_backends]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
)
sys.path.insert(0, sys.argv[1])

import torch  # noqa: E402
import torch._inductor.config as inductor  # noqa: E402
from torch._inductor import metrics  # noqa: E402

import tilewright  # noqa: E402


def weighted(x, y):
    return (x.sin() * y).sum(1).softmax(0)


x, y = torch.linspace(0, 1, 12000).view(40, 300), torch.linspace(2, 3, 12000).view(40, 300)
for options in (None, {"max_autotune": False}):
    compiled = torch.compile(weighted, backend="tilewright", options=options)
    torch.testing.assert_close(compiled(x, y), weighted(x, y))
    torch._dynamo.reset()


def of_columns(x):
    return (x * 2).sum(0)


tilewright.set_num_threads(1)
rows = torch.linspace(0, 1, 1568 * 32).view(1568, 32)
for options, kernels in ((None, 1), ({"split_reductions": True}, 2)):
    metrics.reset()
    torch.testing.assert_close(torch.compile(of_columns, backend="tilewright", options=options)(rows), of_columns(rows))
    assert metrics.generated_kernel_count == kernels, (options, metrics.generated_kernel_count)
    torch._dynamo.reset()
assert inductor.cpu_backend == "cpp"  # nothing is set but for these graphs
print("right")
