"""The CPU benchmark: kernels against every peer that is installed, and against what the machine can do (`make bench`).

    python benchmarks/cpu/run.py [--threads 1,2] [--seconds S] [--only TEXT] [--peers LIST] [--quick] [--isa NAME]
                                 [--output FOLDER]

Contenders take turns in one process, round after round; a ratio is the median over the rounds of (peer's time / our
time): above 1 we are faster. Where a kernel has several sensible block sizes the fastest is taken first, as a user's
autotuner would. Writes cpu.json, cpu.md and cpu.svg into the output folder; with `--isa`, which keeps everybody to an
older instruction set (`instruction_sets.py`), cpu-NAME.json and so on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console

from tilewright.targets.cpu.facts import available_cores, host_facts

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER.parent / "results"
PARTS = FOLDER.parents[1] / "build" / "bench"
"""Where the results of a part of the table go: those in the repository are of the whole."""
SELECTIONS = ("threads", "seconds", "only", "peers", "groups", "quick", "no_compiling")
"""Options without which the table is whole."""
sys.path.insert(0, str(FOLDER))

from compiling import measure_compiling  # noqa: E402
from contenders import GROUPS, PEERS  # noqa: E402
from instruction_sets import INSTRUCTION_SETS, WITHOUT_AMX  # noqa: E402
from plot import achieved_svg  # noqa: E402
from report import describe_machine, markdown  # noqa: E402

QUICK_PEERS = ("PyTorch", "PyTorch out=", "NumPy")


def listed(*known: str) -> Callable[[str], str]:
    """A list separated by commas, for argparse, of these names."""

    def check(text: str) -> str:
        unknown = sorted(set(text.split(",")) - set(known))
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: not among {', '.join(known)}")
        return text

    return check


def numbers_of_threads(text: str) -> list[int]:
    """Numbers separated by commas, for argparse, that this machine has cores for."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers") from None
    if not all(1 <= number <= available_cores() for number in numbers):
        raise argparse.ArgumentTypeError(f"{text}: this machine has 1 to {available_cores()}")
    return numbers


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--threads", type=numbers_of_threads, help="numbers of threads, e.g. 1,2 (default: 1, and 2 where there are)"
    )
    parser.add_argument("--seconds", type=float, default=0.7, help="measuring time per row (default 0.7)")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--peers", type=listed(*PEERS), default=",".join(PEERS), help=f"of {', '.join(PEERS)}")
    parser.add_argument(
        "--groups",
        type=listed(*GROUPS),
        default="promised,others",
        help=f"of {', '.join(GROUPS)} (default the first two)",
    )
    parser.add_argument("--all-peers", action="store_true", help="torch.compile and mlir-opt for the other kernels too")
    parser.add_argument("--quick", action="store_true", help="short samples, one thread, PyTorch and NumPy only")
    parser.add_argument("--isa", choices=INSTRUCTION_SETS, help="an older instruction set, for all contenders")
    parser.add_argument("--no-compiling", action="store_true", help="leave out the table of compile times")
    parser.add_argument(
        "--output",
        type=Path,
        help=f"folder of the results (default {RESULTS.name}, of a part of the table {PARTS.name})",
    )
    options = parser.parse_args(argv)
    if options.output is None:
        is_whole = all(getattr(options, name) == parser.get_default(name) for name in SELECTIONS)
        options.output = RESULTS if is_whole else PARTS
    if options.quick:
        options.seconds, options.peers = min(options.seconds, 0.2), ",".join(QUICK_PEERS)
        options.threads = options.threads or [1]
    options.threads = options.threads or [1, 2][: available_cores()]
    return options


def measured(
    options: argparse.Namespace, threads: int, *, only: str = "", environment: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """The messages of a worker with that many threads. The other kernels are promised on one thread only."""
    groups = options.groups if threads == 1 and not only else "promised"
    command = [
        sys.executable, str(FOLDER / "worker.py"), "--threads", str(threads), "--seconds", str(options.seconds),
        "--only", only or options.only, "--peers", options.peers, "--groups", groups,
        *["--all-peers"] * options.all_peers,
    ]  # fmt: skip
    environment = {**os.environ, **(environment or {})}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            if line.startswith("{"):
                yield json.loads(line)
    if worker.returncode:
        reason = f"the measuring process ended with status {worker.returncode}"
        yield {"skipped": f"the remaining rows with {threads} thread(s)", "reason": reason}


def measured_without_amx(options: argparse.Namespace, threads: int) -> Iterator[dict[str, Any]]:
    """The rows of bf16 once more, as on a processor without AMX: their floors were found on such a one."""
    only = options.only or "bf16"
    if options.isa or "bf16" not in only or "promised" not in options.groups or not host_facts().has("amx-tile"):
        return
    for message in measured(options, threads, only=only, environment=WITHOUT_AMX.environment):
        if "row" in message:
            yield {"row": message["row"] | {"group": "without AMX"}}
        elif "skipped" in message:
            yield message | {"skipped": f"{message['skipped']}, without AMX"}


def collect(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """All figures, as they are written to cpu.json."""
    kept_to = INSTRUCTION_SETS[options.isa].title if options.isa else ""
    machine = describe_machine() | {"kept_to": kept_to}
    results: dict[str, Any] = {"machine": machine, "limits": [], "rows": [], "skipped": [], "compiling": []}
    with console.status("measuring ...") as status:
        for threads in options.threads:
            for message in chain(measured(options, threads), measured_without_amx(options, threads)):
                if "limits" in message:
                    results["limits"].append(message["limits"])
                elif "row" in message:
                    results["rows"].append(message["row"])
                    status.update(f"measured {message['row']['name']}, {threads} thread(s)")
                else:
                    results["skipped"].append(message)
        if not options.no_compiling:
            status.update("measuring compile times")
            figures = measure_compiling(rounds=1 if options.quick else 3)
            results["compiling"] = [{**vars(figure), "passed": figure.passed} for figure in figures]
    return results


def main() -> int:
    """Entry point."""
    options = parse_arguments()
    if options.isa:
        os.environ.update(INSTRUCTION_SETS[options.isa].environment)
    console = Console(width=None if sys.stdout.isatty() else 160, stderr=True)
    results = collect(options, console)
    name = f"cpu-{options.isa}" if options.isa else "cpu"
    text = markdown(results, plot=f"{name}.svg")
    options.output.mkdir(parents=True, exist_ok=True)
    drawn = [row for row in results["rows"] if row["group"] != "without AMX"]
    (options.output / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    (options.output / f"{name}.md").write_text(text)
    (options.output / f"{name}.svg").write_text(achieved_svg(drawn))
    print(text)
    console.print(f"written to {options.output}: {name}.json, {name}.md, {name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
