"""Partitions of a program that run at the same time: one at a time, in turns, each until it has to wait.

Every partition has a thread of its own, of which one runs. Who cannot go on passes the turn to the next; when
nothing can go on, the program hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from tilewright.reference.machine import Frame
from tilewright.reference.memory import AccessError


class Turns:
    """Whose turn it is. Task 0 is the thread that made this."""

    def __init__(self, count: int) -> None:
        self.changed = threading.Condition()
        self.current = 0
        self.live = list(range(count))
        self.stuck: set[int] = set()
        self.failure: BaseException | None = None

    def pass_on(self) -> bool:
        """Let the others run, until it is this task's turn again; False if all of them wait."""
        with self.changed:
            mine = self.current
            self.stuck.add(mine)
            if self.stuck.issuperset(self.live):
                return False
            self._go_on(mine)
            self.changed.wait_for(lambda: self.current == mine or self.failure is not None)
            if self.failure is not None:
                raise AccessError("another partition failed")
            return True

    def went_on(self) -> None:
        """Record that this task's wait is over; it may free others."""
        self.stuck.clear()

    def run(self, task: int, body: Callable[[], object]) -> None:
        """A partition, in a thread of its own."""
        with self.changed:
            self.changed.wait_for(lambda: self.current == task or self.failure is not None)
        try:
            if self.failure is None:
                with np.errstate(all="ignore"):
                    body()
        except BaseException as error:
            self.failure = self.failure or error
        with self.changed:
            self.stuck.clear()
            self._go_on(task)
            self.live.remove(task)

    def finish(self) -> None:
        """Task 0 is done: run the others to their end."""
        with self.changed:
            self.stuck.clear()
            self._go_on(0)
            self.live.remove(0)

    def _go_on(self, task: int) -> None:
        self.current = self.live[(self.live.index(task) + 1) % len(self.live)]
        self.changed.notify_all()


def run_together(
    frame: Frame, first: Callable[[], Sequence[object]], others: Sequence[Callable[[], object]]
) -> list[object]:
    """Run tasks at the same time; gives what the first one gives."""
    turns = Turns(1 + len(others))
    state = frame.machine.program_state
    state[Turns] = turns
    threads = [threading.Thread(target=turns.run, args=(1 + n, body), daemon=True) for n, body in enumerate(others)]
    for thread in threads:
        thread.start()
    results: list[object] = []
    try:
        results = list(first())
    except BaseException as error:
        turns.failure = turns.failure or error
    turns.finish()
    for thread in threads:
        thread.join()
    del state[Turns]
    if turns.failure is not None:
        raise turns.failure
    return results


def wait_until(frame: Frame, holds: Callable[[], bool]) -> bool:
    """Return whether something comes true, letting others run until it does; False if nothing can make it so."""
    turns: Turns | None = frame.machine.program_state.get(Turns)
    while not holds():
        if turns is None or not turns.pass_on():
            return False
    if turns is not None:
        turns.went_on()
    return True
