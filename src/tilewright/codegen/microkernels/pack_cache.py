"""Pack caches: packed operands for the programs that follow, most of which multiply by a B that another one packed.

``tw_mk_cache_<a>_<acc>_<NR>[_nt]`` gives the panels of a B (see `panels.py`), packing it only if the same B was not
requested before on this thread, in this launch. It has the ABI

    i64 (i64 b_ptr, i64 b_stride, i64 cache_ptr, i64 k_count, i64 n_count, i64 number, ptr arena)

and returns the address of the panels, or 0 if they are larger than a cache. The memory of B must not change during the
launch.

``tw_mk_reserve_<a>_<acc>_<NR>[_nt]`` is the same for kernels that pack while they multiply (see `filling.py`): where
the panels are not there yet it leaves that to them, and says so by an odd address.

A cache is `PACK_CACHE_BYTES` of the arena: counters, a hash table of indices of entries, entries, panels one after the
other. What is in it is of this launch if bit `number` is set in the arena's header and the header's number is the
launch's. When there is no room for more, all panels are dropped; if none of them had been requested twice, each B is
from then on packed to the same address.

Programs that share one B often run one after the other, and have done with it then (the keys of a head of attention).
So panels that fill a part of the second-level cache are dropped, too, at the first request for a B that is not there
after one that was: what comes then lies where the last ones were, in the near cache (attention bf16 of 8 heads, cold:
4.43 -> 4.05 ms). Where one comes back of those that were packed first after such a change (the second group of a
large matmul), that ends: all stay from then on.
"""

from __future__ import annotations

from ctypes import sizeof

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.native_records import ArenaHeader, Launch

PACK_CACHE_BYTES = 16 << 20
"""Bytes of a cache. Only what is used of it is ever touched."""

MAX_PACK_CACHES = 64
"""Most pack caches that a kernel may have."""

NEAR_BYTES = 512 << 10
"""A quarter of the second-level cache of present servers."""

_COUNT, _USED, _HITS, _IS_OFF = 0, 8, 16, 24
_WAS_THERE, _CHANGES, _KEEPS_ALL = 32, 40, 48
"""Whether the last B was there; how often all were dropped for others; whether that is over."""
_FIRST_AT, _MAX_CHANGES = 64, 8
"""Which B was packed first before each of the first changes; the last element has that of the latest one."""
_SLOTS_LOG2 = 10
_SLOTS = 1 << _SLOTS_LOG2
_SLOTS_AT, _SLOT_BYTES = _FIRST_AT + 8 * _MAX_CHANGES, 2
_MAX_ENTRIES = _SLOTS * 3 // 4
_ENTRIES_AT, _ENTRY_BYTES = _SLOTS_AT + _SLOTS * _SLOT_BYTES, 64
_PANELS_AT = _ENTRIES_AT + _MAX_ENTRIES * _ENTRY_BYTES
_CAPACITY = PACK_CACHE_BYTES - _PANELS_AT
_KEY = ("%b_ptr", "%b_stride", "%k_count", "%n_count")
_OFFSET = 8 * len(_KEY)
_HASH_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)

_LAUNCH, _CACHED_LAUNCH = ArenaHeader.launch.offset, ArenaHeader.cached_launch.offset
_IN_USE = ArenaHeader.caches_in_use.offset


def fits_pack_cache(size: int) -> bool:
    """Return whether panels of `size` bytes fit into a pack cache that is empty."""
    return size <= _CAPACITY


def emit_pack_cache(
    name: str, module: ModuleText, panels: str | None, columns: int, element_bytes: int, depth: int
) -> str:
    """The definition of a routine that keeps what the routine `panels` packs, or, without one, reserves the memory.

    A panel has `columns` columns of elements of `element_bytes`; rows are padded to a multiple of `depth`.
    """
    parameters = [
        Parameter("i64", f"%{parameter}")
        for parameter in ("b_ptr", "b_stride", "cache_ptr", "k_count", "n_count", "number")
    ]
    parameters.append(Parameter("ptr", "%arena"))
    fn = FunctionText(module, name, "i64", parameters, linkage="internal", attributes="noinline nounwind")
    _PackCache(fn, panels, columns, element_bytes, depth).write()
    return fn.text()


