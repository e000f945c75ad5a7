"""Mistyped commands and flags, completion scripts, and the table of switches."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tilewright.support import knobs
from tilewright.tools.cli import main, make_parser
from tilewright.tools.completion import SHELLS, completion_script


@pytest.mark.parametrize(
    ("words", "usage", "hint"),
    [
        (["expolre"], "usage: tilewright [", "did you mean 'explore'?"),
        (["cache", "lst"], "usage: tilewright cache", "did you mean 'list'?"),
        (["layout", "#ttg", "4", "--bist=8"], "usage: tilewright layout", "--bist=8 (did you mean --bits?)"),
        (["knobs", "--zzz"], "usage: tilewright knobs", "unrecognized arguments: --zzz"),
        (["fuzz", "--tiem", "3"], "usage: tilewright fuzz", "--tiem"),
    ],
)
def test_mistypes_are_recognised(words: list[str], usage: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(usage) and hint in said


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_name_everything(shell: str) -> None:
    parser = make_parser()
    script = completion_script(shell, parser)
    for name, command in parser.command_parsers().items():
        assert name in script
        assert all(flag in script for flag in command.flags())


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["tilewright", "expl"], ["explore", "explain"]),
        (["tilewright", "cache", "cl"], ["clear"]),
        (["tilewright", "layout", "--b"], ["--bits"]),
    ],
)
def test_bash_completes(line: list[str], expected: list[str], tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(completion_script("bash", make_parser()))
    words = " ".join(line)
    ask = f'source {script}; COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _tilewright; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected


def test_the_table_of_switches_shows_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with knobs.scope(num_threads=3):
        assert main(["knobs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    threads = next(line for line in lines if line.startswith("TILEWRIGHT_NUM_THREADS"))
    assert threads.split()[1] == "3"
    assert {knob.env for knob in knobs.KNOBS} <= {line.split()[0] for line in lines if line.strip()}
