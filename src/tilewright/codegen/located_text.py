"""A function under construction whose instructions carry source lines: the writer of `llvm_text` and a suffix."""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText


class LocatedFunctionText(FunctionText):
    """As `FunctionText`; instructions end with `debug_suffix` (``, !dbg !7``), which follows the op being lowered."""

    debug_suffix: str = ""

    def value(self, instruction: str) -> str:
        """Append an instruction with a result; returns the register that holds it."""
        self._counter += 1
        name = f"%v{self._counter}"
        self._lines.append(f"  {name} = {instruction}{self.debug_suffix}")
        return name

    def emit(self, instruction: str, result_type: str = "") -> str:
        """Append one instruction line; with a result type, a fresh register receives it and its name is returned."""
        if result_type:
            return self.value(instruction)
        self._lines.append(f"  {instruction}{self.debug_suffix}")
        return ""

    def terminate(self, instruction: str) -> None:
        """Append the block's terminator."""
        self._lines.append(f"  {instruction}{self.debug_suffix}")
        self.is_terminated = True
