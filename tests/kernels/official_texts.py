"""Triton IR that official Triton's front end makes of the corpus, by version.

Asked for in another process, `python official_texts.py OUT.json`, and kept in the cache folder of pytest.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import corpus_oracle

from suite import official_packages

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "official-texts"


@dataclass(frozen=True)
class Answer:
    """The text of a case, or why the front end refuses it."""

    text: str | None
    refusal: str | None = None


@cache
def answers(version: str) -> dict[str, Answer]:
    """What a version makes of every case, by name. Files that the version cannot even execute have none."""
    file = CACHE / f"{version}-{_fingerprint()}.json"
    if not file.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        command = [sys.executable, __file__, str(part)]
        subprocess.run(command, check=True, capture_output=True, text=True, env=official_packages.environment(version))
        part.replace(file)
    return {name: Answer(*entry) for name, entry in json.loads(file.read_text()).items()}


def _fingerprint() -> str:
    sources = [path.read_text() for path in sorted(corpus_oracle.CORPUS.glob("*.py"))]
    sources += [Path(module).read_text() for module in (corpus_oracle.__file__, __file__)]
    return hashlib.sha256("".join(sources).encode()).hexdigest()[:16]


def _answer(case: corpus_oracle.Case) -> tuple[str | None, str | None]:
    try:
        return corpus_oracle.official_text(case), None
    except Exception as error:
        return None, str(error)


def main() -> None:
    """Be the process that is asked."""
    files = {file for file in corpus_oracle.files() if corpus_oracle.is_known_to_official(file)}
    found = {str(case): _answer(case) for case in corpus_oracle.cases() if case.file in files}
    Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
