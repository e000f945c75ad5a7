"""Inline PTX run on terms."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.support.modules import import_modules
from tilewright.support.ptx.errors import PtxSyntaxError
from tilewright.support.ptx.inline_assembly import InlineAssembly, is_idle, read_inline_assembly
from tilewright.support.ptx.syntax import Instruction, Operand, Pair, Register, Symbol, Vector
from tilewright.transforms.inline_ptx.forms import RULES, Form, NotLaneWise, Registers
from tilewright.transforms.inline_ptx.numbers import Numbers
from tilewright.transforms.inline_ptx.terms import Constant, Term, bits_of

import_modules("tilewright.transforms.inline_ptx.instructions")  # which fills the table of rules


def run_program(terms: Numbers, assembly: InlineAssembly, arguments: Sequence[Term]) -> list[Term]:
    """Return what the registers of results hold after inline assembly. Raises NotLaneWise."""
    registers = Registers(terms)
    for index, argument in enumerate(arguments):
        target = assembly.register_of(index)
        registers.values[target] = _fitted(terms, argument, assembly.bits[target])
    for instruction in assembly.function.body:
        _execute(instruction, registers)
    return [registers.read(Register(index, assembly.bits[index])) for index in range(assembly.num_results)]


def read_program(asm: str, constraints: str, arguments: Sequence[Term]) -> InlineAssembly:
    """Inline assembly as a function. Raises NotLaneWise where it cannot be read."""
    numbers = [argument.value if isinstance(argument, Constant) else None for argument in arguments]
    try:
        return read_inline_assembly(asm, constraints, numbers)
    except PtxSyntaxError as error:
        raise NotLaneWise(f"the assembly cannot be read: {error.message}") from None


def _fitted(terms: Numbers, argument: Term, bits: int) -> Term:
    """An argument in its register. What is above a small one may be anything on the hardware, and is 0 here."""
    width = bits_of(argument.type)
    if width > bits:
        raise NotLaneWise(f"an argument of {width} bits has a register of {bits}")
    return terms.zero_extended(terms.bits(argument), bits)


def _execute(instruction: Instruction, registers: Registers) -> None:
    if is_idle(instruction):
        return
    rule = RULES.get(instruction.name)
    if rule is None:
        raise NotLaneWise(f"'{instruction.opcode}' is not an instruction that treats every lane by itself")
    form = Form(instruction, registers)
    if instruction.guard is not None and "cc" in form.parts:
        form.fail("sets the condition code under a predicate")
    result = rule(form)
    form.check_all_taken()
    if result is None:
        return
    results: Sequence[Term] = result if isinstance(result, Sequence) else [result]
    targets = _targets(instruction.operands[0])
    if len(targets) != len(results):
        form.fail(f"gives {len(results)} results for {len(targets)} registers")
    for target, term in zip(targets, results, strict=True):
        if isinstance(target, Register):
            registers.values[target.number] = _guarded(form, target, term)
        elif not isinstance(target, Symbol) or target.name != "_":
            form.fail("writes something that is not a register")


def _targets(operand: Operand) -> Sequence[Operand]:
    match operand:
        case Vector(items=items):
            return items
        case Pair(first=first, second=second):
            return (first, second)
        case _:
            return (operand,)


def _guarded(form: Form, target: Register, term: Term) -> Term:
    """Return what a register holds after an instruction: the old value where the predicate does not hold."""
    terms, guard = form.terms, form.instruction.guard
    width = bits_of(term.type)
    if width > target.bits:
        form.fail(f"gives {width} bits to a register of {target.bits}")
    found = terms.zero_extended(terms.bits(term), target.bits)
    if guard is None:
        return found
    old, holds = form.registers.read(target), form.registers.read(guard)
    return terms.select(holds, old, found) if form.instruction.guard_negated else terms.select(holds, found, old)
