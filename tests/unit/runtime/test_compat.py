"""Standing in for `triton`, without touching the official package, and `tilewright run`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
import tilewright.tools.link
from suite.children import Children
from tilewright import compat

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language import float32
import triton.testing

@triton.jit
def twice(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2{suffix})

x = np.arange(8, dtype=np.float32)
twice[(1,)](x, BLOCK=8)
print(sys.argv[1:], x.tolist(), triton.__name__)
"""


def test_both_names_mean_the_same_modules() -> None:
    before = sys.modules.get("triton")
    with compat.standing_in():
        import triton
        import triton.language as tl
        import triton.language.extra.libdevice as libdevice

        testing = importlib.import_module("triton.testing")

        assert triton.jit is tilewright.jit and triton.__version__ == "3.9.0"
        assert testing is importlib.import_module("tilewright.testing")
        assert tl is importlib.import_module("tilewright.language")
        assert libdevice is importlib.import_module("tilewright.language.extra.libdevice")
        assert tl.__spec__ is not None and tl.__spec__.name == "tilewright.language"
    assert sys.modules.get("triton") is before


def test_the_official_package_is_not_taken_over_by_accident() -> None:
    pytest.importorskip("triton", reason="official Triton is a test-only dependency and not installed")
    with pytest.raises(ImportError, match="already imported"):
        compat.install()


def test_a_module_that_triton_does_not_have_is_not_found() -> None:
    with compat.standing_in(), pytest.raises(ModuleNotFoundError):
        importlib.import_module("triton.no_such_module")


def run(children: Children, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return children.run(["tilewright.tools.cli", "run", str(script), *arguments], {}, script.parent)


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("import triton.ops", "gone since Triton 3.0"),
        ("import triton; triton.ops", "gone since Triton 3.0"),
        ("raise AssertionError('Torch not compiled with CUDA enabled')", 'write device="cpu"'),
        ("raise RuntimeError('stops')", None),
    ],
)
def test_scripts_for_other_machines_get_advice(
    statement: str, advice: str | None, compiler_children: Children, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(statement)
    result = run(compiler_children, script)
    last = result.stderr.strip().splitlines()[-1]
    assert result.returncode == 1
    assert advice in last and last.startswith("hint: ") if advice else last == "RuntimeError: stops"


def test_modules_say_where_they_come_from_and_run_as_programs() -> None:
    with compat.standing_in():
        spec = importlib.util.find_spec("triton.tools.link")
        assert spec is not None and spec.origin == tilewright.tools.link.__file__
        loader = spec.loader
        assert isinstance(loader, importlib.abc.InspectLoader)
        assert loader.get_code("triton.tools.link") is not None and not loader.is_package("triton.tools.link")
        assert "def link" in (loader.get_source("triton.tools.link") or "")
        with pytest.raises(ImportError):
            loader.get_code("triton.no_such")


def test_programs_keep_files_of_their_own(tmp_path: Path) -> None:
    with compat.standing_in(), tilewright.knobs.cache.scope():
        tilewright.knobs.cache.dir = str(tmp_path)
        from triton.runtime.cache import FileCacheManager, default_cache_dir, get_cache_manager

        class Counted(FileCacheManager):  # pyright: ignore[reportUntypedBaseClass]
            puts = 0

            def put(self, data: bytes | str, filename: str, binary: bool = True) -> str:
                Counted.puts += 1
                return super().put(data, filename, binary)

        key, folder = "00ff", "AD7Q"
        files = Counted(folder)
        assert files.get_file("a.json") is None and files.get_group("both") is None
        first, second = files.put("{}", "a.json"), files.put(b"\x00", "b.bin")
        files.put_group("both", {"a.json": first, "b.bin": second})
        again = get_cache_manager(key)
        assert default_cache_dir() == str(tmp_path) and Counted.puts == 3
        assert again.get_file("a.json") == first == str(tmp_path / folder / "a.json")
        assert Path(first).read_text() == "{}" and Path(second).read_bytes() == b"\x00"
        Path(second).unlink()
        assert again.get_group("both") is None
        assert get_cache_manager("0100").get_file("a.json") is None
        tilewright.knobs.cache.manager_class = Counted
        assert isinstance(get_cache_manager(key), Counted)


def test_what_back_ends_have_in_common() -> None:
    with compat.standing_in():
        from triton.backends.compiler import BaseBackend, GPUTarget
        from triton.compiler.compiler import make_backend

        backend = make_backend(GPUTarget("cpu", 0, 0))
        assert isinstance(backend, BaseBackend) and len(backend.hash()) > 8
        assert backend.parse_options({"num_warps": 8}).num_warps == 8
        letters = [BaseBackend.get_int_specialization(n, align=True) for n in (32, 33)]
        assert letters == ["D", ""] and BaseBackend.get_int_specialization(32, align=False) == ""
        assert BaseBackend.parse_attr("D") == [["tt.divisibility", 16]] and BaseBackend.parse_attr("") == []


@pytest.mark.costly
def test_running_a_script(tmp_path: Path, compiler_children: Children) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(suffix=""))
    result = run(compiler_children, script, "--size", "3")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['--size', '3'] [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0] triton"


