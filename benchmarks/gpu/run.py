"""GPU benchmarks: tilewright, official Triton where it is installed, and PyTorch, on the same kernels and inputs.

    python benchmarks/gpu/run.py --smoke            small inputs, one configuration each: what works?
    python benchmarks/gpu/run.py [--only TEXT] [--out DIR]

Needs PyTorch with CUDA. Each case runs in a process that survives the failure of the others. Results go to
DIR/gpu.json and DIR/gpu.md (default: benchmarks/results).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CASE_SECONDS = 150
Row = dict[str, Any]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="small inputs, one configuration each")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--out", type=Path, default=HERE.parent / "results", help="where results go")
    parser.add_argument("--seconds", type=float, default=540, help="stop starting cases after this time")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    kind = "smoke" if options.smoke else "table"
    end = time.monotonic() + options.seconds
    names = list_cases(kind)
    numbers = [number for number, name in enumerate(names) if options.only in name]
    rows = run_cases(kind, numbers, names, end)
    report: Row = {"machine": describe_machine(), "kind": kind, "cases": list(rows.values())}
    if not options.only:
        report["overheads"] = [
            overhead(what, name) for what in ("launch", "compile") for name in ("tilewright", "triton")
        ]
    text = render(report)
    print(text)
    options.out.mkdir(parents=True, exist_ok=True)
    stem = "gpu_smoke" if options.smoke else "gpu"
    (options.out / f"{stem}.json").write_text(json.dumps(report, indent=1) + "\n")
    (options.out / f"{stem}.md").write_text(text + "\n")
    return int(any("error" in row.get("tilewright", {"error": ""}) for row in rows.values()))


def environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def python(script: str, *arguments: str, seconds: float) -> tuple[str, str]:
    """The output of a script, complete or not, and the end of what it said on the error stream."""
    command = [sys.executable, str(HERE / script), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment(), check=False)
    except subprocess.TimeoutExpired as error:
        return _text(error.stdout), f"stopped after {seconds:.0f} s"
    tail = done.stderr[-2500:] if done.returncode or "Traceback" in done.stderr else ""
    return done.stdout, tail


def _text(data: Any) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""


def list_cases(kind: str) -> list[str]:
    code = f"import cases; print('\\n'.join(case.name for case in cases.{kind}_cases()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), cwd=HERE, check=False
    )
    if done.returncode:
        raise SystemExit(f"the benchmarks cannot be loaded (is PyTorch installed, with CUDA?)\n{done.stderr}")
    return done.stdout.splitlines()


def run_cases(kind: str, numbers: list[int], names: list[str], end: float) -> dict[int, Row]:
    """Every case's results; a new process after each that was lost."""
    rows: dict[int, Row] = {number: {"name": names[number]} for number in numbers}
    waiting: list[int] = list(numbers)
    while waiting and time.monotonic() < end:
        seconds = min(CASE_SECONDS * len(waiting), max(end - time.monotonic(), 20))
        output, said = python("worker.py", kind, *map(str, waiting), seconds=seconds)
        done: list[int] = []
        for line in output.splitlines():
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                print(line)
                continue
            number: int = result.pop("case")
            rows[number][result.pop("implementation")] = result
            done.append(number)
            if result.get("lost"):
                break
        if said:
            print(said, file=sys.stderr)
        last: int = done[-1] if done else waiting[0]
        if not done:
            rows[last]["tilewright"] = {"error": said.strip().splitlines()[-1] if said.strip() else "no result"}
        elif last != waiting[-1] and said and not rows[last].get("tilewright"):
            rows[last]["tilewright"] = {"error": said.strip().splitlines()[-1]}
        waiting = [number for number in waiting if number > last]
    for number in waiting:
        rows[number]["tilewright"] = {"error": "not run: out of time"}
    return rows


def overhead(what: str, implementation: str) -> Row:
    output, said = python("overheads.py", what, implementation, seconds=180)
    lines = output.strip().splitlines()
    if lines and lines[-1].startswith("{"):
        return {"what": what, **json.loads(lines[-1])}
    return {"what": what, "implementation": implementation, "error": said.strip()[-400:]}


