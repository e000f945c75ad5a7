"""Whole models of plain PyTorch modules with random weights: eager, Inductor's C++ back end and tilewright in turns.

Forward passes and training steps (loss and all gradients), float32. What a compiled model gives may differ from a
float64 run of it by four times as much as what eager PyTorch gives, or by ten units of the last place of its largest
element.

    python benchmarks/models/whole.py --only gpt --rounds 20 --output benchmarks/results/models.md
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from nets import MODELS
from run import PEERS, WHOLE, processor, time_rounds
from torch import nn

import tilewright.compat
from tilewright.compat.torch_compile import compile_graph

SPARE, FACTOR = 10 * 2.0**-23, 4


def step_of(model: Any, original: nn.Module, args: tuple[torch.Tensor, ...], *, training: bool) -> Callable[[], Any]:
    """One forward pass, or one training step, of a model, which may be the compiled form of `original`."""

    def forward() -> list[torch.Tensor]:
        with torch.no_grad():
            return [model(*args)]

    def train() -> list[torch.Tensor]:
        original.zero_grad()
        loss = model(*args).square().mean()
        loss.backward()
        return [loss.detach(), *(p.grad.clone() for p in original.parameters() if p.grad is not None)]

    return train if training else forward


def error(found: list[torch.Tensor], exact: list[torch.Tensor]) -> float:
    """The greatest difference, by the greatest element of its tensor."""
    pairs = zip(found, exact, strict=True)
    return max(((a.double() - b).abs().max() / b.abs().max().clamp_min(1e-30)).item() for a, b in pairs)


def measure(name: str, *, training: bool, rounds: int) -> str:
    """One row of the table. Raises AssertionError where a compiled model's error is too large."""
    torch.manual_seed(0)
    model, args = MODELS[name]()
    model.train(training)
    twin = copy.deepcopy(model).double()
    doubles = tuple(arg.double() if arg.is_floating_point() else arg for arg in args)
    exact = step_of(twin, twin, doubles, training=training)()
    calls, errors = {}, {}
    for peer in PEERS:
        torch._dynamo.reset()
        own = copy.deepcopy(model)
        compiled: Any = own
        if peer != "eager":
            backend: Any = "inductor" if peer == "cpp" else compile_graph
            compiled = torch.compile(own, dynamic=False, backend=backend)
        calls[peer] = step_of(compiled, own, args, training=training)
        errors[peer] = error(calls[peer](), exact)
    assert errors["tilewright"] <= FACTOR * errors["eager"] + SPARE, (name, errors)
    times = time_rounds(calls, rounds)
    medians = [f"{statistics.median(times[peer]) * 1e3:.2f}" for peer in PEERS]
    pairs = [zip(times[peer], times["tilewright"], strict=True) for peer in PEERS[:2]]
    eager, cpp = (statistics.median(theirs / ours for theirs, ours in pair) for pair in pairs)
    found = " / ".join(f"{errors[peer]:.1e}" for peer in PEERS)
    kind = "training" if training else "forward"
    return "| " + " | ".join((name, kind, *medians, f"{eager:.2f}", f"{cpp:.2f}", found)) + " |"


def main() -> None:
    """Print the table; with `--output`, put its rows in place of those that the file has of the same models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression that names contain")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    os.environ["TILEWRIGHT_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    tilewright.compat.install()
    torch.set_num_threads(options.threads)
    text = options.output.read_text() if options.output and options.output.exists() else ""
    before, _, rest = text.partition(WHOLE)
    rows = {row_key(line): line for line in rest.splitlines() if re.match(r"\| \w+ \| (forward|training) ", line)}
    for name in MODELS:
        for training in (False, True) if re.search(options.only, name) else ():
            row = measure(name, training=training, rounds=options.rounds)
            rows[row_key(row)] = row
            print(row, flush=True)
            if options.output is not None:
                lines = table(rows, options.threads)
                options.output.write_text("\n".join([before.rstrip(), "", *lines]).lstrip() + "\n")


def row_key(row: str) -> tuple[str, str]:
    """The model and the step of a row."""
    _, name, step, *_ = map(str.strip, row.split("|"))
    return name, step


def table(rows: dict[tuple[str, str], str], threads: int) -> list[str]:
    """The lines of a table of these rows, in the order of `MODELS`."""
    places = list(MODELS)
    ordered = [rows[key] for key in sorted(rows, key=lambda key: (places.index(key[0]), key[1]))]
    ratios = [float(row.split("|")[7]) for row in ordered]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return [
        WHOLE,
        "",
        "`make bench-models`; plain PyTorch modules (benchmarks/models/nets.py) with random weights, float32,",
        f"{processor()}, {threads} thread(s).",
        "Milliseconds of a step (medians), the peers' time by ours (medians of rounds in turns), and the greatest",
        "difference to a float64 run by the greatest element.",
        "",
        "| model | step | eager | C++ | ours | eager / ours | C++ / ours | error: eager / C++ / ours |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
        *ordered,
        "",
        f"Geometric mean of C++ / ours: {mean:.2f} over {len(ratios)} steps; least {min(ratios):.2f}; "
        f"{sum(ratio < 0.95 for ratio in ratios)} below 0.95.",
    ]


if __name__ == "__main__":
    main()
