"""Measures rows with a fixed number of threads; one JSON object a line on the standard output.

    python benchmarks/cpu/worker.py --threads N [--seconds S] [--only TEXT] [--peers LIST] [--groups LIST]

A process of its own for each number of threads: OpenBLAS and OpenMP read theirs when they are loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contenders import GROUPS, PEERS

SLOW_TO_COMPILE = {"torch.compile", "triton-shared"}
"""Peers of the promised rows only, unless all are asked for."""


def parse_arguments() -> argparse.Namespace:
    """The command line; read before NumPy is imported."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time per row")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--groups", default=",".join(GROUPS))
    parser.add_argument("--all-peers", action="store_true", help="also those that compile for seconds, in every group")
    return parser.parse_args()


OPTIONS = parse_arguments()
for variable in ("OPENBLAS", "OMP", "MKL", "NUMBA", "TILEWRIGHT"):
    os.environ[f"{variable}_NUM_THREADS"] = str(OPTIONS.threads)
os.environ.setdefault("NUMBA_THREADING_LAYER", "omp")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # processes of its own would be in the way
REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("examples", "tests/exec", "tests", "tests/kernels/corpus")]

from case import Case, torch  # noqa: E402
from flattened import FLATTENED  # noqa: E402
from limits import measure_limits  # noqa: E402
from measure import measure  # noqa: E402
from mlir_peer import MlirPeer, Unavailable  # noqa: E402
from others import OTHERS, SLACK  # noqa: E402
from promised import PROMISED  # noqa: E402

NOT_SLOWER = 0.98
"""The ratio to Numba that counts as not slower: times differ by a percent or two from run to run."""


def main() -> int:
    limits = measure_limits(OPTIONS.threads)
    send({"limits": {"threads": limits.threads, "copy": limits.copy, "read": limits.read, "peak": limits.peak}})
    if torch is not None:
        torch.set_num_threads(OPTIONS.threads)
    mlir = find_mlir()
    for name, group, make in chosen():
        try:
            case = make()
        except RuntimeError as reason:
            send({"skipped": name, "reason": str(reason)})
            continue
        wanted = [peer for peer in OPTIONS.peers.split(",") if is_wanted(peer, group)]
        reasons = add_peers(case, wanted)
        with quiet():
            row = measure(name, group, case, limits, OPTIONS.seconds, floors(case, group))
        row.absent |= reasons
        if "triton-shared" in wanted:
            add_mlir(row, case, mlir)
        send({"row": row.as_json()})
    return 0


def chosen() -> Iterator[tuple[str, str, Callable[[], Case]]]:
    groups = {"promised": PROMISED, "others": OTHERS, "flattened": FLATTENED}
    for group in OPTIONS.groups.split(","):
        for name, make in groups[group].items():
            if OPTIONS.only in name:
                yield name, group, make


def floors(case: Case, group: str) -> dict[str, float]:
    """What is promised against which peer. Of the other kernels, on one thread only."""
    if case.note:
        return {}
    if group == "promised":
        found = {"PyTorch": case.floor} if case.floor is not None else {}
    else:
        found = {"PyTorch": 1 / SLACK} if OPTIONS.threads == 1 else {}
    if OPTIONS.threads == 1 and case.numba is not None:
        found["Numba"] = NOT_SLOWER
    return found


def is_wanted(peer: str, group: str) -> bool:
    return group == "promised" or OPTIONS.all_peers or peer not in SLOW_TO_COMPILE


def add_peers(case: Case, wanted: list[str]) -> dict[str, str]:
    """Fill in the peers that were asked for; why others are absent."""
    available: dict[str, Any] = {"NumPy": case.numpy, "Numba": case.numba}
    reasons: dict[str, str] = {}
    if torch is None:
        reasons["PyTorch"] = reasons["torch.compile"] = "PyTorch is not installed"
    else:
        available["PyTorch"] = case.eager or (lambda: case.traced(*case.tensors))
        available["PyTorch out="] = case.prepared
        if case.traced is not None and "torch.compile" in wanted:
            torch.compiler.reset()
            compiled = torch.compile(case.traced, dynamic=False)
            available["torch.compile"] = lambda: compiled(*case.tensors)
    case.peers = {name: run for name, run in available.items() if run is not None and name in wanted}
    return reasons


def find_mlir() -> MlirPeer | str:
    """The peer, or why there is none."""
    if "triton-shared" not in OPTIONS.peers.split(","):
        return "not asked for"
    if OPTIONS.threads > 1:
        return "its launcher runs programs one after the other"
    try:
        return MlirPeer()
    except Unavailable as reason:
        return str(reason)


def add_mlir(row: Any, case: Case, mlir: MlirPeer | str) -> None:
    if isinstance(mlir, str):
        row.absent["triton-shared"] = mlir
        return
    launch = next((launch for launch in case.ours if launch.label == row.block), case.ours[0])
    try:
        seconds = mlir.seconds(launch)  # pyright: ignore[reportArgumentType]
    except Unavailable as reason:
        row.absent["triton-shared"] = str(reason)
    else:
        row.peers_ms["triton-shared"] = seconds * 1e3
        row.ratios["triton-shared"] = seconds * 1e3 / row.ours_ms


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what compilers of peers print out of the standard output."""
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def send(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    sys.exit(main())
