"""Every error that tilewright raises for a user, one class per kind of mistake.

A user sees `str(error)`: where, what, the source line with a caret, and what to do. Compiler tracebacks are for us:
`support/tracebacks.py` cuts them off, and the command line tools print the message alone, unless TILEWRIGHT_TRACEBACKS
is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.support.records import dataclass
from tilewright.support.spans import Span, render_message


class TilewrightError(Exception):
    """Base of all errors below: catch this to catch whatever tilewright says about your program."""

    internal: bool = False
    """Whether it is a defect of tilewright's, not a mistake in the program."""


class BaselineWarning(UserWarning):
    """A kernel is compiled without optimisation: a pass that optimises cannot lower it, or failed."""


SHOWN_NOTES = 5
"""Notes that are shown at either end of many."""


@dataclass(frozen=True)
class Note:
    """A further place that a diagnostic mentions, such as the call site of an inlined function."""

    message: str
    span: Span | None = None
    source_line: str | None = None
    severity: str = "note"

    def render(self) -> str:
        return render_message(self.severity, self.message, self.span, source_line=self.source_line)


def _rendered(notes: Sequence[Note]) -> list[str]:
    """Each note, of many the first and the last: of a function that calls itself they are much alike."""
    texts = [note.render() for note in notes]
    if len(texts) <= 2 * SHOWN_NOTES:
        return texts
    return [*texts[:SHOWN_NOTES], f"({len(texts) - 2 * SHOWN_NOTES} more notes)", *texts[-SHOWN_NOTES:]]


class LocatedError(TilewrightError):
    """An error at a place in a text. `str()` renders the whole message; the parts stay readable as attributes."""

    def __init__(
        self,
        message: str,
        *,
        filename: str | None = None,
        line: int = 0,
        col: int = 0,
        end_col: int = 0,
        span: Span | None = None,
        source_line: str | None = None,
        hint: str | None = None,
        notes: Iterable[Note] = (),
    ) -> None:
        super().__init__(message)
        if span is None and filename is not None:
            span = Span(filename, line, col, end_col)
        self.message = message
        self.span = span
        self.source_line = source_line if source_line is not None or span is None else span.source_line()
        self.hint = hint
        self.notes: list[Note] = list(notes)

    @property
    def filename(self) -> str | None:
        return None if self.span is None else self.span.filename

    @property
    def line(self) -> int:
        return 0 if self.span is None else self.span.line

    @property
    def col(self) -> int:
        return 0 if self.span is None else self.span.col

    @property
    def end_col(self) -> int:
        return 0 if self.span is None else self.span.end_col

    def add_note_at(self, message: str, span: Span | None, source_line: str | None = None) -> None:
        """Append a call site (innermost first) while the error travels outwards."""
        self.notes.append(Note(message, span, source_line))

    def __str__(self) -> str:
        head = render_message("error", self.message, self.span, source_line=self.source_line, hint=self.hint)
        return "\n".join([head, *_rendered(self.notes)])


MOST_ERRORS = 10
"""After so many errors a compilation ends."""


class CompilationError(LocatedError):
    """The user's kernel source is wrong: points at the Python line, with call sites as notes.

    Statements after the wrong one are compiled, too, so that one compilation may find several errors: the first is
    raised, `errors` lists all in the order in which they were found, at most ten, and `str()` is the texts of all.
    """

    others: tuple[CompilationError, ...] = ()
    """Further errors of the same compilation."""
    is_final: bool = False
    """Whether what follows in the source makes no sense any more."""

    @property
    def errors(self) -> tuple[CompilationError, ...]:
        return (self, *self.others)

    @property
    def error_message(self) -> str:
        """The message without its position in the source, under Triton's name."""
        return self.message

    def __str__(self) -> str:
        first = super().__str__()
        if not self.others:
            return first
        count = len(self.errors)
        end = f"{count} errors" if count < MOST_ERRORS else f"{count} errors; no more are looked for"
        return "\n".join([first, *map(str, self.others), end])