def describe_machine() -> Row:
    code = (
        "import json, torch, importlib.metadata as m\n"
        "def v(n):\n"
        "    try: return m.version(n)\n"
        "    except m.PackageNotFoundError: return None\n"
        "p = torch.cuda.get_device_properties(0)\n"
        "print(json.dumps({'device': p.name, 'capability': f'{p.major}.{p.minor}', "
        "'multiprocessors': p.multi_processor_count, 'cuda': torch.version.cuda, "
        "'packages': {n: v(n) for n in ('torch', 'triton', 'llvmlite', 'xdsl', 'cuda-bindings', 'numpy')}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()[-300:]}


INTRODUCTION = """\
# GPU benchmarks

{machine}. `make gpu` writes this file.

Medians over launches with a cold L2 cache: the same kernel source through tilewright and official Triton, each in the
best of the same configurations (ours is named), and PyTorch's own operator. `to Triton`: above 1 we are faster. Errors
are relative to a result in float64. Configurations, and then Triton and PyTorch, are timed one after the other, so that
the chip's clock differs: [hopper.md](hopper.md) has what is compared in turn.
"""
OVERHEADS = {
    "launch_seconds": "launch from Python",
    "first_kernel_seconds": "first kernel of a process, imports and compilation included",
    "matmul_seconds": "matrix product, compiled and launched",
}


def render(report: Row) -> str:
    """The table as Markdown."""
    lines = [INTRODUCTION.format(machine=_machine(report["machine"]))]
    titles = ["case", "unit", "tilewright", "Triton", "PyTorch", "to Triton", "to PyTorch", "error", "Triton's error"]
    lines += ["| " + " | ".join([*titles, "configuration"]) + " |", "|" + "---|" * (len(titles) + 1)]
    for row in report["cases"]:
        ours, official, torch = (row.get(name, {}) for name in ("tilewright", "triton", "torch"))
        unit = "TFLOP/s" if row["name"].startswith(("matmul", "attention")) else "TB/s"
        cells = [row["name"], unit, *(_rate(result) for result in (ours, official, torch))]
        cells += [_ratio(ours, official), _ratio(ours, torch)]
        cells += [_number(ours.get("error_norm")), _number(official.get("error_norm")), _config(ours)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += _overhead_lines(report.get("overheads", ()))
    failed = [(row["name"], name, row[name]["error"]) for row in report["cases"] for name in row if _failed(row[name])]
    lines += [f"\nFAILED {case} ({name}): {error}" for case, name, error in failed]
    return "\n".join(lines)


def _machine(machine: Row) -> str:
    packages = machine.get("packages", {})
    known = [f"{name} {version}" for name, version in packages.items() if version]
    return "; ".join([machine.get("device", f"no GPU ({machine.get('error', '')})"), ", ".join(known)])


def _overhead_lines(entries: Sequence[Row]) -> list[str]:
    """What the host takes, a row for each figure."""
    if not entries:
        return []
    lines = ["", "## What the host takes", "", "| | tilewright | Triton |", "|---|---|---|"]
    for key, meaning in OVERHEADS.items():
        found = {entry["implementation"]: entry[key] for entry in entries if key in entry}
        lines.append(
            f"| {meaning} | " + " | ".join(_seconds(found.get(name)) for name in ("tilewright", "triton")) + " |"
        )
    return lines + [
        f"\nFAILED {entry['what']} ({entry['implementation']}): {entry['error']}"
        for entry in entries
        if "error" in entry
    ]


def _failed(result: Any) -> bool:
    return isinstance(result, dict) and "error" in result


def _rate(result: Row) -> str:
    if "rate" not in result:
        return "failed" if result else ""
    return f"{result['rate']:.0f}" if result["rate"] >= 100 else f"{result['rate']:.3g}"


def _ratio(ours: Row, other: Row) -> str:
    return f"{ours['rate'] / other['rate']:.2f}" if "rate" in ours and "rate" in other else ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def _seconds(value: Any) -> str:
    if not isinstance(value, float):
        return ""
    return f"{value * 1e6:.2f} us" if value < 1e-3 else f"{value:.3f} s"


def _config(result: Row) -> str:
    """The configuration, or those of several kernels."""
    config = result.get("config", {})
    if any(isinstance(value, dict) for value in config.values()):
        return "; ".join(f"{kernel}: {_config({'config': own})}" for kernel, own in config.items())
    return ", ".join(f"{key.lower()} {value}" for key, value in config.items())


if __name__ == "__main__":
    raise SystemExit(main())
