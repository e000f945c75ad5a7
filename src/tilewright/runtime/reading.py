"""Functions that look at the arguments of a launch, each generated for the classes that the arguments have.

For a kernel (x_ptr, out_ptr, n, BLOCK) that is launched with two PyTorch tensors and two integers the function is

```python
def read(a0, a1, a2, a3):
    p0 = a0.data_ptr()
    s = a0.untyped_storage()
    l0 = s.data_ptr()
    h0 = l0 + s.nbytes()
    w0 = s.resizable() or is_allocation(s)
    ...
    if -2147483648 <= a2 < 2147483648:
        k2 = 1 if a2 == 1 else 2 if not a2 & 15 else 0
    elif ...
    return (-1 if a0.is_cpu else ..., a0.dtype, not p0 & 15, ..., k2, a3,
            (h0 <= l1 or h1 <= l0) and w0 + w1 > 0), (p0, p1, a2)
```

The key is at least as fine as the one of `Bound`: launches with equal keys here, and equal classes, are launches of one
compiled kernel. A function returns None for values that only the slow path (`Binder`) understands or can explain.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from tilewright.language.callables import JITCallable
from tilewright.language.dtypes import dtype as language_dtype
from tilewright.runtime.allocations import Extent, extent_of_array, is_allocation
from tilewright.runtime.specialization import ParameterRule
from tilewright.runtime.storage import dtype_name
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support.records import dataclass

Seen = tuple[tuple[Hashable, ...], tuple[Any, ...]]
"""The key of a launch, and its slots: addresses and numbers of the run-time arguments, constants 1 among them."""

Read = Callable[..., Seen | None]

_MANY = 6
"""Pairs of pointers beyond which sorting beats comparing each."""

_PLAIN_CONSTANTS = (int, bool, str, type(None))

_FLOAT_FORMATS = {"fp16": "e6x", "fp32": "f4x", "fp64": "d"}

_ndarray: Any = np.ndarray
_numpy_scalar: Any = np.generic


@dataclass(frozen=True, slots=True)
class Reader:
    """How to look at arguments of certain classes."""

    read: Read
    formats: tuple[str, ...]
    """The form of each slot's value in `struct`'s letters: 8 bytes each."""
    slots: tuple[int, ...]
    """The parameter that each slot belongs to."""
    pointers: tuple[int, ...]
    """The parameters that are pointers."""


def make_reader(
    values: Sequence[Any], rules: Sequence[ParameterRule], only_read: frozenset[int] = frozenset()
) -> Reader | None:
    """A reader for arguments of the classes of these, None where an argument is of a class for the slow path. The
    parameters in `only_read` may share memory with each other."""
    writer = _Writer(only_read)
    for index, (value, rule) in enumerate(zip(values, rules, strict=True)):
        if not writer.add(index, value, rule):
            return None
    return writer.reader(len(values))


class _Writer:
    """Writes one reader's code, argument by argument."""

    def __init__(self, only_read: frozenset[int]) -> None:
        self.only_read = only_read
        self.lines: list[str] = []
        self.key: list[str] = []
        self.formats: list[str] = []
        self.slots: list[tuple[int, str]] = []
        self.pointers: list[int] = []
        self.scope: dict[str, Any] = {
            "address": array_address,
            "are_apart": are_apart,
            "extent_of_view": extent_of_view,
            "find_same": find_same,
            "is_allocation": is_allocation,
            "known_dtypes": _known_dtypes,
            "learn": _learn,
        }

    def add(self, index: int, value: Any, rule: ParameterRule) -> bool:
        """Add an argument; False where its class is none of those below."""
        if rule.is_constexpr:
            return self._add_constant(f"a{index}", value)
        if isinstance(value, _numpy_scalar):
            self.lines.append(f"a{index} = a{index}.item()")
            value = value.item()
        kind = value.__class__
        if kind is bool and rule.forced_type is None:
            self._add_slot(index, "q")
        elif kind is int or kind is bool:
            return self._add_integer(index, rule)
        elif kind is float:
            return self._add_float(index, rule)
        elif kind is TensorDescriptor:
            return self._add_descriptor(index, value)
        else:
            return value is None or self._add_memory(index, value, f"a{index}")
        return True

    def _add_memory(self, index: int, value: Any, name: str) -> bool:
        """Add a tensor or array that the reader finds under a name."""
        if value.__class__ is _ndarray:
            self._add_array(index, name)
        elif is_tensor_class(value.__class__):
            self._add_tensor(index, value, name)
        else:
            return False
        return True

    def _add_descriptor(self, index: int, descriptor: TensorDescriptor) -> bool:
        """Its base as a pointer; then extents, strides, and whether what lies outside is NaN (see `Descriptor`)."""
        n, rank = index, len(descriptor.shape)
        self.scope[f"C{n}"] = descriptor.base.__class__
        self.lines += [f"b{n} = a{n}.base", f"s{n} = a{n}.shape", f"t{n} = a{n}.strides"]
        self.lines += [
            f"if b{n}.__class__ is not C{n} or len(s{n}) != {rank} or len(t{n}) != {rank}:",
            "    return None",
        ]
        if not self._add_memory(index, descriptor.base, f"b{n}"):
            return False
        self.key += [f"tuple(a{n}.block_shape)", f"a{n}.round_f32_to_tf32"]
        extents = [f"s{n}[{axis}]" for axis in range(rank)]
        strides = [f"t{n}[{axis}]" for axis in range(rank)]
        for name in (*extents, *strides, f"a{n}.padding == 'nan'", *extents, *strides):
            self._add_slot(index, "q", name)
        return True

    def _add_constant(self, name: str, value: Any) -> bool:
        if isinstance(value, float):
            self.key.append(f"{name}.hex()")  # 0.0 and -0.0 are equal, but not the same
        elif value.__class__ in _PLAIN_CONSTANTS or isinstance(value, language_dtype | JITCallable):
            self.key.append(name)
        else:
            return False
        return True

    def _add_slot(self, index: int, form: str, name: str = "") -> None:
        self.formats.append(form)
        self.slots.append((index, name or f"a{index}"))

    def _add_integer(self, index: int, rule: ParameterRule) -> bool:
        kind = rule.forced_type or ""
        if kind.startswith(("fp", "bf", "*")):
            self.lines.append(f"a{index} = float(a{index})")
            return kind in _FLOAT_FORMATS and self._add_float(index, rule)
        name, is_key_of = f"a{index}", self._integer_key
        self.key.append(f"k{index}")
        self._add_slot(index, "Q" if kind == "u64" else "q")
        if kind in ("u1", "i1"):
            self.lines += [f"if not 0 <= {name} < 2:", "    return None", f"k{index} = 0"]
        elif kind:
            width = int(kind[1:])
            low, high = (0, 2**width) if kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1))
            self.lines += [f"if not {low} <= {name} < {high}:", "    return None"]
            self.lines += [f"k{index} = {is_key_of(name, rule)}"]
        else:
            wide = f"4 if not {name} & 15 else 3" if rule.specialize and rule.specialize_alignment else "3"
            self.lines += [f"if {-(2**31)} <= {name} < {2**31}:", f"    k{index} = {is_key_of(name, rule)}"]
            self.lines += [f"elif {-(2**63)} <= {name} < {2**63}:", f"    k{index} = {wide}"]
            self.lines += ["else:", "    return None"]
        return True

    @staticmethod
    def _integer_key(name: str, rule: ParameterRule) -> str:
        """1 for the constant 1, 2 for a multiple of 16, 0 for any other value."""
        if not rule.specialize:
            return "0"
        divisible = f"2 if not {name} & 15 else 0" if rule.specialize_alignment else "0"
        return f"1 if {name} == 1 else {divisible}"

    def _add_float(self, index: int, rule: ParameterRule) -> bool:
        form = _FLOAT_FORMATS.get(rule.forced_type or "fp32")
        if form is None:
            return False
        self._add_slot(index, form)
        return True

    def _add_tensor(self, index: int, tensor: Any, name: str) -> None:
        n = index
        on_gpu, on_cpu = f"{name}.get_device() if {name}.is_cuda", f"-1 if {name}.is_cpu"
        first, second = (on_gpu, on_cpu) if tensor.is_cuda else (on_cpu, on_gpu)
        self.lines += [f"p{n} = {name}.data_ptr()", f"s = {name}.untyped_storage()"]
        self.lines += [f"l{n} = s.data_ptr()", f"h{n} = l{n} + s.nbytes()"]
        self.lines.append(f"w{n} = s.resizable() or is_allocation(s)")
        self.key.append(f"{first} else {second} else None")
        self._add_pointer(n, name)

    def _add_array(self, index: int, name: str) -> None:
        n = index
        self.lines += [f"t = {name}.dtype", "if t not in known_dtypes and not learn(t):", "    return None"]
        self.lines += [f"p{n} = l{n} = address({name})", f"w{n} = {name}.flags.owndata"]
        self.lines += [f"if w{n}:", f"    h{n} = p{n} + {name}.nbytes"]
        self.lines += ["else:", f"    s = extent_of_view({name})", "    if s is None:", "        return None"]
        self.lines += [f"    l{n}, h{n}, w{n} = s"]
        self._add_pointer(n, name)

    def _add_pointer(self, index: int, name: str) -> None:
        self.key += [f"{name}.dtype", f"not p{index} & 15"]
        self.pointers.append(index)
        self._add_slot(index, "Q", f"p{index}")

    def _disjoint(self) -> str:
        """What says whether memory that is written is shared, as `storage.find_sharing` has it: True if it is not,
        False if it is, and what `find_same` returns if pointers share it that are equal."""
        if len(self.pointers) < 2:
            return ""
        pairs = [pair for pair in combinations(self.pointers, 2) if not self.only_read.issuperset(pair)]
        if not pairs:
            return "True"
        extents = [f"(l{n}, h{n}, w{n}, {n in self.only_read})" for n in self.pointers]
        tests = [f"(h{m} <= l{n} or h{n} <= l{m}) and (w{m} or w{n})" for m, n in pairs]
        apart = " and ".join(tests) if len(pairs) <= _MANY else f"are_apart([{', '.join(extents)}])"
        addresses = ", ".join(f"p{n}" for n in self.pointers)
        return f"{apart} or find_same(({addresses}), ({', '.join(extents)}))"

    def reader(self, count: int) -> Reader:
        """The function that was written."""
        key = [*self.key, *filter(None, [self._disjoint()])]
        shown = [f"({''.join(f'{part}, ' for part in parts)})" for parts in (key, [name for _, name in self.slots])]
        parameters = ", ".join(f"a{index}" for index in range(count))
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {shown[0]}, {shown[1]}"])
        exec(f"def read({parameters}):\n{body}\n", self.scope)
        indices = tuple(index for index, _ in self.slots)
        return Reader(self.scope["read"], tuple(self.formats), indices, tuple(self.pointers))