@pytest.mark.costly
def test_a_mistake_in_the_kernel_is_shown_without_our_frames(tmp_path: Path, compiler_children: Children) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(suffix=" + missing"))
    result = run(compiler_children, script)
    assert result.returncode == 1
    assert "script.py:12:" in result.stderr
    assert "missing is not defined" in result.stderr
    assert "twice[(1,)](x, BLOCK=8)" in result.stderr
    assert "Traceback" not in result.stderr and "tilewright/runtime" not in result.stderr


def test_a_script_that_is_not_there(tmp_path: Path, compiler_children: Children) -> None:
    result = run(compiler_children, tmp_path / "none.py")
    assert result.returncode == 2
    assert "no such file" in result.stderr


def test_kernels_that_are_interpreted() -> None:
    import numpy as np

    import tilewright.language as tl

    def triple(x_ptr, BLOCK: tl.constexpr):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        offsets = tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 3)

    with compat.standing_in():
        import triton.runtime.interpreter as interpreter
        from triton.runtime.interpreter import InterpretedFunction

    kernel = tilewright.jit(triple)
    assert not isinstance(kernel, InterpretedFunction)
    with tilewright.knobs.runtime.scope():
        tilewright.knobs.runtime.interpret = True
        assert isinstance(kernel, InterpretedFunction)
    interpreted = InterpretedFunction(triple)
    assert isinstance(interpreted, InterpretedFunction) and not isinstance(interpreted, type(kernel))
    x = np.ones(4, np.float32)
    assert interpreted[(1,)](x, BLOCK=4).asm.keys() >= {"ttir"} and x.tolist() == [3.0] * 4
    assert interpreted.run(x, grid=(1,), BLOCK=4, warmup=True) is None and x.tolist() == [3.0] * 4
    with pytest.raises(AttributeError, match="no interpreter of Python"):
        _ = interpreter.GridExecutor


def test_the_class_of_hooks() -> None:
    with compat.standing_in():
        from triton.knobs import HookChain

    assert isinstance(tilewright.knobs.runtime.launch_enter_hook, HookChain)
    with pytest.raises(AttributeError, match="no attribute 'memcached'"):
        _ = tilewright.knobs.memcached


def test_names_that_have_another_home() -> None:
    with compat.standing_in():
        from triton.runtime.autotuner import PTXASError
        from triton.runtime.errors import PTXASError as same
        from triton.runtime.jit import ConstexprFunction

    assert PTXASError is same
    assert isinstance(tilewright.constexpr_function(len), ConstexprFunction)


def test_spellings_of_element_types() -> None:
    with compat.standing_in():
        ours = importlib.import_module("triton.runtime.jit").type_canonicalisation_dict
    official = pytest.importorskip("triton._utils", reason="official Triton is not installed")
    assert ours == official.type_canonicalisation_dict


def test_the_data_of_a_wrapper_can_be_set() -> None:
    x = np.arange(4, dtype=np.int8)
    wrapper = tilewright.reinterpret(x, tl.float8e5)
    assert wrapper.data.tobytes() == x.tobytes()
    wrapper.data = wrapper.clone().data
    assert wrapper.data_ptr() == x.ctypes.data


KERNELS_NAMED_AS_TESTS = """
import triton
import triton.language as tl

@triton.jit
def test_kernel(x_ptr, BLOCK: tl.constexpr):
    pass

def test_one():
    assert not hasattr(test_kernel, "__wrapped__")
"""


@pytest.mark.costly
def test_pytest_does_not_collect_kernels(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(KERNELS_NAMED_AS_TESTS)
    (tmp_path / "conftest.py").write_text("from tilewright import compat\ncompat.install()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 0 and "1 passed" in result.stdout, result.stdout
