"""`--verify-diagnostics`: what is expected has to come, where it is expected, and nothing else."""

from __future__ import annotations

from tilewright.tools.expectations import Diagnostic, check_expectations, find_expectations

TEXT = """line one // expected-error {{first}}
// expected-error@+1 {{second}}
line three
line four
// expected-remark@-1 {{left alone}}
// expected-error@below {{third}} expected-error@unknown {{no place}}
line seven
"""

EXPECTED = [
    Diagnostic("error", 1, "first", col=13, at=1),
    Diagnostic("error", 3, "second", col=4, at=2),
    Diagnostic("remark", 4, "left alone", col=4, at=5),
    Diagnostic("error", 7, "third", col=4, at=6),
    Diagnostic("error", 0, "no place", col=35, at=6),
]


def test_places_are_relative_to_the_comment() -> None:
    assert find_expectations(TEXT) == EXPECTED


def test_all_present() -> None:
    actual = [Diagnostic(item.severity, item.line, f"well, {item.text} it is") for item in EXPECTED]
    assert check_expectations(EXPECTED, actual) == []


def complaints(expected: list[Diagnostic], actual: list[Diagnostic]) -> list[str]:
    return [complaint.render("a.mlir", TEXT.split("\n")) for complaint in check_expectations(expected, actual)]


def test_wrong_line_is_both_unexpected_and_missing() -> None:
    assert complaints(EXPECTED[:1], [Diagnostic("error", 2, "first", col=4)]) == [
        "a.mlir:2:4: error: unexpected error: first\n// expected-error@+1 {{second}}\n   ^",
        'a.mlir:1:13: error: expected error "first" was not produced\n'
        "line one // expected-error {{first}}\n            ^~~~~",
    ]


def test_what_came_is_said_without_its_own_place() -> None:
    text = "a.mlir:2:3: error: 'func.func' op redefinition of symbol named 'g'\n    func.func @g()\n    ^"
    assert complaints([], [Diagnostic("error", 2, text)]) == [
        "a.mlir:2:1: error: unexpected error: 'func.func' op redefinition of symbol named 'g'"
    ]


def test_an_expectation_matches_once() -> None:
    twice = [Diagnostic("error", 1, "first")] * 2
    assert complaints(twice[:1], twice) == ["a.mlir:1:1: error: unexpected error: first"]


def test_remarks_and_notes_count_only_where_one_is_expected() -> None:
    for severity in ("remark", "note"):
        odd = Diagnostic(severity, 2, "odd")
        assert complaints([], [odd]) == []
        assert complaints([Diagnostic(severity, 3, "other", at=3)], [odd]) == [
            f"a.mlir:2:1: error: unexpected {severity}: odd",
            f'a.mlir:3:1: error: expected {severity} "other" was not produced',
        ]


def test_patterns_stand_in_braces_of_their_own() -> None:
    (expected,) = find_expectations("// expected-error-re {{use of {{[a-z]+}} (value)}}")
    assert expected.is_pattern and expected.text == "use of {{[a-z]+}} (value)"
    assert complaints([expected], [Diagnostic("error", 1, "use of undeclared (value)")]) == []
    assert len(complaints([expected], [Diagnostic("error", 1, "use of 7 (value)")])) == 2
