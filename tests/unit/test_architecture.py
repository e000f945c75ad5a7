"""ARCHITECTURE.md tells the truth: its table of stages is the code's, and imports go down its list of folders only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tilewright"
TEXT = (ROOT / "ARCHITECTURE.md").read_text()

ORDER = tuple(re.findall(r"^\| `(\w+)/` \|", TEXT, flags=re.M))

#: Modules beside the folders, and where they stand in the list.
TOP_LEVEL = {"__init__": "tools", "__main__": "tools", "knobs": "tools", "testing": "runtime"}

#: Folders in which what an op does is said by its class, its traits and its dialect, not by pieces of its name.
FOLLOW_NO_NAMES = ("analysis", "dialects", "lowering", "reference", "transforms")

#: Third-party packages that only some folders may import.
RESTRICTED = {"llvmlite": {"codegen", "targets"}, "cuda": {"targets"}, "rich": {"tools", "runtime"}}


#: What every folder may import of xDSL; the rest is for `ir/` and `dialects/`, which work around its holes.
PUBLIC_XDSL = {
    *("xdsl", "xdsl.ir", "xdsl.ir.affine", "xdsl.dialects", "xdsl.dialects.builtin", "xdsl.rewriter", "xdsl.traits"),
    "xdsl.utils.exceptions",
}

#: Who else uses more of it.
INNER_XDSL = {
    ("analysis", "xdsl.irdl"): "the class of ops, as a type",
    ("lowering", "xdsl.irdl"): "the class of ops, as a type",
    ("tools", "xdsl.context"): "the registry of dialects, as a type",
    ("transforms", "xdsl.pattern_rewriter"): "what rules are given, as a type",
    ("transforms", "xdsl.utils.hints"): "a test of attributes with parameters",
}


def modules() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).parts
        yield path, parts[0] if len(parts) > 1 else TOP_LEVEL[path.stem]


@cache
def imports_and_strings(path: Path) -> tuple[tuple[tuple[int, str], ...], frozenset[str]]:
    """What the tests ask of a file, which is parsed once: its imports with their lines, and its strings."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    strings = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(_find_imports(nodes)), frozenset(strings)


def imports(path: Path) -> tuple[tuple[int, str], ...]:
    return imports_and_strings(path)[0]


def _find_imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module == "tilewright":
                yield from ((node.lineno, f"tilewright.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def module_names(path: Path) -> set[str]:
    """The modules of the package that a file names in strings."""
    found = (re.fullmatch(r"(tilewright(?:\.\w+)+)(?::\w+)?", text) for text in imports_and_strings(path)[1])
    names = {match[1] for match in found if match}
    return {name for name in names if (PACKAGE.parent / name.replace(".", "/")).is_dir() or is_file(name)}


def is_file(module: str) -> bool:
    return (PACKAGE.parent / f"{module.replace('.', '/')}.py").is_file()


def folder_of(module: str) -> str:
    parts = module.split(".")
    if len(parts) == 1:
        return "tools"
    return TOP_LEVEL.get(parts[1], parts[1])


def test_every_folder_is_in_the_list() -> None:
    present = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert present == set(ORDER)


@pytest.mark.costly
def test_imports_go_down_the_list_only() -> None:
    rank = {folder: index for index, folder in enumerate(ORDER)}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {folder} imports {name}"
        for path, folder in modules()
        for line, name in imports(path)
        if name.startswith("tilewright") and rank[folder_of(name)] > rank[folder]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.costly
def test_modules_named_by_strings_go_down_the_list_too() -> None:
    """`import_module("tilewright.x")`, and tables of such names, are imports; what a layer needs of one above it,
    `tilewright/__init__.py` binds (`support/late.py`)."""
    rank = {folder: index for index, folder in enumerate(ORDER)}
    wrong = [
        f"{path.relative_to(ROOT)}: {folder} names {name}"
        for path, folder in modules()
        for name in module_names(path)
        if rank[folder_of(name)] > rank[folder]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.costly
def test_restricted_packages_stay_where_they_belong() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {folder} imports {name}"
        for path, folder in modules()
        for line, name in imports(path)
        if folder not in RESTRICTED.get(name.split(".")[0], {folder})
    ]
    assert not wrong, "\n".join(wrong)


def test_dataclasses_are_our_own() -> None:
    of_library = re.compile(r"^from dataclasses import .*\bdataclass\b", flags=re.M)
    wrong = [str(path.relative_to(ROOT)) for path, _ in modules() if of_library.search(path.read_text())]
    assert not wrong, "import it from tilewright.support.records"


@pytest.mark.costly
def test_inner_modules_of_xdsl_stay_in_ir_and_dialects() -> None:
    found = {
        (folder, name)
        for path, folder in modules()
        for _, name in imports(path)
        if name.split(".")[0] == "xdsl" and folder not in ("ir", "dialects") and name not in PUBLIC_XDSL
    }
    assert found == set(INNER_XDSL)


@pytest.mark.parametrize(
    "module", ["tilewright", "tilewright.language", "tilewright.runtime.jit", "tilewright.testing"]
)
def test_importing_the_package_imports_no_compiler(module: str) -> None:
    """A cached launch needs neither xDSL nor LLVM's IR classes; scripts import these modules on every start."""
    code = (
        f"import sys, {module}\n"
        "heavy = sorted({name.split('.')[0] for name in sys.modules} & {'xdsl', 'llvmlite', 'torch', 'rich'})\n"
        "print(*heavy)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


PREFIXES = ("triton-nvidia-gpu-", "triton-nvidia-", "tritongpu-", "triton-", "linalg-")
"""What the names of files leave out of flags."""


def test_passes_are_in_files_that_bear_their_flags() -> None:
    """`--triton-licm` is found in licm.py; passes that only print share a file."""
    from tilewright.ir.passes import available_passes

    wrong: list[str] = []
    for flag, cls in available_passes().items():
        if cls.__module__.startswith("tilewright."):
            plain = (
                flag
                if flag.startswith("test-print-")
                else next((flag.removeprefix(prefix) for prefix in PREFIXES if flag.startswith(prefix)), flag)
            )
            stem = cls.__module__.rpartition(".")[2].replace("_", "")
            expected = {name.replace("-", "").lower() for name in (flag, plain)}
            if stem not in expected and not (plain.startswith("test-print-") and stem == "testprint"):
                wrong.append(f"--{flag} is in {cls.__module__}")
    assert not wrong, "\n".join(wrong)


def test_nothing_follows_from_how_an_ops_name_begins() -> None:
    paths = [path for folder in FOLLOW_NO_NAMES for path in sorted((PACKAGE / folder).rglob("*.py"))]
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}"
        for path in paths
        if ".name." in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _takes_name_of_dialect(node)
    ]
    assert not wrong, "\n".join(wrong)


def _takes_name_of_dialect(call: ast.Call) -> bool:
    """Return whether a call is like `op.name.startswith("arith.")`."""
    match call:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Attribute(attr="name"),
                attr="startswith" | "removeprefix" | "partition" | "split",
            ),
            args=[argument, *_],
        ):
            return any(
                isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.endswith(".")
                for part in ast.walk(argument)
            )
        case _:
            return False


def test_the_table_of_stages_is_the_code() -> None:
    from tilewright.ir.stages import STAGES

    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| ([a-z, ]+) \|", TEXT, flags=re.M)
    documented = {name: (key, {dialect.strip() for dialect in dialects.split(",")}) for name, key, dialects in rows}
    actual = {stage.name: (stage.asm_key, set(stage.dialects) - {"builtin"}) for stage in STAGES.values()}
    assert documented == actual
