"""`dataclass` of this project against the standard library's: what classes and their objects do is the same."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from tilewright.support import records

Decorator = Callable[..., Any]
OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"eq": False},
    {"frozen": True, "eq": False},
    {"kw_only": True},
    {"frozen": True, "slots": True, "kw_only": True},
]


def classes(dataclass: Decorator, options: dict[str, bool]) -> list[type[Any]]:
    """A class with fields of every kind, and what derives from it."""

    @dataclass(**options)
    class Point:
        """Documented."""

        x: int
        y: float = 1.5
        hidden: list[int] = field(default_factory=list[int], repr=False, compare=False, hash=False)
        kind: ClassVar[str] = "point"

        def moved(self) -> Any:
            return dataclasses.replace(self, x=self.x + 1)

    @dataclass(**options)
    class Named(Point):
        name: str = field(default="n", kw_only=True)
        y: float = 2.5

    @dataclass(**options)
    class Own:
        value: int = 0
        twice: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", 2 * self.value)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.value == other.value

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    @dataclass(**options)
    class Empty:
        pass

    return [Point, Named, Own, Empty]


@pytest.fixture(params=OPTIONS, ids=lambda options: "+".join(options) or "plain")
def pairs(request: pytest.FixtureRequest) -> list[tuple[type[Any], type[Any]]]:
    """Each class, made by the standard library's decorator and by ours."""
    return list(
        zip(classes(dataclasses.dataclass, request.param), classes(records.dataclass, request.param), strict=True)
    )


def objects(cls: type[Any]) -> list[Any]:
    """Some objects of one of the classes; two of them are equal."""
    if not dataclasses.fields(cls):
        return [cls(), cls()]
    first = dataclasses.fields(cls)[0].name
    return [cls(**{first: 1}), cls(**{first: 1}), cls(**{first: 2}), cls(**{first: True})]


def outcome(action: Callable[[], Any]) -> Any:
    """What an action gives, or the kind of its error."""
    try:
        return action()
    except Exception as error:
        return type(error)


def test_classes_are_the_same(pairs: list[tuple[type[Any], type[Any]]]) -> None:
    for theirs, ours in pairs:
        assert dataclasses.is_dataclass(ours)
        shape = [(f.name, f.type, f.default, f.init, f.kw_only) for f in dataclasses.fields(theirs)]
        assert [(f.name, f.type, f.default, f.init, f.kw_only) for f in dataclasses.fields(ours)] == shape
        assert ours.__match_args__ == theirs.__match_args__
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
        assert ours.__qualname__ == theirs.__qualname__
        assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
        assert (ours.__hash__ is None) == (theirs.__hash__ is None)
        assert getattr(ours, "y", None) == getattr(theirs, "y", None) or "__slots__" in vars(ours)


def test_objects_are_the_same(pairs: list[tuple[type[Any], type[Any]]]) -> None:
    for theirs, ours in pairs:
        for a, b in zip(objects(theirs), objects(ours), strict=True):
            assert repr(a) == repr(b)
            assert dataclasses.asdict(a) == dataclasses.asdict(b)
            if theirs.__hash__ is not object.__hash__:
                assert outcome(lambda a=a: hash(a)) == outcome(lambda b=b: hash(b))
            equal = [a == other for other in objects(theirs)]
            assert [b == other for other in objects(ours)] == equal
            assert (a == b, b == a) == (False, False)
            assert dataclasses.asdict(copy.deepcopy(b)) == dataclasses.asdict(b)
            for name in (
                "y",
                "unknown",
            ):  # Python's own raises TypeError for the latter where there are slots
                assert (outcome(lambda a=a, n=name: setattr(a, n, 1)) is None) == (
                    outcome(lambda b=b, n=name: setattr(b, n, 1)) is None
                )
                assert (outcome(lambda a=a, n=name: delattr(a, n)) is None) == (
                    outcome(lambda b=b, n=name: delattr(b, n)) is None
                )


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2), (1, 2, [3]), (1, 2, [3], 4), ("x",)])
def test_constructors_take_the_same(pairs: list[tuple[type[Any], type[Any]]], arguments: tuple[Any, ...]) -> None:
    for theirs, ours in pairs:
        expected = outcome(lambda cls=theirs: dataclasses.asdict(cls(*arguments)))
        for _ in range(2):  # the second call is of the constructor that the first one wrote
            assert outcome(lambda cls=ours: dataclasses.asdict(cls(*arguments))) == expected


