"""Installs both wheels into environments of their own, of every Python that is asked for, and runs a kernel there:

    python -m suite.clean_environments python3.11 python3.12 python3.13

Each wheel's dependencies come from the index, as a user's would; so this is no part of the suite (`make
clean-environments` runs it). For each Python there are three environments: tilewright alone, tilewright-triton, and
this beside the official package.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
import sys
from importlib.metadata import PackageNotFoundError, version
import numpy as np
NAME = sys.argv[1]
if NAME == "tilewright":
    import tilewright as triton, tilewright.language as tl
else:
    import triton, triton.language as tl

@triton.jit
def halve(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) / 2, mask=i < n)

x = np.arange(1000, dtype=np.float32)
halve[(triton.cdiv(1000, 256),)](x, 1000, B=256)
assert (x == np.arange(1000, dtype=np.float32) / 2).all()
try:
    found = version("triton")
except PackageNotFoundError:
    found = None
if NAME == "triton":
    assert triton.__version__ == found == "3.9.0" and "cpu" in triton.backends.backends, found
else:
    assert found is None, found
print("right")
"""


def official_wheel(folder: Path, version: str) -> Path:
    """A wheel with the names and one of the modules of the official package."""
    path = folder / f"triton-{version}-py3-none-any.whl"
    metadata = f"triton-{version}.dist-info"
    files = {
        "triton/__init__.py": "",
        "triton/runtime/__init__.py": "",
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{metadata}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{metadata}/RECORD"])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


def run(*command: str | Path) -> str:
    """Run a command, whose output is shown where it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheels of tilewright and of tilewright-triton."""
    for source in (ROOT, ROOT / "distributions" / "tilewright-triton"):
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=source, check=True, capture_output=True)
    (plain,), (provider,) = folder.glob("tilewright-*.whl"), folder.glob("tilewright_triton-*.whl")
    return plain, provider


def check(python: str, wheels: tuple[Path, Path], folder: Path) -> None:
    """Both distributions in environments of one Python."""
    program = folder / "kernel.py"
    program.write_text(KERNEL)
    for name, installed in (("tilewright", wheels[:1]), ("triton", wheels)):
        environment = folder / name
        run(python, "-m", "venv", environment)
        inside = environment / "bin" / "python"
        run(inside, "-m", "pip", "install", "-q", *installed)
        run(inside, "-m", "pip", "check")
        found = run(inside, "-I", program, name)
        version = run(inside, "-c", "import platform; print(platform.python_version())")
        print(f"Python {version}, {name}: {found}", flush=True)
    check_clash(python, wheels, folder)


def check_clash(python: str, wheels: tuple[Path, Path], folder: Path) -> None:
    """pip refuses the official package where tilewright-triton is; where it is there first, the import is refused."""
    official = official_wheel(folder, "3.9.1")
    after = folder / "triton" / "bin" / "python"
    fails(after, "-m", "pip", "install", "-q", "--no-index", official, said="installed by tilewright")
    environment = folder / "clash"
    run(python, "-m", "venv", environment)
    inside = environment / "bin" / "python"
    run(inside, "-m", "pip", "install", "-q", "--no-index", "--no-deps", official, *wheels)
    fails(inside, "-c", "import triton", said="DistributionClashError: tilewright-triton and the official triton")
    print("    beside the official package: refused", flush=True)


def fails(*command: str | Path, said: str) -> None:
    """Run a command that must end with an error that says so."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode == 0 or said not in done.stderr:
        raise SystemExit(f"{' '.join(map(str, command))} did not say '{said}'\n{done.stdout}{done.stderr}")


def main() -> None:
    pythons = sys.argv[1:] or ["python3.11", "python3.12", "python3.13"]
    with tempfile.TemporaryDirectory() as folder:
        wheels = build(Path(folder))
        for number, python in enumerate(pythons):
            own = Path(folder) / str(number)
            own.mkdir()
            check(python, wheels, own)


if __name__ == "__main__":
    main()
