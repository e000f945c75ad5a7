"""The exec suite on a GPU: corpus, examples, kernels of models and libraries, descriptors and Hopper's instructions.

    python benchmarks/gpu/suite.py [--only TEXT] [--out DIR] [--jobs N]

Kernels are launched as users do, `kernel[grid](...)`, on PyTorch tensors in the GPU's memory, and the corpus also
through the compiler's own interface. Tests run in worker processes: one that crashes, hangs or loses the CUDA context
fails alone; where workers end before their first test, the run ends and says so once. Results go to
DIR/gpu_tests.json; the exit status is 1 where a test failed or was not run, or all were skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SILENCE = 120
"""Seconds after which a test that has not ended hangs."""

FIXTURES = ("a_gpu", "every_target", "on_hopper")
"""By these, modules of `tests/exec` have their launches go to the target that is named."""

OWN_TARGET = ("test_gpu_engines", "test_triton_backend_gpu")
"""Modules that choose the target themselves, and what of them runs on a GPU."""

NOT_RUN = "not run"
"""The outcome of tests that no worker got to; pytest has the other three."""

FALSE_STARTS = 4
"""Workers in succession that end before their first test: then no more are started."""

Row = dict[str, Any]


@dataclass
class Board:
    """What is to run, and what has run; shared by the threads that keep workers."""

    waiting: list[str]
    end: float
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    lock: threading.Lock = field(default_factory=threading.Lock)
    false_starts: int = 0
    hopeless: str = ""
    """Why no worker can begin a test; empty as long as one may."""

    @property
    def is_over(self) -> bool:
        return bool(self.hopeless) or time.monotonic() >= self.end

    def take(self, count: int) -> list[str]:
        with self.lock:
            taken, self.waiting = self.waiting[:count], self.waiting[count:]
            return taken

    def count_start(self, reason: str) -> None:
        """Count a worker that began a test (no reason), or ended before."""
        with self.lock:
            self.false_starts = self.false_starts + 1 if reason else 0
            if self.false_starts >= FALSE_STARTS:
                self.hopeless = f"workers end before their first test: {reason}"

    def note(self, test: str, **row: Any) -> None:
        with self.lock:
            before = self.rows.get(test)
            if before is None or before["outcome"] == "passed":
                self.rows[test] = row


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--out", type=Path, default=HERE.parent / "results", help="where results go")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1), help="processes at a time")
    parser.add_argument("--seconds", type=float, default=540, help="start no test after this time")
    parser.add_argument("--target", default="cuda", help="cuda, or cuda_sim to try this without a GPU")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    started = time.monotonic()
    board = Board([], started + options.seconds)
    files = [*launched(), *(f"tests/exec/{name}.py" for name in OWN_TARGET)]
    board.waiting = [name for name in collect(files, options.target, board) if options.only in name]
    names = list(board.waiting)
    keepers = [
        threading.Thread(target=keep_worker, args=(board, files, options.target)) for _ in range(max(options.jobs, 1))
    ]
    for keeper in keepers:
        keeper.start()
    for keeper in keepers:
        keeper.join()
    for name in names:
        board.rows.setdefault(name, {"outcome": NOT_RUN, "seconds": 0, "reason": board.hopeless or "out of time"})
    seconds = round(time.monotonic() - started, 1)
    report = {"machine": describe_machine(), "target": options.target, "seconds": seconds, "tests": board.rows}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "gpu_tests.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
    print(render(report))
    outcomes = {row["outcome"] for row in board.rows.values()}
    return int(bool(outcomes & {"failed", NOT_RUN}) or "passed" not in outcomes)


def launched() -> list[str]:
    """Modules with a test that uses one of `FIXTURES`."""
    uses = re.compile(rf"\b({'|'.join(FIXTURES)})\b")
    modules = sorted((ROOT / "tests/exec").glob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in modules if uses.search(path.read_text())]


def command(verb: str, files: list[str]) -> list[str]:
    return [sys.executable, str(HERE / "suite_worker.py"), verb, *files]


def environment(target: str) -> dict[str, str]:
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "TILEWRIGHT_TARGET": target,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def collect(files: list[str], target: str, board: Board) -> list[str]:
    """The names of the tests; the simulator's own tests are no tests of a GPU."""
    done = subprocess.run(
        command("collect", files), capture_output=True, text=True, env=environment(target), cwd=ROOT, check=False
    )
    names: list[str] = []
    for line in done.stdout.splitlines():
        said = json.loads(line)
        names += said.get("collected", [])
        if "broken" in said:
            board.note(said["broken"], outcome="failed", seconds=0, reason=said["reason"])
    if not names and not board.rows:
        raise SystemExit(f"the tests cannot be collected\n{done.stderr[-2000:]}")
    return [name for name in names if "on_the_simulator" not in name]


