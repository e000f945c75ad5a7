"""Names and modules that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import math
import pkgutil

import pytest

from tilewright.support import late


def test_names_are_found_where_they_were_bound() -> None:
    find = late.late_names("made.up", {"pi": "math:pi", "numbers": "math"})
    late.bind_names("made.up", {"tau": "math:tau"})
    assert late.names_of("made.up") == ["pi", "numbers", "tau"]
    assert (find("pi"), find("numbers"), late.find_name("made.up", "tau")) == (math.pi, math, math.tau)
    with pytest.raises(AttributeError, match=r"^module 'made.up' has no attribute 'e'$"):
        find("e")


def test_a_use_means_the_modules_that_it_is_bound_to() -> None:
    late.bind_modules("made up", "math")
    assert late.modules_of("made up") == (math,)
    assert [module.__name__ for module in late.modules_of("dialects")] == ["tilewright.dialects"]


def test_packages_have_the_names_that_only_layers_above_them_know() -> None:
    from tilewright import compat, compiler, runtime

    assert compiler.make_backend.__module__ == "tilewright.compat.compiler"
    assert runtime.cache.__name__ == "tilewright.compat.cache"
    assert {"compile", "make_backend", "ASTSource"} <= set(compiler.__all__)
    assert compiler.compiler.__name__.startswith(compat.__name__)


def test_no_submodule_takes_the_place_of_a_name() -> None:
    """Importing a submodule sets it as an attribute of its package, before `__getattr__` is asked."""
    import tilewright.compiler
    import tilewright.runtime

    for package in (tilewright, tilewright.compiler, tilewright.runtime):
        submodules = {module.name for module in pkgutil.iter_modules(package.__path__)}
        homes = late.homes_of(package.__name__)
        for name in submodules & homes.keys():
            assert homes[name] == f"{package.__name__}.{name}", f"{name} of {package.__name__} is a module, too"


def test_compiling_leaves_triton_compiler_compile_callable() -> None:
    importlib.import_module("tilewright.compiler.compilation")
    from tilewright import compiler

    assert callable(compiler.compile)
