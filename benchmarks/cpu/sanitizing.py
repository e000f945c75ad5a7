"""What the sanitisers cost: the kernels of the CPU benchmark on one thread, with checks and without.

    python benchmarks/cpu/sanitizing.py [--only TEXT] [--groups LIST] [--calls N]      (make bench-sanitizers)

Each row is the fastest launch of a kernel. A figure is the smallest time with checks over the smallest without, of
calls that take turns. Prints a table in Markdown, with figures above what is promised in bold; the exit status is 1
where there are any, or a check finds something.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
for variable in ("OPENBLAS", "OMP", "MKL", "TILEWRIGHT"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("examples", "tests/exec", "tests", "tests/kernels/corpus")]

from case import Case, Launch  # noqa: E402
from measure import Clock, fastest  # noqa: E402
from others import OTHERS  # noqa: E402
from promised import PROMISED  # noqa: E402

from tilewright.support import knobs  # noqa: E402
from tilewright.support.errors import SanitizerError  # noqa: E402

CHECKS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "bounds": ("bounds",),
    "race": ("race",),
    "init": ("init",),
    "all three": ("bounds", "race", "init"),
}
PROMISED_COST = {"bounds": 3.0, "race": 10.0, "init": 10.0, "all three": 10.0}
HEAD = """\
# What the sanitisers cost

Time with checks over time without, one thread, of the CPU benchmark's kernels. Promised: `bounds` at most 3, all at
most 10. `make bench-sanitizers` writes this file.
"""
GROUPS: dict[str, dict[str, Callable[[], Case]]] = {"promised": PROMISED, "others": OTHERS}


def parse_arguments(argv: Sequence[str] | None = None) -> Namespace:
    parser = ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--groups", default=",".join(GROUPS), help="promised, others or both")
    parser.add_argument("--calls", type=int, default=3, help="timed calls of each kind (default 3)")
    parser.add_argument("--output", type=Path, help="a file for the table, besides the standard output")
    return parser.parse_args(argv)


def chosen(options: Namespace) -> Iterator[tuple[str, Callable[[], Case]]]:
    """The rows that were asked for."""
    for group in options.groups.split(","):
        yield from ((name, make) for name, make in GROUPS[group].items() if options.only in name)


def costs(launch: Launch, calls: int) -> dict[str, float]:
    """Seconds with each choice of checks. Raises SanitizerError where a check finds something."""
    clock = Clock(1)
    best = dict.fromkeys(CHECKS, float("inf"))
    for turn in range(calls + 1):
        for name, checks in CHECKS.items():
            with knobs.scope(sanitize=checks):
                seconds = clock.seconds(launch)
            if turn:  # the first call compiles
                best[name] = min(best[name], seconds)
    return best


def main() -> int:
    """Entry point."""
    options = parse_arguments()
    failed = False
    names = [name for name in CHECKS if name != "plain"]
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say(HEAD)
    say(f"| kernel | {' | '.join(names)} |\n|---{'|---' * len(names)}|")
    for name, make in chosen(options):
        try:
            case = make()
            launches = [launch for launch in case.ours if isinstance(launch, Launch)]
            seconds = costs(fastest(Clock(1), launches), options.calls)
        except (RuntimeError, SanitizerError) as reason:
            print(f"{name}: {reason}", file=sys.stderr)
            failed |= isinstance(reason, SanitizerError)
            continue
        ratios = {check: seconds[check] / seconds["plain"] for check in names}
        above = {check for check in names if ratios[check] > PROMISED_COST[check]}
        failed |= bool(above)
        cells = [f"**{ratios[check]:.2f}**" if check in above else f"{ratios[check]:.2f}" for check in names]
        say(f"| {name} | {' | '.join(cells)} |")
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
