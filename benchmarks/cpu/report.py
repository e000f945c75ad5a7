"""The results as Markdown: the promised table, other kernels, limits of the machine, compile times."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from contenders import PEERS

from tilewright.targets.cpu.target import make_target

GROUPS = {
    "promised": "Promised", "without AMX": "The same without AMX", "others": "Other kernels",
    "flattened": "Indices taken apart by // and %",
}  # fmt: skip
NOTE_ON_AMX = (
    "bfloat16 with AMX tiles switched off on both sides (`TILEWRIGHT_CPU_WITHOUT`, `ONEDNN_MAX_CPU_ISA`,",
    "`MKL_ENABLE_INSTRUCTIONS`), as on the processor that the floors were found on.\n",
)
TITLES = {"NumPy": "NumPy / OpenBLAS", "triton-shared": "linalg by mlir-opt"}


def describe_machine() -> dict[str, Any]:
    """Processor and versions."""
    facts = make_target().facts
    versions: dict[str, str] = {"python": platform.python_version()}
    for package in ("torch", "numpy", "numba", "llvmlite", "xdsl"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "processor": model, "llvm_name": facts.cpu, "cores": facts.num_cores, "vector_bits": facts.vector_bits,
        "l2_bytes": facts.l2_bytes, "l3_bytes": facts.l3_bytes, "versions": versions,
    }  # fmt: skip


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []


def markdown(results: dict[str, Any], plot: str) -> str:
    """The whole report; `plot` is the file with the picture."""
    return (
        "\n".join(
            [*_head(results, plot), *_tables(results), *_limits(results), *_compiling(results), *_absent(results)]
        )
        + "\n"
    )


def _head(results: dict[str, Any], plot: str) -> Iterator[str]:
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield "# CPU benchmarks\n"
    processor = f"{machine['processor']} ({machine['llvm_name']})"
    yield f"{processor}, {machine['cores']} cores, {machine['vector_bits']}-bit vectors; {versions}.\n"
    yield "Figures under the peers are medians of (their time / our time) over interleaved rounds in one process: above"
    yield "1 we are faster. `of limit` is the least time that the measured bandwidth and peak allow, over our time."
    yield "`PyTorch out=` writes into memory that is there already (vector sums and matrix products always do). On one"
    yield "thread times are CPU times, else wall times, and each peer takes turns with us alone: threads of some go on"
    yield "spinning. All data start at multiples of 64 bytes, as PyTorch's tensors do.\n"
    if machine["kept_to"]:
        yield f"All contenders are kept to {machine['kept_to']} (`--isa`). Promises are of the whole processor.\n"
    yield f"![achieved fraction of the machine's limit]({plot})\n"


def _tables(results: dict[str, Any]) -> Iterator[str]:
    rows = results["rows"]
    for threads in sorted({row["threads"] for row in rows}):
        for group, title in GROUPS.items():
            chosen = [row for row in rows if row["threads"] == threads and row["group"] == group]
            if chosen:
                promises = [row["passed"] for row in chosen if any(peer in row["ratios"] for peer in row["floors"])]
                kept = f"{sum(promises)} of {len(promises)} promises kept"
                yield f"## {title}, {threads} thread{'s' if threads > 1 else ''}: {kept}\n"
                if group == "without AMX":
                    yield from NOTE_ON_AMX
                yield from _table(chosen)
    yield from _scaling(rows)


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    peers = [peer for peer in PEERS if any(peer in row["ratios"] for row in rows)]
    yield (
        "| benchmark | block | ours ms | of limit | "
        + " | ".join(TITLES.get(peer, peer) for peer in peers)
        + " | promised | |"
    )
    yield "|---|---|--:|--:|" + "--:|" * len(peers) + "---|---|"
    for row in rows:
        ratios = [f"{row['ratios'][peer]:.2f}" if peer in row["ratios"] else "-" for peer in peers]
        promised = ", ".join(f"{peer} {floor:.2f}" for peer, floor in row["floors"].items() if peer in row["ratios"])
        verdict = "pass" if row["passed"] else "**miss**"
        yield (
            f"| {row['name']} | {row['block']} | {row['ours_ms']:.3f} | {row['achieved']:.0%} | {' | '.join(ratios)} | "
            f"{promised or row['note'] or '-'} | {verdict if promised else ''} |"
        )
    yield ""


def _scaling(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Our time on one thread over that on two, where both were measured, beside what the machine's limits allow."""
    rows = [row for row in rows if row["group"] == "promised"]
    single = {row["name"]: row for row in rows if row["threads"] == 1}
    pairs = [(single[row["name"]], row) for row in rows if row["threads"] == 2 and row["name"] in single]
    if not pairs:
        return
    yield "## Two threads against one\n"
    yield "Least times are those of the limits measured with one thread and with two: where two threads of the machine"
    yield "share a core or its memory channel, that quotient stays below 2 for any program.\n"
    yield "| benchmark | ours | least times |"
    yield "|---|--:|--:|"
    for one, two in pairs:
        yield f"| {one['name']} | {one['ours_ms'] / two['ours_ms']:.2f} | {one['limit_ms'] / two['limit_ms']:.2f} |"
    yield ""


def _limits(results: dict[str, Any]) -> Iterator[str]:
    yield "## Limits of the machine\n"
    sizes = [int(size) for size in results["limits"][0]["copy"]] if results["limits"] else []
    names = [f"{size >> 20} MiB" for size in sizes]
    yield (
        "| threads | "
        + " | ".join(f"copy {name} GB/s" for name in names)
        + " | "
        + " | ".join(f"read {name} GB/s" for name in names)
        + " | f32 GFLOP/s | bf16 GFLOP/s |"
    )
    yield "|--:|" + "--:|" * (2 * len(names) + 2)
    for limits in results["limits"]:
        cells = [f"{limits[kind][str(size)]:.1f}" for kind in ("copy", "read") for size in sizes]
        cells += [f"{limits['peak'][kind]:.0f}" for kind in ("f32", "bf16")]
        yield f"| {limits['threads']} | {' | '.join(cells)} |"
    yield ""


def _compiling(results: dict[str, Any]) -> Iterator[str]:
    if not results["compiling"]:
        return
    yield "## Compiling and launching\n"
    yield "| | measured | promised | |"
    yield "|---|--:|--:|---|"
    for figure in results["compiling"]:
        most = "-" if figure["most"] is None else f"{figure['most']:.0f} {figure['unit']}"
        verdict = "" if figure["most"] is None else "pass" if figure["passed"] else "**miss**"
        yield f"| {figure['name']} | {figure['value']:.1f} {figure['unit']} | {most} | {verdict} |"
    yield ""


def _absent(results: dict[str, Any]) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in results["rows"]:
        for peer, reason in row["absent"].items():
            reasons.setdefault((peer, reason), []).append(f"{row['name']} ({row['threads']})")
    for message in results["skipped"]:
        reasons.setdefault(("everybody", message["reason"]), []).append(message["skipped"])
    if reasons:
        yield "## Not measured\n"
        for (peer, reason), names in reasons.items():
            where = f"{len(names)} rows" if len(names) > 3 else ", ".join(names)
            yield f"- {TITLES.get(peer, peer)}: {reason} ({where})"
