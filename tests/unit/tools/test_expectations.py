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
    Diagnostic("error", 1, "first"),
    Diagnostic("error", 3, "second"),
    Diagnostic("remark", 4, "left alone"),
    Diagnostic("error", 7, "third"),
    Diagnostic("error", 0, "no place"),
]


def test_places_are_relative_to_the_comment() -> None:
    assert find_expectations(TEXT) == EXPECTED


def test_all_present() -> None:
    actual = [Diagnostic(item.severity, item.line, f"well, {item.text} it is") for item in EXPECTED]
    assert check_expectations(EXPECTED, actual) == []


def test_wrong_line_is_both_unexpected_and_missing() -> None:
    complaints = check_expectations([Diagnostic("error", 1, "first")], [Diagnostic("error", 2, "first")])
    assert complaints == [
        "2:1: error: unexpected error: first",
        '1:1: error: expected error "first" was not produced',
    ]


def test_what_came_is_said_without_its_own_place() -> None:
    text = "a.mlir:2:3: error: 'func.func' op redefinition of symbol named 'g'\n    func.func @g()\n    ^"
    assert check_expectations([], [Diagnostic("error", 2, text)]) == [
        "2:1: error: unexpected error: 'func.func' op redefinition of symbol named 'g'"
    ]


def test_an_expectation_matches_once() -> None:
    twice = [Diagnostic("error", 1, "first")] * 2
    assert check_expectations(twice[:1], twice) == ["1:1: error: unexpected error: first"]


def test_remarks_count_only_where_one_is_expected() -> None:
    remark = Diagnostic("remark", 2, "odd")
    assert check_expectations([], [remark]) == []
    assert check_expectations([Diagnostic("remark", 3, "other")], [remark]) == [
        "2:1: error: unexpected remark: odd",
        '3:1: error: expected remark "other" was not produced',
    ]
