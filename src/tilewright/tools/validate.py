"""`tilewright validate FILE[:kernel]`: the same inputs through the module after every pass, and machine code.

Inputs come from the file's `tilewright_inputs()`, which returns `(kernel, grid, keywords)` or a list of these; else
from the launches that the script makes, with `--main` those under `if __name__ == "__main__"`, too, on at most 256
programs; else they are made up from the parameters of its kernels.

`--target cuda_sim:sm90` goes the way to a GPU, which is simulated; `--target cuda` ends on the one that is there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tilewright.support import knobs
from tilewright.tools.progress import progress
from tilewright.tools.validation.engines import find_engine
from tilewright.tools.validation.file_launches import find_launches
from tilewright.tools.validation.observer import MAX_PROGRAMS
from tilewright.tools.validation.validate import validate_launch

MADE_UP = "  (the file launches nothing{}: inputs were made up{})"


def run_validate(options: argparse.Namespace) -> int:
    """The command; the exit status is 1 where some pass changes a result, 2 where there is nothing to validate.
    Raises TargetError, UserFileError, and what launches and compilations raise."""
    name, _, wanted = options.file.partition(":")
    path = Path(name)
    if not path.is_file():
        print(f"tilewright: error: no such file: {name}", file=sys.stderr)
        return 2
    status = 2
    names: set[str] = set()
    with knobs.scope(validate=False, sanitize=()):
        target, arch = find_engine(options.target)
        for found in find_launches(path, as_main=options.main):
            launch = found.launch.with_programs(MAX_PROGRAMS)
            names.add(launch.name)
            if wanted and launch.name != wanted:
                continue
            passes = sum(len(passes) for _, passes in target.stages()) if arch is None else None
            with progress(launch.name, passes) as tell:
                report = validate_launch(
                    launch.for_architecture(arch),
                    target,
                    found.tolerance,
                    reached=lambda point, tell=tell: tell(point.number, str(point)),
                )
            print(report.render())
            if found.is_made_up:
                said = ("", "") if options.main else (" while it is imported", "; --main runs it as a program")
                print(MADE_UP.format(*said))
            status = max(status % 2, int(not report.is_valid))
    if status == 2:
        there_are = f"; there are launches of {', '.join(sorted(names))}" if names else ""
        what = f"kernel '{wanted}'" if wanted else "a kernel"
        print(f"tilewright: error: {name}: no launch of {what} was found{there_are}", file=sys.stderr)
    return status