def test_default_lists_are_made_anew() -> None:
    point = classes(records.dataclass, {})[0]
    point(1).hidden.append(3)
    assert point(1).hidden == []
    assert point(1).moved().x == 2


@records.dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickles find."""

    number: int
    inner: tuple[int, ...] = ()


def test_frozen_objects_in_slots_are_pickled_and_copied() -> None:
    kept = Kept(3, (4,))
    assert pickle.loads(pickle.dumps(kept)) == kept
    assert copy.copy(kept) == kept
    with pytest.raises(FrozenInstanceError):
        kept.number = 4  # pyright: ignore[reportAttributeAccessIssue]


def test_a_class_may_derive_either_way() -> None:
    @dataclasses.dataclass(frozen=True)
    class Theirs(Kept):
        more: int = 0

    @records.dataclass(frozen=True)
    class Ours(Theirs):
        most: int = 0

    assert repr(Ours(1, (2,), 3, 4)).endswith("Ours(number=1, inner=(2,), more=3, most=4)")
    assert Ours(1) == Ours(1) != Ours(2)


def test_a_signature_is_that_of_the_constructor_which_is_called() -> None:
    class Inherits(Kept):
        pass

    class Writes(Kept):
        def __init__(self, text: str) -> None:
            super().__init__(int(text))

    assert list(inspect.signature(Inherits).parameters) == ["number", "inner"]
    assert list(inspect.signature(Writes).parameters) == ["text"]
    assert Writes("4").number == Inherits(4).number


def test_frozen_and_changeable_do_not_mix() -> None:
    class Derived(Kept):
        more: int = 0

    with pytest.raises(TypeError, match="all are frozen, or none"):
        records.dataclass(Derived)


def test_mutable_defaults_and_later_values_are_refused() -> None:
    class Listed:
        entries: list[int] = []

    class Later:
        values: dataclasses.InitVar[int]

    with pytest.raises(ValueError, match="mutable default"):
        records.dataclass(Listed)
    with pytest.raises(TypeError, match="no InitVar"):
        records.dataclass(Later)


def test_an_abstract_method_may_be_made_by_the_decorator() -> None:
    class Base(ABC):
        @abstractmethod
        def __eq__(self, other: object) -> bool: ...

    @records.dataclass
    class Made(Base):
        x: int

    assert Made(1) == Made(1)


def test_a_text_of_an_object_that_holds_itself_ends() -> None:
    @records.dataclass
    class Node:
        next: Any = None

    node = Node()
    node.next = node
    assert repr(node).endswith("Node(next=...)")


def test_other_modules_are_imported_with_quick_classes() -> None:
    with records.quick_dataclasses():
        made = dataclasses.dataclass
    assert dataclasses.dataclass is not made

    @made(frozen=True, unsafe_hash=False)
    class Quick:
        x: int

    @made(order=True)
    class Ordered:
        x: int

    @made
    class Later:
        x: dataclasses.InitVar[int]
        y: int = 0

        def __post_init__(self, x: int) -> None:
            self.y = x

    @made(init=False, repr=False)
    class Bare:
        x: int = 3

    assert hasattr(Quick.__init__, "is_on_demand")
    assert Quick(1) == Quick(1)
    assert Ordered(1) < Ordered(2)
    assert Later(5).y == 5
    assert Bare().x == 3
    assert (Bare.__init__, Bare.__repr__) == (object.__init__, object.__repr__)
