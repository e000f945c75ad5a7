"""Kernels where source is not in a plain file beside the program: packages run by -m, zip files, generated modules, exec with kept lines, none at all, frozen stubs of bytecode, standard input."""

import importlib.util
import linecache
import os
import py_compile
import subprocess
import sys
import tempfile
import textwrap
import types
import zipapp
import zipfile
from pathlib import Path

import torch
import triton
import triton.language as tl

KERNELS = '''
"""Kernels of a package."""
import triton
import triton.language as tl
from . import parts
from .parts import double as twice

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, twice(v) + parts.one(v) + parts.deep.CONSTANT, mask=i < n)
'''
PARTS = {
    "parts/__init__.py": "import triton\nfrom . import deep\n@triton.jit\ndef double(v):\n    return v * 2\n@triton.jit\ndef one(v):\n    return v * 0 + 1\n",
    "parts/deep.py": "import triton.language as tl\nCONSTANT = tl.constexpr(7)\n",
}
MAIN = """
import numpy as np
from .kernels import kernel
def main():
    x = np.arange(50.0)
    out = np.empty_like(x)
    kernel[(4,)](x, out, 50, BLOCK=16)
    assert np.array_equal(out, x * 2 + 8), out
    print("packaged", __name__, __package__)
if __name__ == "__main__":
    main()
"""


def run(*command, cwd, **more):
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def packages(folder):
    package = folder / "mine"
    for name, text in {"__init__.py": "", "kernels.py": KERNELS, "__main__.py": MAIN, **PARTS}.items():
        path = package / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    assert run("-m", "mine", cwd=folder) == "packaged __main__ mine"
    with zipfile.ZipFile(folder / "lib.zip", "w") as file:
        for path in package.rglob("*.py"):
            file.write(path, path.relative_to(folder))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder / "lib.zip"), os.environ.get("PYTHONPATH", "")]),
    }
    assert run("-m", "mine", cwd=elsewhere, env=environment) == "packaged __main__ mine"
    app = folder / "app"
    app.mkdir()
    package.rename(app / "mine")
    zipapp.create_archive(app, folder / "app.pyz", main="mine.__main__:main")
    assert run(folder / "app.pyz", cwd=elsewhere) == "packaged mine.__main__ mine"


def standard_input(folder):
    code = "import numpy, triton, triton.language as tl\n@triton.jit\ndef k(x):\n    tl.store(x, 3)\n"
    done = subprocess.run(
        [sys.executable, "-"],
        input=code + "k[(1,)](numpy.zeros(1))\n",
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0 and "source" in done.stderr, done.stderr


def generated(folder):
    """Libraries write kernels for each rank and number of operands to a file, and import it."""
    for rank in (1, 2, 3):
        names = [f"s{k}" for k in range(rank)]
        lines = ["import triton", "import triton.language as tl", "", "@triton.jit", "def inner(a, b):", "    return a * b + 1", "", "@triton.jit",
                 f"def kernel_{rank}(x, y, out, {', '.join(names)}, {', '.join('n' + n[1:] for n in names)}, total, BLOCK: tl.constexpr):",
                 "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", "    ok = i < total", "    rest = i", "    at = tl.zeros((BLOCK,), tl.int64)"]  # fmt: skip
        for k in reversed(range(rank)):
            lines += [f"    at += (rest % n{k}) * s{k}", f"    rest = rest // n{k}"]
        lines += ["    tl.store(out + i, inner(tl.load(x + at, mask=ok), tl.load(y + i, mask=ok)), mask=ok)"]
        file = folder / f"generated_{rank}.py"
        file.write_text("\n".join(lines))
        spec = importlib.util.spec_from_file_location(f"generated_{rank}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        shape = (3, 5, 4)[:rank]
        x = torch.randn(tuple(reversed(shape))).permute(*reversed(range(rank)))
        y = torch.randn(shape)
        out = torch.empty(shape)
        getattr(module, f"kernel_{rank}")[(triton.cdiv(x.numel(), 16),)](
            x, y, out, *x.stride(), *shape, x.numel(), BLOCK=16
        )
        torch.testing.assert_close(out, x * y + 1)


TEMPLATE = """
@triton.jit
def made(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, {expression})
"""


def by_exec():
    for number, (expression, want) in enumerate(
        (("i * 2", [0, 2, 4, 6]), ("tl.flip(i)", [3, 2, 1, 0]), ("i + EXTRA", [9, 10, 11, 12]))
    ):
        text = TEMPLATE.format(expression=expression)
        name = f"<kernel {number}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        space = {"triton": triton, "tl": tl, "EXTRA": tl.constexpr(9), "__name__": "made_by_exec"}
        exec(compile(text, name, "exec"), space)
        x = torch.zeros(4, dtype=torch.int32)
        space["made"][(1,)](x, N=4)
        assert x.tolist() == want, (expression, x)
    # no lines are kept: an error that says so, and a way out by a source that is given
    space = {"triton": triton, "tl": tl}
    try:
        exec(TEMPLATE.format(expression="i"), space)
        space["made"][(1,)](torch.zeros(4), N=4)
    except (OSError, ValueError) as error:
        assert "source" in str(error), error
    else:
        raise AssertionError("there is no source to read")
    # decorated twice, wrapped, and defined in odd places
    module = types.ModuleType("odd")
    module.triton, module.tl = triton, tl
    text = textwrap.dedent(
        """
        import functools
        def passing(f):
            return f
        if True:
            class Outer:
                class Inner:
                    @staticmethod
                    @passing
                    @triton.jit
                    def kernel(x, *, N: tl.constexpr = 4, EXTRA: tl.constexpr = (1, 2)):
                        "text with def kernel(x): in it"
                        i = tl.arange(0, N)  # def other():
                        tl.store(x + i, (
                            i +
                            EXTRA[1]
                        ))
        lambda_made = triton.jit(Outer.Inner.kernel.fn) if hasattr(Outer.Inner.kernel, "fn") else None
        """
    )
    linecache.cache["<odd>"] = (len(text), None, text.splitlines(True), "<odd>")
    exec(compile(text, "<odd>", "exec"), module.__dict__)
    for kernel in (module.Outer.Inner.kernel, module.lambda_made):
        x = torch.zeros(4, dtype=torch.int32)
        kernel[(1,)](x)
        assert x.tolist() == [2, 3, 4, 5]


def without_source(folder):
    """A module of bytecode alone: its kernels have no source, which is said when it is imported or launched."""
    source = folder / "hidden.py"
    source.write_text("import triton, triton.language as tl\n@triton.jit\ndef k(x):\n    tl.store(x, 1)\n")
    py_compile.compile(str(source), cfile=str(folder / "hidden.pyc"))
    source.unlink()
    code = "import numpy\ntry:\n    import hidden\n    hidden.k[(1,)](numpy.zeros(1))\nexcept Exception as e:\n    assert 'source' in str(e), e\n    print('said')\n"
    (folder / "use.py").write_text(code)
    assert run("use.py", cwd=folder) == "said"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages(folder)
        standard_input(folder)
        generated(folder)
        without_source(folder)
    by_exec()
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
