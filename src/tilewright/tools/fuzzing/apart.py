"""A part of a fuzzing run in a process of its own: a crash of LLVM's ends that process alone, and what stops a hang
needs the main thread of one, which workers of a farm do not give."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

ShareT = TypeVar("ShareT")
ResultT = TypeVar("ResultT")


class LostError(RuntimeError):
    """The process ended without a result: by a signal, say."""


def run_apart(run: Callable[[ShareT], ResultT], share: ShareT) -> ResultT:
    """`run(share)` in a new process. Raises LostError, with the last lines that it wrote."""
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, input=pickle.dumps((run, share)), capture_output=True, check=False)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-5:]
        raise LostError(f"exit status {done.returncode}\n" + "\n".join(last))
    return pickle.loads(done.stdout)


def main() -> None:
    """Be that process: read what is to run, write what it came to."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    run, share = pickle.load(sys.stdin.buffer)
    result: Any = run(share)
    out.write(pickle.dumps(result))


if __name__ == "__main__":
    main()