class _PackCache:
    """Writes one routine."""

    def __init__(self, fn: FunctionText, panels: str | None, columns: int, element_bytes: int, depth: int) -> None:
        self.fn = fn
        self.panels = panels
        self.columns = columns
        self.element_bytes = element_bytes
        self.depth = depth
        self.cache = fn.cast("inttoptr", "i64", "%cache_ptr", "ptr")

    def write(self) -> None:
        """The whole body."""
        fn = self.fn
        look, change, stay, full, drop, add, once, none = (
            fn.new_label(hint) for hint in ("look", "change", "stay", "full", "drop", "add", "once", "none")
        )
        self._start_launch()
        fn.branch_if(fn.icmp("ne", "i64", self._load(_IS_OFF), 0), once, look)
        fn.start(look)
        free = self._look_up()
        size = self._size()
        fn.branch_if(self._is_change(), change, stay)
        fn.start(change)
        self._change()
        start = self._hash()
        changed = fn.label
        fits_alone = fn.icmp("ule", "i64", size, _CAPACITY)
        fn.branch_if(fits_alone, add, none)
        fn.start(stay)
        hits, used, count = self._load(_HITS), self._load(_USED), self._load(_COUNT)
        in_vain = fn.icmp("eq", "i64", hits, 0)
        capacity = fn.select(in_vain, "i64", _CAPACITY // 2, _CAPACITY)
        lacks_room = fn.icmp("ugt", "i64", fn.binary("add", "i64", used, size), capacity)
        has_all = fn.icmp("uge", "i64", count, _MAX_ENTRIES)
        looked = fn.label
        fn.branch_if(fn.binary("or", "i1", lacks_room, has_all), full, add)

        fn.start(full)
        self._set("1", _IS_OFF)
        fn.branch_if(in_vain, once, drop)
        fn.start(drop)
        self._clear()
        first = self._hash()
        dropped = fn.label
        fn.branch_if(fn.icmp("ugt", "i64", size, _CAPACITY), none, add)

        fn.start(add)
        slot = fn.phi("i64", "slot")
        slot.add(free, looked)
        slot.add(first, dropped)
        slot.add(start, changed)
        self._add(slot.name, size)

        fn.start(once)
        fits = fn.new_label("fits")
        fn.branch_if(fn.icmp("ule", "i64", self._size(), _CAPACITY), fits, none)
        fn.start(fits)
        self._pack_and_return(str(_PANELS_AT))
        fn.start(none)
        fn.ret("i64", 0)

    def _start_launch(self) -> None:
        """Forget what another launch, or another kernel, left."""
        fn = self.fn
        header = self._at("%arena", -sizeof(ArenaHeader))
        launch = fn.load("ptr", self._at(header, _LAUNCH), align=8)
        number = self._load(Launch.number.offset, launch)
        is_this = fn.icmp("eq", "i64", self._load(_CACHED_LAUNCH, header), number)
        used = fn.select(is_this, "i64", self._load(_IN_USE, header), 0)
        self._set(number, _CACHED_LAUNCH, header)
        bit = fn.binary("shl", "i64", 1, "%number")
        self._set(fn.binary("or", "i64", used, bit), _IN_USE, header)
        clear, ready = fn.new_label("clear"), fn.new_label("ready")
        fn.branch_if(fn.icmp("eq", "i64", fn.binary("and", "i64", used, bit), 0), clear, ready)
        fn.start(clear)
        for field in (_WAS_THERE, _CHANGES, _KEEPS_ALL):
            self._set("0", field)
        fn.store(f"<{_MAX_CHANGES} x i64>", "zeroinitializer", self._at(self.cache, _FIRST_AT), align=64)
        self._clear()
        fn.branch(ready)
        fn.start(ready)

    def _clear(self) -> None:
        """No counts, no entries."""
        fn = self.fn
        for field in (_COUNT, _USED, _HITS, _IS_OFF):
            self._set("0", field)
        loop, done, before = fn.new_label("loop"), fn.new_label("done"), fn.label
        fn.branch(loop)
        fn.start(loop)
        at = fn.phi("i64", "at")
        at.add(str(_SLOTS_AT), before)
        line = fn.address("i8", self.cache, at.name)
        fn.store("<8 x i64>", "zeroinitializer", line, align=64)
        following = fn.binary("add nuw", "i64", at.name, 64)
        at.add(following, loop)
        fn.branch_if(fn.icmp("ult", "i64", following, _ENTRIES_AT), loop, done)
        fn.start(done)

    def _look_up(self) -> str:
        """Return the panels of this B if they are there; else, the slot for them."""
        fn = self.fn
        first = self._hash()
        probe, compare, following, found, missing = (
            fn.new_label(hint) for hint in ("probe", "compare", "next", "found", "missing")
        )
        before = fn.label
        fn.branch(probe)
        fn.start(probe)
        slot = fn.phi("i64", "slot")
        slot.add(first, before)
        index = fn.load("i16", self._slot(slot.name), align=2)
        fn.branch_if(fn.icmp("eq", "i16", index, 0), missing, compare)
        fn.start(compare)
        entry = self._entry(fn.binary("sub", "i64", fn.cast("zext", "i16", index, "i64"), 1))
        equal = "true"
        for position, key in enumerate(_KEY):
            same = fn.icmp("eq", "i64", self._load(8 * position, entry), key)
            equal = fn.binary("and", "i1", equal, same)
        fn.branch_if(equal, found, following)
        fn.start(following)
        after = fn.binary("and", "i64", fn.binary("add", "i64", slot.name, 1), _SLOTS - 1)
        slot.add(after, following)
        fn.branch(probe)
        fn.start(found)
        self._set(fn.binary("add", "i64", self._load(_HITS), 1), _HITS)
        self._set("1", _WAS_THERE)
        fn.ret("i64", fn.binary("add", "i64", "%cache_ptr", self._load(_OFFSET, entry)))
        fn.start(missing)
        return slot.name

    def _is_change(self) -> str:
        """Return whether this B, which is not there, is the first of others that replace all that are."""
        fn, firsts = self.fn, f"<{_MAX_CHANGES} x i64>"
        flags = f"<{_MAX_CHANGES} x i1>"
        remembered = fn.load(firsts, self._at(self.cache, _FIRST_AT), align=64)
        b = fn.insert_element(firsts, "poison", "i64", "%b_ptr", 0, index_type="i64")
        b = fn.shuffle(firsts, b, "poison", f"<{_MAX_CHANGES} x i32> zeroinitializer")
        comes_back = fn.call(
            "i1",
            f"llvm.vector.reduce.or.v{_MAX_CHANGES}i1",
            [(flags, fn.icmp("eq", firsts, remembered, b))],
        )
        keeps = fn.binary("or", "i64", self._load(_KEEPS_ALL), fn.cast("zext", "i1", comes_back, "i64"))
        self._set(keeps, _KEEPS_ALL)
        begins = fn.icmp("ne", "i64", self._load(_WAS_THERE), 0)
        self._set("0", _WAS_THERE)
        is_full = fn.icmp("uge", "i64", self._load(_USED), NEAR_BYTES)
        is_over = fn.icmp("ne", "i64", keeps, 0)
        return fn.select(is_over, "i1", "false", fn.binary("and", "i1", begins, is_full))

    def _change(self) -> None:
        """Drop all panels, but remember which was the first."""
        fn = self.fn
        changes = self._load(_CHANGES)
        index = fn.call("i64", "llvm.umin.i64", [("i64", changes), ("i64", str(_MAX_CHANGES - 1))])
        at = fn.address("i64", self._at(self.cache, _FIRST_AT), index)
        fn.store("i64", self._load(0, self._entry("0")), at, align=8)
        self._set(fn.binary("add", "i64", changes, 1), _CHANGES)
        self._clear()

    def _add(self, slot: str, size: str) -> None:
        """Pack B after what is there."""
        fn = self.fn
        count, used = self._load(_COUNT), self._load(_USED)
        following = fn.binary("add", "i64", count, 1)
        entry = self._entry(count)
        for position, key in enumerate(_KEY):
            self._set(key, 8 * position, entry)
        offset = fn.binary("add", "i64", used, _PANELS_AT)
        self._set(offset, _OFFSET, entry)
        fn.store("i16", fn.cast("trunc", "i64", following, "i16"), self._slot(slot), align=2)
        self._set(following, _COUNT)
        self._set(fn.binary("add", "i64", used, size), _USED)
        self._pack_and_return(offset)

    def _pack_and_return(self, offset: str) -> None:
        fn = self.fn
        address = fn.binary("add", "i64", "%cache_ptr", offset)
        if self.panels is None:
            address = fn.binary("or", "i64", address, 1)
        else:
            values = ("%b_ptr", "%b_stride", address, "%k_count", "%n_count")
            fn.call("void", self.panels, [("i64", value) for value in values])
        fn.ret("i64", address)

    # ----------------------------------------------------------------------------------------------------- small parts

    def _size(self) -> str:
        """Bytes of the panels."""
        rows, width = self._rounded("%k_count", self.depth), self._rounded("%n_count", self.columns)
        size = self.fn.binary("mul", "i64", self.fn.binary("mul", "i64", rows, width), self.element_bytes)
        return self._rounded(size, 64)

    def _rounded(self, value: str, multiple: int) -> str:
        above = self.fn.binary("add", "i64", value, multiple - 1)
        return self.fn.binary("sub", "i64", above, self.fn.binary("urem", "i64", above, multiple))

    def _hash(self) -> str:
        """The slot where the search for this B starts."""
        mixed = self.fn.binary("mul", "i64", "%b_ptr", _HASH_FACTOR)
        return self.fn.binary("lshr", "i64", mixed, 64 - _SLOTS_LOG2)

    def _slot(self, slot: str) -> str:
        offset = self.fn.binary("mul", "i64", slot, _SLOT_BYTES)
        return self.fn.address("i8", self._at(self.cache, _SLOTS_AT), offset)

    def _entry(self, index: str) -> str:
        offset = self.fn.binary("mul", "i64", index, _ENTRY_BYTES)
        return self.fn.address("i8", self._at(self.cache, _ENTRIES_AT), offset)

    def _at(self, pointer: str, offset: int) -> str:
        return self.fn.address("i8", pointer, offset) if offset else pointer

    def _load(self, offset: int, pointer: str = "") -> str:
        return self.fn.load("i64", self._at(pointer or self.cache, offset), align=8)

    def _set(self, value: str, offset: int, pointer: str = "") -> None:
        self.fn.store("i64", value, self._at(pointer or self.cache, offset), align=8)
