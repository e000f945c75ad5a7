"""Packed operands that are kept for the programs that follow: most of them multiply by a B that another one packed.

``tw_mk_keep_<a>_<acc>_<NR>[_nt]`` gives the panels of a B (see `panels.py`), packing it only if the same B was not
asked for before on this thread, in this launch. It has the ABI

    i64 (i64 b_ptr, i64 b_stride, i64 store_ptr, i64 k_count, i64 n_count, i64 number, ptr arena)

and gives the address of the panels, or 0 where keeping them does not pay: the caller multiplies by B itself then. The
memory of B must not change during the launch.

A store is `STORE_BYTES` of the arena: counters, entries, panels. What is in it is of this launch if bit `number` is set
in the arena's header, and the header's number is the launch's. Panels are placed one behind the other; when there is no
room for more all are dropped, and if none of them had been asked for twice, nothing is kept for the rest of the launch.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter

KEEP_PREFIX = "tw_mk_keep_"
STORE_BYTES = 16 << 20
"""Bytes of a store. Only what is used of it is ever touched."""

STORES = 64
"""Stores that a kernel may have."""

_ENTRIES = 63
_ENTRY_BYTES = 64
_HEAD_BYTES = 64
_PANELS_AT = _HEAD_BYTES + _ENTRIES * _ENTRY_BYTES
_COUNT, _USED, _HITS, _IS_OFF = 0, 8, 16, 24
_KEY = ("%b_ptr", "%b_stride", "%k_count", "%n_count")
_PLACE = 8 * len(_KEY)

# %ArenaHeader and %Launch of targets/cpu/native/types.ll
_HEADER, _LAUNCH_OF_HEADER, _NUMBER_OF_HEADER, _IN_USE = -64, 0, 32, 40
_NUMBER_OF_LAUNCH = 104


def emit_keeping(name: str, module: ModuleText, panels: str, columns: int, element_bytes: int, depth: int) -> str:
    """The definition of a routine that keeps what the routine `panels` packs.

    A panel has `columns` columns of elements of `element_bytes`; rows are padded to a multiple of `depth`.
    """
    parameters = [
        Parameter("i64", f"%{parameter}")
        for parameter in ("b_ptr", "b_stride", "store_ptr", "k_count", "n_count", "number")
    ]
    parameters.append(Parameter("ptr", "%arena"))
    fn = FunctionText(module, name, "i64", parameters, linkage="internal", attributes="noinline nounwind")
    _Keeping(fn, panels, columns, element_bytes, depth).write()
    return fn.text()


class _Keeping:
    """Writes one routine."""

    def __init__(self, fn: FunctionText, panels: str, columns: int, element_bytes: int, depth: int) -> None:
        self.fn = fn
        self.panels = panels
        self.columns = columns
        self.element_bytes = element_bytes
        self.depth = depth

    def write(self) -> None:
        fn = self.fn
        store = fn.value("inttoptr i64 %store_ptr to ptr")
        self._start_launch(store)
        look, none = fn.new_label("look"), fn.new_label("none")
        is_off = fn.value(f"icmp ne i64 {self._load(store, _IS_OFF)}, 0")
        fn.branch_if(is_off, none, look)
        fn.start(look)
        self._return_found(store)
        self._make_room(store, none)
        self._add(store)
        fn.start(none)
        fn.terminate("ret i64 0")

    def _start_launch(self, store: str) -> None:
        """Forget what another launch, or another kernel, left behind."""
        fn = self.fn
        header = self._at("%arena", _HEADER)
        launch = fn.value(f"load ptr, ptr {self._at(header, _LAUNCH_OF_HEADER)}, align 8")
        number = self._load(launch, _NUMBER_OF_LAUNCH)
        is_this = fn.value(f"icmp eq i64 {self._load(header, _NUMBER_OF_HEADER)}, {number}")
        used = fn.value(f"select i1 {is_this}, i64 {self._load(header, _IN_USE)}, i64 0")
        self._store(number, header, _NUMBER_OF_HEADER)
        bit = fn.value("shl i64 1, %number")
        self._store(fn.value(f"or i64 {used}, {bit}"), header, _IN_USE)
        is_empty = fn.value(f"icmp eq i64 {fn.value(f'and i64 {used}, {bit}')}, 0")
        clear, ready = fn.new_label("clear"), fn.new_label("ready")
        fn.branch_if(is_empty, clear, ready)
        fn.start(clear)
        for field in (_COUNT, _USED, _HITS, _IS_OFF):
            self._store("0", store, field)
        fn.branch(ready)
        fn.start(ready)

    def _return_found(self, store: str) -> None:
        """Return the panels of this B, if they are there."""
        fn = self.fn
        count = self._load(store, _COUNT)
        loop, following, found, missing = (fn.new_label(hint) for hint in ("entry", "next", "found", "missing"))
        before = fn.label
        fn.branch_if(fn.value(f"icmp sgt i64 {count}, 0"), loop, missing)
        fn.start(loop)
        index = fn.phi("i64", "i")
        index.add("0", before)
        entry = self._entry(store, index.name)
        equal = "true"
        for position, key in enumerate(_KEY):
            same = fn.value(f"icmp eq i64 {self._load(entry, 8 * position)}, {key}")
            equal = fn.value(f"and i1 {equal}, {same}")
        fn.branch_if(equal, found, following)
        fn.start(following)
        after = fn.value(f"add nuw i64 {index.name}, 1")
        index.add(after, following)
        fn.branch_if(fn.value(f"icmp slt i64 {after}, {count}"), loop, missing)
        fn.start(found)
        self._store(fn.value(f"add i64 {self._load(store, _HITS)}, 1"), store, _HITS)
        fn.terminate(f"ret i64 {fn.value(f'add i64 %store_ptr, {self._load(entry, _PLACE)}')}")
        fn.start(missing)

    def _make_room(self, store: str, none: str) -> None:
        """Drop all panels if there is no room for more; give up if that did not pay, or never can."""
        fn = self.fn
        rows = self._rounded("%k_count", self.depth)
        width = self._rounded("%n_count", self.columns)
        size = fn.value(f"mul i64 {fn.value(f'mul i64 {rows}, {width}')}, {self.element_bytes}")
        self.size = self._rounded(size, 64)
        used = fn.value(f"add i64 {self._load(store, _USED)}, {self.size}")
        lacks_room = fn.value(f"icmp ugt i64 {used}, {STORE_BYTES - _PANELS_AT}")
        has_all = fn.value(f"icmp uge i64 {self._load(store, _COUNT)}, {_ENTRIES}")
        full, drop, off, ready = (fn.new_label(hint) for hint in ("full", "drop", "off", "room"))
        fn.branch_if(fn.value(f"or i1 {lacks_room}, {has_all}"), full, ready)
        fn.start(full)
        in_vain = fn.value(f"icmp eq i64 {self._load(store, _HITS)}, 0")
        too_large = fn.value(f"icmp ugt i64 {self.size}, {STORE_BYTES - _PANELS_AT}")
        fn.branch_if(fn.value(f"or i1 {in_vain}, {too_large}"), off, drop)
        fn.start(off)
        self._store("1", store, _IS_OFF)
        fn.branch(none)
        fn.start(drop)
        for field in (_COUNT, _USED, _HITS):
            self._store("0", store, field)
        fn.branch(ready)
        fn.start(ready)

    def _add(self, store: str) -> None:
        """Pack B behind what is there."""
        fn = self.fn
        count, used = self._load(store, _COUNT), self._load(store, _USED)
        place = fn.value(f"add i64 {used}, {_PANELS_AT}")
        entry = self._entry(store, count)
        for position, key in enumerate(_KEY):
            self._store(key, entry, 8 * position)
        self._store(place, entry, _PLACE)
        self._store(fn.value(f"add i64 {count}, 1"), store, _COUNT)
        self._store(fn.value(f"add i64 {used}, {self.size}"), store, _USED)
        address = fn.value(f"add i64 %store_ptr, {place}")
        fn.emit(f"call void @{self.panels}(i64 %b_ptr, i64 %b_stride, i64 {address}, i64 %k_count, i64 %n_count)")
        fn.terminate(f"ret i64 {address}")

    # ----------------------------------------------------------------------------------------------------- small parts

    def _rounded(self, value: str, multiple: int) -> str:
        above = self.fn.value(f"add i64 {value}, {multiple - 1}")
        return self.fn.value(f"sub i64 {above}, {self.fn.value(f'urem i64 {above}, {multiple}')}")

    def _entry(self, store: str, index: str) -> str:
        offset = self.fn.value(f"mul i64 {index}, {_ENTRY_BYTES}")
        return self.fn.value(f"getelementptr i8, ptr {self._at(store, _HEAD_BYTES)}, i64 {offset}")

    def _at(self, pointer: str, offset: int) -> str:
        return self.fn.value(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def _load(self, pointer: str, offset: int) -> str:
        return self.fn.value(f"load i64, ptr {self._at(pointer, offset)}, align 8")

    def _store(self, value: str, pointer: str, offset: int) -> None:
        self.fn.emit(f"store i64 {value}, ptr {self._at(pointer, offset)}, align 8")


__all__ = ["KEEP_PREFIX", "STORES", "STORE_BYTES", "emit_keeping"]