def is_tensor_class(kind: type) -> bool:
    """Return whether this is PyTorch's own tensor class; others may keep their data elsewhere."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and kind in (getattr(torch, "Tensor", None), torch.nn.Parameter)


Reach = tuple[int, int, bool, bool]
"""Of the memory behind a pointer: its lowest and one past its highest address, whether these are those of its
allocation (two that hide theirs may share), and whether it is only read."""


def find_same(addresses: tuple[int, ...], extents: tuple[Reach, ...]) -> tuple[int, ...] | bool:
    """For each pointer the number of the first one with the same address; False where memory that is written is shared
    with another address."""
    indices = tuple(map(addresses.index, addresses))
    for m, n in combinations(range(len(extents)), 2):
        (low, high, is_whole, only_read), other = extents[m], extents[n]
        apart = (high <= other[0] or other[1] <= low) and (is_whole or other[2])
        if not (apart or (only_read and other[3]) or indices[m] == indices[n]):
            return False
    return indices


def are_apart(extents: list[Reach]) -> bool:
    """Return whether no memory that is written is shared."""
    extents.sort()
    end, is_read, hidden, hidden_written = 0, True, 0, False
    for low, high, is_whole, only_read in extents:
        if low >= end:
            is_read = only_read
        elif not (is_read and only_read):
            return False
        end = max(end, high)
        if not is_whole:
            hidden += 1
            hidden_written |= not only_read
    return hidden < 2 or not hidden_written


def extent_of_view(view: np.ndarray[Any, Any]) -> Extent | None:
    """The memory that an array's owner has; None for elements that do not lie on whole elements."""
    owner: Any = view
    while owner.base.__class__ is _ndarray:
        owner = owner.base
    itemsize = view.itemsize
    if any(stride % itemsize for stride in view.strides):
        return None
    flags = owner.flags
    if not (flags.owndata and flags.forc):
        return extent_of_array(view)
    low = array_address(owner)
    return low, low + owner.nbytes, True


_known_dtypes: set[Any] = set()


def _learn(dtype: np.dtype[Any]) -> bool:
    """Remember an element type that kernels take; False for any other, which the slow path explains."""
    if dtype_name(dtype) is None or not dtype.isnative:
        return False
    _known_dtypes.add(dtype)
    return True


def _interface_address(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]


def _header_address(array: np.ndarray[Any, Any]) -> int:
    """The data pointer out of the array object itself: the field after the object header in NumPy's C ABI."""
    return _POINTER.from_address(id(array) + _HEADER).value or 0


_POINTER = ctypes.c_size_t
_HEADER = object.__basicsize__


def _choose_address_reader() -> Callable[[np.ndarray[Any, Any]], int]:
    """The fast reader where it agrees with the documented interface on this interpreter, four times faster than it."""
    samples = (np.zeros(3), np.zeros((2, 2), np.int8), np.arange(9)[4:])
    agrees = all(_header_address(sample) == _interface_address(sample) for sample in samples)
    return _header_address if agrees else _interface_address


array_address = _choose_address_reader()
