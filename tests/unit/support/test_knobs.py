"""The table of switches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright import knobs as groups
from tilewright.support import knobs
from tilewright.support.disk_cache import cache_directory
from tilewright.support.errors import KnobError


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for knob in knobs.KNOBS:
        monkeypatch.delenv(knob.env, raising=False)
        if knob.triton_env:
            monkeypatch.delenv(knob.triton_env, raising=False)
    knobs.reload()
    yield
    monkeypatch.undo()
    knobs.reload()


def test_defaults_have_the_type_they_declare() -> None:
    for knob in knobs.KNOBS:
        assert isinstance(knob.default, knob.kind), knob.name
        assert knobs.get(knob.name) == knob.default
        assert knob.doc.endswith(".")


def test_names_and_variables_are_unique() -> None:
    variables = [name for knob in knobs.KNOBS for name in (knob.env, knob.triton_env) if name]
    assert len(set(variables)) == len(variables)


def test_environment_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_NUM_THREADS", "3")
    assert knobs.get("num_threads") == 3
    monkeypatch.setenv("TILEWRIGHT_NUM_THREADS", "4")
    assert knobs.get("num_threads") == 3
    knobs.reload()
    assert knobs.get("num_threads") == 4


def test_what_programs_change_while_they_run_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in Triton: `os.environ["TRITON_CACHE_DIR"] = ...` after the first launch, as PyTorch's `fresh_cache` does."""
    assert knobs.ask_again("cache_dir") == "" and not groups.autotuning.print
    before = knobs.generation
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "first"))
    assert cache_directory() == tmp_path / "first" and groups.cache.dir == str(tmp_path / "first")
    assert knobs.generation > before and knobs.get("cache_dir") == str(tmp_path / "first")
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    assert groups.autotuning.print
    with knobs.scope(cache_dir=str(tmp_path / "set")), groups.cache.scope():
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "second"))
        assert cache_directory() == tmp_path / "set"
    assert cache_directory() == tmp_path / "second"
    knobs.set_value("cache_dir", str(tmp_path / "set"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "third"))
    assert cache_directory() == tmp_path / "set"
    knobs.restore("cache_dir")
    assert cache_directory() == tmp_path / "third"


def test_ours_comes_before_tritons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    assert knobs.get("cache_dir") == "/theirs"
    knobs.reload()
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", "/ours")
    assert knobs.get("cache_dir") == "/ours"


@pytest.mark.parametrize(("text", "value"), [("1", True), ("on", True), ("TRUE", True), ("0", False), ("", False)])
def test_booleans(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("TILEWRIGHT_VERIFY_EACH", text)
    assert knobs.get("verify_each") is value


def test_words_are_split_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_SANITIZE", "bounds, race")
    assert knobs.get("sanitize") == ("bounds", "race")
    knobs.reload()
    monkeypatch.setenv("TILEWRIGHT_SANITIZE", "bound")
    with pytest.raises(KnobError, match="TILEWRIGHT_SANITIZE: 'bound' is not one of 'bounds', 'race', 'init'"):
        knobs.get("sanitize")


def test_bad_values_name_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_NUM_THREADS", "many")
    with pytest.raises(KnobError, match="TILEWRIGHT_NUM_THREADS='many': expected an integer"):
        knobs.get("num_threads")


def test_unknown_switches_are_errors_with_the_nearest_name() -> None:
    with pytest.raises(KnobError, match="did you mean 'num_threads'"):
        knobs.get("num_thread")


def test_scope_restores_also_after_an_error() -> None:
    with pytest.raises(RuntimeError), knobs.scope(num_threads=2, sanitize=("init",)):
        assert knobs.get("num_threads") == 2
        raise RuntimeError
    assert knobs.get("num_threads") == 0
    assert knobs.get("sanitize") == ()


def test_scope_checks_before_it_sets() -> None:
    with pytest.raises(KnobError), knobs.scope(num_threads=2, sanitize=("bogus",)):
        pass
    assert knobs.get("num_threads") == 0


def test_code_key_changes_with_the_switches_that_change_code() -> None:
    before = knobs.code_key()
    with knobs.scope(num_threads=2):
        assert knobs.code_key() == before
    with knobs.scope(sanitize=("bounds",)):
        assert knobs.code_key() != before


def test_table_lists_every_switch() -> None:
    table = knobs.render_table()
    assert all(f"`{knob.env}`" in table for knob in knobs.KNOBS)
    assert len({line.count("|") for line in table.strip().split("\n")}) == 1


@pytest.mark.parametrize("name", ["num_threads", "cache_size"])
def test_numbers_that_mean_nothing_are_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    variable = f"TILEWRIGHT_{name.upper()}"
    monkeypatch.setenv(variable, "-3")
    with pytest.raises(KnobError, match=f"{variable}=-3: expected at least 0; .*0 means"):
        knobs.get(name)
    with pytest.raises(KnobError, match=f"{name}=-1: expected at least 0"):
        knobs.set_value(name, -1)


def test_unknown_variables_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_NUM_THREAD", "3")
    monkeypatch.setenv("TILEWRIGHT_XYZZY", "3")
    monkeypatch.setenv("TILEWRIGHT_TEST_ANYTHING", "3")
    with pytest.warns(UserWarning, match="TILEWRIGHT_NUM_THREAD has no effect.*mean TILEWRIGHT_NUM_THREADS") as told:
        assert knobs.get("num_threads") == 0
        knobs.reload()
        assert knobs.get("num_threads") == 0
    assert [str(warning.message).split()[3] for warning in told] == ["TILEWRIGHT_NUM_THREAD", "TILEWRIGHT_XYZZY"]
