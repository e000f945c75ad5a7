"""What befalls a compiler in the field: killed processes, full disks, damaged and contended caches.

Whatever happens to one process, the next one has right results, and nothing of the cache stays broken.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = int(os.environ.get("TILEWRIGHT_TEST_KILLS", "6"))
"""Random moments at which a compiling process is killed."""

SCRIPT = """
import sys
import numpy as np
import tilewright as triton
import tilewright.language as tl

LIMIT = {limit}
if LIMIT:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

@triton.jit
def kernel(x_ptr, out_ptr, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * SCALE + 1, mask=offsets < n)

x = np.arange(1000, dtype=np.float32)
print("ready", flush=True)
for scale in range(2, 2 + {kernels}):
    out = np.empty_like(x)
    kernel[(4,)](x, out, x.size, SCALE=scale, BLOCK=256)
    assert np.array_equal(out, x * scale + 1), scale
print("right", flush=True)
"""


def start(cache: Path, folder: Path, *, kernels: int = 2, limit: int = 0) -> subprocess.Popen[str]:
    """A process that compiles a few kernels with a cache of its own and checks what they compute."""
    script = folder / f"script_{kernels}_{limit}.py"
    script.write_text(SCRIPT.format(kernels=kernels, limit=limit))
    environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": str(cache)}
    if limit:
        # Python writes half a .pyc where files are limited, and cannot import it afterwards.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.Popen(
        [sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    """What the process wrote to its standard error, once it has come to its right end."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and out.split() == ["ready", "right"], err
    return err


def entries(cache: Path) -> list[Path]:
    """Every file of a cache."""
    return [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.costly
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """`kill -9` while compiling and while writing the cache: what is found afterwards is whole."""
    cache, choices = tmp_path / "cache", random.Random(5)
    finish(start(cache, tmp_path, kernels=0))
    killed = 0
    for _ in range(KILLS):
        process = start(cache, tmp_path, kernels=30)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(choices.uniform(0, 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
    assert killed > 0
    finish(start(cache, tmp_path, kernels=30))


@pytest.mark.costly
def test_writers_that_died_leave_nothing_for_ever(tmp_path: Path) -> None:
    """The temporary file of a writer that was killed goes when it is old and its folder is written to again."""
    cache = tmp_path / "cache"
    finish(start(cache, tmp_path))
    (entry, *_) = entries(cache)
    old, fresh = entry.parent / ".new-old", entry.parent / ".new-fresh"
    for path in (old, fresh):
        path.write_bytes(b"half an en")
    os.utime(old, (1, 1))
    entry.unlink()
    finish(start(cache, tmp_path))
    assert entry.exists()
    assert not old.exists()
    assert fresh.exists()


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are POSIX")
def test_full_disk(tmp_path: Path) -> None:
    """Writes that fail half way cost a warning, and leave no half entry."""
    cache = tmp_path / "cache"
    err = finish(start(cache, tmp_path, limit=700))
    assert err.count("cannot be written") == 1
    assert entries(cache) == []


@pytest.mark.costly
def test_damaged_entries_are_made_again(tmp_path: Path) -> None:
    cache, choices = tmp_path / "cache", random.Random(7)
    finish(start(cache, tmp_path, kernels=4))
    made = entries(cache)
    whole = {path: path.read_bytes() for path in made}
    assert len(whole) >= 4
    for number, path in enumerate(made):
        data = bytearray(whole[path])
        match number % 4:
            case 0:
                data[choices.randrange(len(data))] ^= 1 << choices.randrange(8)
            case 1:
                del data[choices.randrange(len(data)) :]
            case 2:
                data.clear()
            case _:
                data[:] = choices.randbytes(len(data))
        path.write_bytes(data)
    finish(start(cache, tmp_path, kernels=4))
    assert {path: len(path.read_bytes()) for path in entries(cache)} == {
        path: len(data) for path, data in whole.items()
    }


@pytest.mark.costly
def test_processes_that_compile_the_same_kernels(tmp_path: Path) -> None:
    """Both have right results, and one entry for each kernel is left."""
    alone, shared = tmp_path / "alone", tmp_path / "shared"
    finish(start(alone, tmp_path, kernels=4))
    for process in [start(shared, tmp_path, kernels=4) for _ in range(2)]:
        finish(process)
    assert sorted(path.name for path in entries(shared)) == sorted(path.name for path in entries(alone))


@pytest.mark.costly
def test_a_cache_that_vanishes(tmp_path: Path) -> None:
    """A folder that turns into a file while the process runs: a warning, and right results."""
    cache = tmp_path / "cache"
    cache.write_text("not a folder")
    assert finish(start(cache, tmp_path)).count("cannot be written") == 1
