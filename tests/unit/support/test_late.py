"""Names and modules that are imported when they are first asked for."""

from __future__ import annotations

import math

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