def keep_worker(board: Board, files: list[str], target: str) -> None:
    """Run tests in one process after another until none is left."""
    share = max(len(board.waiting) // 40, 8)
    while not board.is_over and (names := board.take(share)):
        while names and not board.is_over:
            names = run_worker(board, names, files, target)


def run_worker(board: Board, names: list[str], files: list[str], target: str) -> list[str]:
    """Run tests in one process; returns those that it did not get to."""
    process = subprocess.Popen(
        command("run", sorted({name.partition("::")[0] for name in names} & set(files)) or files),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(target),
        cwd=ROOT,
    )
    assert process.stdin is not None
    process.stdin.write("\n".join(names))
    process.stdin.close()
    lines: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []
    threads = [
        threading.Thread(target=forward, args=(process.stdout, lines)),
        threading.Thread(target=lambda: errors.extend(process.stderr or ())),
    ]
    for thread in threads:
        thread.start()
    left, current, end_of_it = list(names), "", ""
    while True:
        try:
            line = lines.get(timeout=SILENCE)
        except queue.Empty:
            process.kill()
            end_of_it = f"nothing for {SILENCE} s"
            break
        if line is None:
            break
        said = json.loads(line)
        if "begun" in said:
            current = said["begun"]
            left.remove(current)
            board.count_start("")
            board.note(current, outcome="passed", seconds=0, reason="")
        elif "test" in said:
            board.note(said["test"], outcome=said["outcome"], seconds=said["seconds"], reason=said["reason"])
            current = ""
        elif "lost" in said:
            board.note(said["lost"], outcome="failed", seconds=0, reason="lost the CUDA context")
    process.wait()
    for thread in threads:
        thread.join()
    if current:
        tail = end_of_it or f"the process ended with status {process.returncode}: {''.join(errors[-4:]).strip()[-400:]}"
        board.note(current, outcome="failed", seconds=0, reason=tail)
    elif len(left) == len(names):
        board.count_start("".join(errors[-6:]).strip()[-400:] or f"status {process.returncode}")
    return left


def forward(stream: Any, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def describe_machine() -> Row:
    code = (
        "import json, importlib.metadata as m\n"
        "from tilewright.targets.cuda.driver import cuda_driver\n"
        "d = cuda_driver().device(0)\n"
        "names = 'torch', 'llvmlite', 'xdsl', 'cuda-bindings', 'numpy'\n"
        "print(json.dumps({'device': d.name, 'capability': d.capability,"
        " 'packages': {n: m.version(n) for n in names}}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(""), check=False
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [""])[-1]}
    return json.loads(done.stdout)


def render(report: Row) -> str:
    """A table of files, then the failures, then what was skipped, by reason."""
    rows: dict[str, Row] = report["tests"]
    counts = {key: Counter[str]() for key in sorted({group_of(name) for name in rows})}
    for name, row in rows.items():
        counts[group_of(name)][row["outcome"]] += 1
    outcomes = ("passed", "failed", "skipped", NOT_RUN)
    lines = [json.dumps(report["machine"]), "", f"| tests | {' | '.join(outcomes)} |", "|---" * 5 + "|"]
    for key, count in (*counts.items(), ("all", sum(counts.values(), Counter[str]()))):
        lines.append(f"| {key} | {' | '.join(str(count[outcome]) for outcome in outcomes)} |")
    lines += [f"\n{report['seconds']} s"]
    lines += [f"FAILED {name}: {row['reason']}" for name, row in sorted(rows.items()) if row["outcome"] == "failed"]
    for outcome in ("skipped", NOT_RUN):
        reasons = Counter(row["reason"] for row in rows.values() if row["outcome"] == outcome)
        lines += [f"{outcome} {count}: {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)


def group_of(name: str) -> str:
    """A test's function, of its file."""
    return name.removeprefix("tests/exec/").partition("[")[0]


if __name__ == "__main__":
    raise SystemExit(main())