class UnsupportedLanguageConstruct(CompilationError):
    """Python that is valid but has no meaning inside a kernel."""


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` did not hold; what it guards is not compiled."""

    is_final = True


class LayoutError(TilewrightError):
    """A layout in Gluon that does not fit its shape, what it is combined with, or the warps that run; or a tensor for
    which no layout follows, or two."""


class WrongLayoutError(CompilationError, LayoutError):
    """Such a layout, found where the kernel's source is compiled."""


class MissingFieldError(CompilationError):
    """An aggregate is asked for a field that it has not, or given one."""


class NewerTritonError(CompilationError):
    """A name, an argument or a form of the language that came with a later Triton than the one that is asked for."""


class ParseError(LocatedError):
    """IR text that cannot be read: file:line:col, the line, a caret, and the reason."""


class LocatedOpError(TilewrightError):
    """An error about an operation of the IR: names the op and where it came from in the user's source."""

    def __init__(self, message: str, *, op_name: str = "", location: Span | str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.op_name = op_name
        self.location = location

    def subject(self) -> str:
        """Return what the message is about, e.g. ``'tt.load'``."""
        return f"'{self.op_name}'" if self.op_name else ""

    def __str__(self) -> str:
        message = self.sentence()
        if isinstance(self.location, Span):
            return render_message("error", message, self.location)
        return f"{self.location}: error: {message}" if self.location else f"error: {message}"

    def sentence(self) -> str:
        """The message with what it is about."""
        subject = self.subject()
        return f"{subject}: {self.message}" if subject else self.message


class VerifyError(LocatedOpError):
    """The IR breaks a rule of one of its ops, or uses a value before its definition.

    `current` is the op in generic form, for `tilewright-opt`; `notes` are further places; `bare` says that upstream
    does not name the op.
    """

    bare: bool = False
    current: str = ""
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *_rendered(self.notes)])

    def sentence(self) -> str:
        """As upstream's verifiers say it: ``'func.return' op has 2 operands, but ...``."""
        subject = self.subject()
        return f"{subject} op {self.message}" if subject and not self.bare else self.message


class PassError(LocatedOpError):
    """A pass gave up, or (`internal`) failed; `reproducer` names the file that replays it, where one was written."""

    replay = "tilewright-opt --run-reproducer FILE"
    """The command that replays a reproducer, whose name stands for FILE."""

    def __init__(
        self,
        message: str,
        *,
        pass_name: str = "",
        op_name: str = "",
        location: Span | str | None = None,
        reproducer: str | None = None,
        internal: bool = False,
    ) -> None:
        super().__init__(message, op_name=op_name, location=location)
        self.pass_name = pass_name
        self.reproducer = reproducer
        self.internal = internal

    @property
    def reason(self) -> str:
        return self.message

    def subject(self) -> str:
        parts = [f"pass {self.pass_name}" if self.pass_name else "", super().subject()]
        return ", ".join(part for part in parts if part)

    def __str__(self) -> str:
        text = super().__str__()
        if self.reproducer is None:
            return text
        return f"{text}\nnote: replay with: {self.replay.replace('FILE', self.reproducer)}"


class AmbiguousLayoutError(PassError, LayoutError):
    """The layout of a tensor in Gluon does not follow from its uses, or two follow."""


class StageContractError(PassError):
    """A lowering left an op that the stage it produces does not allow."""


class PipelineError(TilewrightError):
    """A pipeline description is wrong: unknown pass, unknown option, or a value of the wrong type."""

    def __init__(self, message: str, said: str = "", refusal: str = "") -> None:
        super().__init__(message)
        self.said, self.refusal = said, refusal
        """What mlir-opt says, where it has the check, and what LLVM's command line says of a value before."""


class KnobError(TilewrightError, ValueError):
    """A switch that does not exist, or a value that it does not take."""


class OutsideOfKernelError(TilewrightError, RuntimeError):
    """What belongs into a kernel is called from the host, or a kernel without a grid."""


class NoKernelError(TilewrightError, TypeError):
    """`@jit` on anything that is not a function, or on one that cannot be a kernel."""


class NoConfigError(TilewrightError, TypeError):
    """`autotune` is given something else than configurations."""


class OptionError(TilewrightError, ValueError):
    """A launch option that is refused, or has a value that it cannot have."""


class UnknownOptionError(TilewrightError, KeyError):
    """A keyword of a launch that is neither a parameter of the kernel nor an option."""

    def __str__(self) -> str:
        return str(self.args[0])


class NoSourceError(TilewrightError, ValueError):
    """A kernel whose source Python has not kept: typed at a prompt, or made by `exec`."""


class ChangedGlobalError(TilewrightError, RuntimeError):
    """A global that was compiled in has another value now."""


class ArgumentError(TilewrightError):
    """A kernel argument that cannot be used: names the argument, what it is, and what is expected.

    Without a name it is about the arguments together: too many of them, one given twice.
    """

    def __init__(self, name: str, what: str, expected: str = "", *, kernel: str = "") -> None:
        super().__init__(name, what, expected)
        self.name = name
        self.what = what
        self.expected = expected
        self.kernel = kernel

    def __str__(self) -> str:
        where = [f"kernel '{self.kernel}'"] if self.kernel else []
        where += [f"argument '{self.name}'"] if self.name else []
        what = self.what + (f"; expected {self.expected}" if self.expected else "")
        return f"{', '.join(where)}: {what}" if where else what


class ArgumentTypeError(ArgumentError, TypeError):
    """A kernel argument of a type or dtype that kernels do not take."""


class ArgumentValueError(ArgumentError, ValueError):
    """A kernel argument of the right type with an unusable value (read-only storage, wrong strides, ...)."""


class ArgumentRangeError(ArgumentValueError, OverflowError):
    """An integer that 64 bits cannot hold."""


class MisalignedPointerError(ArgumentValueError):
    """A pointer that is not a multiple of 16 bytes, given to a kernel that was compiled for pointers that are."""


class OutOfResources(TilewrightError):
    """A kernel needs more of a resource than the device has; autotuning skips such a configuration."""

    advice = "reducing block sizes or num_stages may help"

    def __init__(self, required: int, limit: int, name: str) -> None:
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name

    def __str__(self) -> str:
        return f"out of resource: {self.name}, required: {self.required}, hardware limit: {self.limit}; {self.advice}"


class OutOfSharedMemory(OutOfResources):
    """The buffers of a CTA are larger than the shared memory that it may have (in bytes). Where the compiler finds out,
    it says where the largest of them comes from.
    """

    def __init__(
        self, required: int, limit: int, name: str, largest: int = 0, location: Span | str | None = None
    ) -> None:
        super().__init__(required, limit, name)
        self.args = (required, limit, name, largest, location)
        self.largest = largest
        self.location = location

    def __str__(self) -> str:
        text = super().__str__()
        if not self.largest:
            return text
        text += f"; the largest buffer takes {self.largest} bytes"
        if isinstance(self.location, str):
            return f"{self.location}: error: {text}"
        return render_message("error", text, self.location)


class OutOfRegisters(OutOfResources):
    """The threads of a CTA take more registers than a multiprocessor has."""

    advice = "smaller blocks, other num_warps, or a lower `maxnreg` (the rest goes to memory) may help"


class OutOfThreads(OutOfResources):
    """A CTA of more threads than the device runs in one."""

    advice = "lower num_warps: a warp has 32 threads"


class GridTooLarge(OutOfResources):
    """A cooperative grid of more programs than the device runs at the same time."""

    advice = "launch fewer programs and let each loop over the work, or leave launch_cooperative_grid off"


class DeviceAssertionError(TilewrightError, AssertionError, RuntimeError):
    """A `tl.device_assert` failed, or a sanitiser found a bad access, while the kernel ran. Programs that wait for a
    GPU expect a RuntimeError."""


class BarrierError(TilewrightError):
    """An mbarrier is used wrongly while the kernel runs: waited for in a phase that never ends, arrived at too often,
    or not initialised."""


class BarrierAssertionError(DeviceAssertionError, BarrierError):
    """A wrongly used mbarrier, found by a kernel on the CPU."""


class SanitizerError(DeviceAssertionError):
    """A sanitiser found a bad access: says where in the source, which program, lane, argument and element.

    `check` is `bounds`, `race-write`, `race-read`, `race-atomic`, `unwritten` or `undefined`; `index` counts elements
    from the argument's address and `extent` is the range of elements that the argument's memory has; `other` is the
    program that a race is with. `notes` say where the functions around the access are called.
    """

    def __init__(
        self,
        message: str,
        *,
        check: str,
        kernel: str,
        program: tuple[int, int, int],
        lane: tuple[int, ...],
        argument: str,
        index: int,
        extent: tuple[int, int],
        other: tuple[int, int, int] | None = None,
        span: Span | None = None,
        call_sites: Iterable[Span] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.check = check
        self.kernel = kernel
        self.program = program
        self.lane = lane
        self.argument = argument
        self.index = index
        self.extent = extent
        self.other = other
        self.span = span
        self.notes = [Note("called from here", call) for call in call_sites]

    def __str__(self) -> str:
        place = ", ".join(map(str, self.program))
        head = render_message("error", f"{self.message} (kernel '{self.kernel}', program {place})", self.span)
        return "\n".join([head, *_rendered(self.notes)])


class ValidationError(TilewrightError):
    """A pass, or the machine code, does not compute what the front end's output means; `str()` is the whole table."""


class DistributionClashError(TilewrightError, ImportError):
    """Two distributions that provide the package `triton` are installed in one environment."""


class MissingDistributionError(TilewrightError, ModuleNotFoundError):
    """The official package `triton` is needed, and not installed."""


class TargetError(TilewrightError):
    """A target that is not there, or cannot be used on this machine."""


class FarmError(TilewrightError):
    """Work cannot be spread over other machines: there is no dask, no scheduler, no worker, or another tilewright."""


class NoDriverError(TargetError):
    """There is no NVIDIA driver, no GPU, or no Python binding of the driver on this machine."""


class DriverTooOldError(TargetError):
    """The NVIDIA driver does not know the code that was compiled for it."""


class NoAssemblerError(TargetError):
    """Machine code for a GPU was asked for, and no ptxas was found."""


class AssemblerError(TilewrightError):
    """ptxas, or the driver, rejects the PTX of a kernel; `log` is what it said."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message, log)
        self.message = message
        self.log = log

    def __str__(self) -> str:
        return f"{self.message}\n{self.log}".rstrip()


class DeviceError(TilewrightError):
    """A GPU reported an error, at a launch or from a kernel launched before; `code` is the driver's name for it."""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.code})" if self.code else self.message


class DeviceMemoryError(DeviceError):
    """The GPU has too little memory left for what a launch needs beside its arguments."""


class ForkedProcessError(DeviceError):
    """A GPU that a parent process used is asked for in a child made by fork, where it cannot be used."""


class DeviceLostError(DeviceError):
    """A kernel broke the process's use of the GPU for good. Launches on it raise this from then on; memory of the host
    and kernels on the CPU are as they were."""


class IllegalAddressError(DeviceLostError):
    """A kernel accessed memory that is not its own; the process can use this GPU no more, the CPU it can."""


class MisalignedAddressError(DeviceLostError):
    """A kernel accessed an address that is not a multiple of what it was compiled for; the GPU is lost to the
    process."""


class LaunchTimeoutError(DeviceLostError):
    """A kernel ran longer than the machine lets kernels run; the GPU is lost to the process."""


class LostToAssertionError(DeviceLostError, DeviceAssertionError):
    """A `tl.device_assert` failed on a GPU, which is lost to the process by that."""
