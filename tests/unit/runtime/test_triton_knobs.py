"""`triton.knobs`: the names of official Triton, and what setting them does here."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from suite import official_packages
from tilewright import knobs
from tilewright.compat.native import libtriton
from tilewright.compiler.listening import CompileTimes
from tilewright.compiler.stage_files import StageFiles
from tilewright.support import knobs as table
from tilewright.support.cache_managers import base32
from tilewright.support.errors import KnobError, NoAssemblerError
from tilewright.support.hook_chain import HookChain

OFFICIAL = """
import json
from triton import knobs
groups = {name: value for name, value in vars(knobs).items() if isinstance(value, knobs.base_knobs)}
plain = lambda value: value if isinstance(value, (bool, int, str, type(None))) else "..."
hidden = ("knob_descriptors", "knobs", "copy", "reset", "scope", "get_triton_dir", "fp_fusion_enabled")
def names(group):
    return [n for n in dir(group) if not n.startswith("_") and n not in hidden]
def read(group, name):
    try:
        return plain(getattr(group, name))
    except RuntimeError:
        return "..."
print(json.dumps({name: {n: read(group, n) for n in names(group)} for name, group in groups.items()}))
"""

MACHINE = {"cupti_lib_blackwell_dir", "dir", "home_dir", "dump_dir", "override_dir", "cupti_lib_dir", "libdevice_path"}
"""What is a place on this machine."""


@pytest.mark.parametrize("version", [official_packages.OLDEST, official_packages.NEWEST])
def test_every_switch_of_official_triton(version: str) -> None:
    """The same groups, all names in them, and of the newest no other names, and its values where nothing is set."""
    if not official_packages.is_available(version):
        pytest.skip(f"official Triton {version} is a test-only dependency and not installed")
    import json

    inherited = official_packages.environment(version)
    bare = {name: value for name, value in inherited.items() if not name.startswith("TRITON_")}
    done = subprocess.run([sys.executable, "-c", OFFICIAL], capture_output=True, text=True, check=True, env=bare)
    official: dict[str, dict[str, Any]] = json.loads(done.stdout)
    assert official.keys() == knobs.GROUPS.keys()
    for group, switches in official.items():
        ours = knobs.GROUPS[group]
        names = set(dir(ours)) - {"knobs", "reset", "scope"}
        assert set(switches) <= names, group
        if version == official_packages.OLDEST:
            continue
        assert set(switches) == names, group
        plain = {name: value for name, value in switches.items() if value != "..." and name not in MACHINE}
        assert {name: getattr(ours, name) for name in plain} == plain, group


def test_views_of_our_switches() -> None:
    with knobs.nvidia.scope(), knobs.runtime.scope(), knobs.compilation.scope():
        knobs.runtime.override_arch = "sm90"
        knobs.nvidia.ptxas_options = "--verbose"
        knobs.nvidia.disable_ptxas_opt = True
        knobs.compilation.dump_ir = True
        assert table.get("override_arch") == "sm90" and table.get("ptxas_options") == "--verbose -O0"
        assert table.get("dump_ir") == knobs.cache.dump_dir and knobs.compilation.dump_ir is True
        knobs.nvidia.disable_ptxas_opt = False
        knobs.runtime.override_arch = knobs.env
        assert knobs.nvidia.ptxas_options == "--verbose" and knobs.runtime.override_arch is None
        del knobs.nvidia.ptxas_options
        assert knobs.nvidia.ptxas_options is None
    assert table.get("override_arch") == "" and knobs.compilation.dump_ir is False


def test_switches_without_effect_keep_what_they_are_set_to() -> None:
    with knobs.amd.scope():
        knobs.amd.use_buffer_ops = False
        assert knobs.amd.use_buffer_ops is False and knobs.amd.knobs["use_buffer_ops"] is False
    assert knobs.amd.use_buffer_ops is True
    knobs.build.cc = "clang"
    assert knobs.build.reset().cc is None


def test_switches_that_are_refused() -> None:
    knobs.compilation.override = False
    with pytest.raises(KnobError, match="ir_override"):
        knobs.compilation.override = True
    with pytest.raises(AttributeError, match="no switch 'overide' in this group; it has allow_non_constexpr_globals"):
        knobs.compilation.overide = True
    with pytest.raises(AttributeError, match="no attribute 'redsi'"):
        _ = knobs.redsi


def test_programs_of_the_toolkit(tmp_path: Path) -> None:
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.9, V12.9.86'\n")
    ptxas.chmod(0o755)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(ptxas)
        assert (knobs.nvidia.ptxas.path, knobs.nvidia.ptxas.version) == (str(ptxas), "12.9")
        knobs.nvidia.ptxas = str(tmp_path / "none")
        with pytest.raises(NoAssemblerError):
            _ = knobs.nvidia.ptxas
        assert "ptxas" not in knobs.nvidia.knobs and "dump_nvptx" in knobs.nvidia.knobs


@tilewright.jit
def increment(x_ptr, N: tl.constexpr):
    at = x_ptr + tl.arange(0, N)
    tl.store(at, tl.load(at) + 1)


def test_what_is_told_of_compilations(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    loads: list[tuple[Any, ...]] = []

    def listener(**what: Any) -> None:
        told.append(what)

    with knobs.cache.scope(), knobs.compilation.scope(), knobs.runtime.scope():
        knobs.cache.dir = str(tmp_path)
        knobs.compilation.listener = listener
        knobs.runtime.kernel_load_start_hook.add(lambda *what: loads.append(what))
        knobs.runtime.kernel_load_end_hook = HookChain(reversed=True)
        knobs.runtime.kernel_load_end_hook.add(lambda *what: loads.append(what))
        increment[(1,)](np.zeros(4, np.float32), N=4)
        kernel = increment[(1,)](np.zeros(4, np.float32), N=4)
        again = tilewright.jit(increment.fn)
        again[(1,)](np.zeros(4, np.float32), N=4)
    assert knobs.compilation.listener is None and not knobs.runtime.kernel_load_end_hook.calls
    compiled, found = told
    assert (compiled["cache_hit"], found["cache_hit"]) == (False, True)
    assert compiled["src"].fn is increment and compiled["src"].constants == {(1,): 4}
    assert compiled["metadata"]["hash"] == found["metadata"]["hash"] == kernel.hash
    assert compiled["metadata"]["name"] == "increment" and compiled["metadata"]["num_warps"] == 4
    assert compiled["metadata"]["backend_name"] == "cpu" and compiled["metadata"]["triton_version"] == "3.9.0"
    files = {name: Path(path) for name, path in compiled["metadata_group"].items()}
    assert files.keys() == {f"increment.{stage}" for stage in (*kernel.asm, "json")}
    assert files["increment.ttir"].read_text() == kernel.asm["ttir"]
    assert files["increment.obj"].read_bytes() == kernel.asm["obj"]
    assert json.loads(files["increment.json"].read_text())["target"] == vars(kernel.metadata.target)
    assert dict(found["metadata_group"]) == dict(kernel.metadata_group) == compiled["metadata_group"]
    times: CompileTimes = compiled["times"]
    assert [stage for stage, _ in times.lowering_stages] == ["ttir", "structured", "linalg", "loops", "obj"]
    assert times.ir_initialization > 0 and all(duration > 0 for _, duration in times.lowering_stages)
    assert times.total == times.ir_initialization + times.total_lowering + times.store_results
    assert found["times"].lowering_stages == [] and found["times"].store_results == 0
    module, function, name, loaded_files, key = loads[0]
    assert (module, function, name, key) == (None, None, "increment", kernel.hash)
    assert loaded_files == compiled["metadata_group"] and loads[1][0] is kernel.function
    assert len(loads) == 4


def test_a_stage_that_cannot_be_had_has_no_file(tmp_path: Path) -> None:
    class Texts(dict[str, str]):
        def __getitem__(self, stage: str) -> str:
            if stage == "cubin":
                raise NoAssemblerError("none")
            return super().__getitem__(stage)

    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        files = StageFiles("ab" * 32, "add", {}, Texts(ttir="module {}", cubin=""))
        assert files.keys() == {"add.ttir", "add.json"}
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        (tmp_path / base32("cd" * 32)).write_text("in the way")
        with pytest.warns(UserWarning, match="the files of kernel 'add' cannot be written"):
            assert dict(StageFiles("cd" * 32, "add", {}, {"ttir": "module {}"})) == {}


def test_what_the_native_module_says_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in (("ON", "True"), ("OFF", "off"), ("NONE", "")):
        monkeypatch.setenv(name, said)
    assert [libtriton.getenv_bool(name, True) for name in ("ON", "OFF", "NONE", "ABSENT")] == [True, False, False, True]
    assert (libtriton.getenv("OFF"), libtriton.getenv("ABSENT"), libtriton.getenv("ABSENT", "x")) == ("off", None, "x")
    with table.scope(sanitize=("bounds",)):
        assert libtriton.get_cache_invalidating_env_vars()["TILEWRIGHT_SANITIZE"] == "('bounds',)"
    with table.scope(sanitize=()):
        assert "TILEWRIGHT_SANITIZE" not in libtriton.get_cache_invalidating_env_vars()


def test_the_profiler_can_be_kept_from_starting() -> None:
    profiler = importlib.import_module("tilewright.compat.profiler")
    with knobs.proton.scope():
        knobs.proton.disable = True
        assert profiler.start("never") is None
        profiler.finalize()
    assert not Path("never.hatchet").exists()
