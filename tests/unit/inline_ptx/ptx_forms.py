"""Every form of every instruction that inline PTX may have where there is no GPU, with operands to try it on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

REGISTERS = {
    **{f"{kind}{bits}": f"i{bits}" for kind in "bsu" for bits in (16, 32, 64)},
    **{name: name for name in ("f16", "bf16", "f32", "f64")},
    **dict.fromkeys(("f16x2", "bf16x2", "s16x2", "u16x2"), "i32"),
    "f32x2": "i64",
    "s8": "i8",
    "u8": "i8",
}
"""By PTX type: the type of elements whose register holds it."""

LETTERS = {"i1": "b", "i8": "r", "i16": "h", "i32": "r", "i64": "l", "f16": "h", "bf16": "h", "f32": "f", "f64": "d"}


@dataclass(frozen=True)
class Case:
    """An inline assembly: types of arguments and results, and how far an approximation may be from another."""

    asm: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    packed: int = 1
    constraints: str = ""
    tolerance: float = 0.0

    @property
    def operand_constraints(self) -> str:
        """The constraints; those of single elements by their types."""
        if self.constraints:
            return self.constraints
        return ",".join([f"={LETTERS[result]}" for result in self.results] + [LETTERS[each] for each in self.arguments])

    @property
    def lanes(self) -> str:
        """The type of packed floats that the result holds, of which one may be NaN."""
        return next((name for name in ("bf16x2", "f16x2", "f32x2") if name in self.asm), "")


def case(asm: str, signature: str, *, packed: int = 1, constraints: str = "", tolerance: float = 0.0) -> Case:
    """`case("not.b32 $0, $1;", "i32 -> i32")`."""
    arguments, results = signature.split("->")
    return Case(asm, tuple(arguments.split()), tuple(results.split()), packed, constraints, tolerance)


def same(opcodes: str, types: str, count: int, *, tolerance: float = 0.0) -> Iterator[Case]:
    """Opcodes (with `T` for the type) whose operands are all of that type."""
    operands = "".join(f", ${n + 1}" for n in range(count))
    for opcode, type_ in product(opcodes.split(), types.split()):
        register = REGISTERS[type_]
        arguments = " ".join([register] * count)
        yield case(f"{opcode.replace('T', type_)} $0{operands};", f"{arguments} -> {register}", tolerance=tolerance)


INTEGERS = "s16 u16 s32 u32 s64 u64"
FLOATS = "f32 f64 f16 bf16 f16x2 bf16x2"
MODES = ("rz", "rm", "rp")
ACCURATE, HALF, SHORT = 2e-6, 2e-3, 1e-2
"""Of approximations in f32, f16 and bf16."""


def integer_cases() -> Iterator[Case]:
    """Integer arithmetic."""
    yield from same("add.T sub.T min.T max.T", INTEGERS + " s16x2 u16x2", 2)
    yield from same("add.sat.T sub.sat.T min.relu.T max.relu.T", "s32", 2)
    yield from same("mul.lo.T mul.hi.T div.T rem.T", INTEGERS, 2)
    yield from same("mad.lo.T mad.hi.T sad.T", INTEGERS, 3)
    yield from same("mad.hi.sat.T mad24.hi.sat.T", "s32", 3)
    yield from same("mul24.lo.T mul24.hi.T", "s32 u32", 2)
    yield from same("mad24.lo.T mad24.hi.T", "s32 u32", 3)
    yield from same("abs.T neg.T", "s16 s32 s64", 1)
    for type_, narrow, wide in (
        ("s16", "i16", "i32"),
        ("u16", "i16", "i32"),
        ("s32", "i32", "i64"),
        ("u32", "i32", "i64"),
    ):
        yield case(f"mul.wide.{type_} $0, $1, $2;", f"{narrow} {narrow} -> {wide}")
        yield case(f"mad.wide.{type_} $0, $1, $2, $3;", f"{narrow} {narrow} {wide} -> {wide}")
    for first, second in product(("s32", "u32"), repeat=2):
        for opcode in ("dp4a", "dp2a.lo", "dp2a.hi"):
            yield case(f"{opcode}.{first}.{second} $0, $1, $2, $3;", "i32 i32 i32 -> i32")
    pairs = "i32 i32 i32 i32 -> i32 i32"
    yield case("add.cc.u32 $0, $2, $4; addc.u32 $1, $3, $5;", pairs, constraints="=&r,=&r,r,r,r,r")
    chain = "sub.cc.u32 $0, $2, $4; subc.cc.u32 $1, $3, $5; subc.u32 $0, $0, $1;"
    yield case(chain, pairs, constraints="=&r,=&r,r,r,r,r")
    long = "mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 7;"
    yield case(long, "i32 i32 i32 -> i32 i32", constraints="=&r,=&r,r,r,r")


def float_cases() -> Iterator[Case]:
    """Floating-point arithmetic."""
    yield from same("add.T sub.T mul.T add.rn.T sub.rn.T mul.rn.T min.T max.T", FLOATS, 2)
    yield from same("add.rn.T sub.rn.T mul.rn.T", "f32x2", 2)
    yield from same("fma.rn.T", FLOATS + " f32x2", 3)
    for scale, offset in (
        (0x2C002C00, 0xD400D400),
        (0x3C003C00, 0x8001),
        (0x04000400, 0x7BFF7BFF),
        (0x2E66, 0x2E662E66),
    ):
        for mask in (0x00FF00FF, 0x03FF03F0):  # numbers whose exponent is known: their sum may be exact, or not
            asm = f"lop3.b32 $0, $1, {mask:#x}, 0x64006400, 0xea; fma.rn.f16x2 $0, $0, {scale:#x}, {offset:#x};"
            yield case(asm, "i32 -> i32")
    yield from same("add.sat.T sub.sat.T mul.sat.T add.ftz.T mul.ftz.T", "f32 f16 f16x2", 2)
    yield from same("add.rn.ftz.sat.T div.approx.ftz.T div.full.T", "f32", 2)
    yield from same("fma.rn.ftz.T fma.rn.sat.T", "f32 f16", 3)
    yield from same("fma.rn.relu.T", "f16 bf16 f16x2 bf16x2", 3)
    yield from same("min.NaN.T max.NaN.T min.NaN.xorsign.abs.T max.xorsign.abs.T", "f32 f16 bf16", 2)
    yield from same("min.ftz.T max.ftz.T", "f32 f16", 2)
    yield from same("min.T max.NaN.T", "f32", 3)
    yield from same("abs.T neg.T", FLOATS, 1)
    yield from same("abs.ftz.T neg.ftz.T", "f32", 1)
    yield from same("div.rn.T", "f32 f64", 2)
    yield from same("rcp.rn.T sqrt.rn.T", "f32 f64", 1)
    yield from same("copysign.T", "f32 f64", 2)
    for mode in MODES:
        yield from same(f"add.{mode}.T sub.{mode}.T mul.{mode}.T div.{mode}.T", "f32 f64", 2)
        yield from same(f"fma.{mode}.T mad.{mode}.T", "f32 f64", 3)
        yield from same(f"rcp.{mode}.T sqrt.{mode}.T", "f32 f64", 1)
    for name in ("ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "sqrt", "rcp"):
        yield from same(f"{name}.approx.T {name}.approx.ftz.T", "f32", 1, tolerance=ACCURATE)
    yield from same("ex2.approx.T tanh.approx.T", "f16 f16x2", 1, tolerance=HALF)
    yield from same("ex2.approx.ftz.T tanh.approx.T", "bf16 bf16x2", 1, tolerance=SHORT)
    yield from same("rsqrt.approx.T rcp.approx.ftz.T", "f64", 1, tolerance=1e-6)


POSITIONS = (0, 1, 8, 31, 32, 63, 70, 255)
LENGTHS = (0, 1, 5, 31, 32, 64, 255)


def bit_cases() -> Iterator[Case]:
    """Logic, shifts, fields, bytes."""
    yield from same("and.T or.T xor.T", "b16 b32 b64", 2)
    yield from same("not.T cnot.T", "b16 b32 b64", 1)
    for kind, bits in product(("shl.b", "shr.u", "shr.s"), (16, 32, 64)):
        yield case(f"{kind}{bits} $0, $1, $2;", f"i{bits} i32 -> i{bits}")
        for amount in (0, 7, 16, 31, 32, 64):
            yield case(f"{kind}{bits} $0, $1, {amount};", f"i{bits} -> i{bits}")
    for way, wraps in product("lr", ("wrap", "clamp")):
        yield case(f"shf.{way}.{wraps}.b32 $0, $1, $2, $3;", "i32 i32 i32 -> i32")
        for amount in (0, 8, 32, 40):
            yield case(f"shf.{way}.{wraps}.b32 $0, $1, $2, {amount};", "i32 i32 -> i32")
    for table in range(256):
        yield case(f"lop3.b32 $0, $1, $2, $3, {table};", "i32 i32 i32 -> i32")
    for table in range(0, 256, 7):
        yield case(f"lop3.b32 $0, $1, 0x00f0ff0f, 0x64006400, {table:#x};", "i32 -> i32")
    for kind, bits in product("us", (32, 64)):
        register = f"i{bits}"
        yield case(f"bfe.{kind}{bits} $0, $1, $2, $3;", f"{register} i32 i32 -> {register}")
        for start, length in product(POSITIONS, LENGTHS):
            yield case(f"bfe.{kind}{bits} $0, $1, {start}, {length};", f"{register} -> {register}")
        yield case(f"bfind.{kind}{bits} $0, $1;", f"{register} -> i32")
        yield case(f"bfind.shiftamt.{kind}{bits} $0, $1;", f"{register} -> i32")
    for bits in (32, 64):
        register = f"i{bits}"
        yield case(f"bfi.b{bits} $0, $1, $2, $3, $4;", f"{register} {register} i32 i32 -> {register}")
        for start, length in product(POSITIONS, LENGTHS):
            yield case(f"bfi.b{bits} $0, $1, $2, {start}, {length};", f"{register} {register} -> {register}")
        yield case(f"popc.b{bits} $0, $1;", f"{register} -> i32")
        yield case(f"clz.b{bits} $0, $1;", f"{register} -> i32")
        yield case(f"brev.b{bits} $0, $1;", f"{register} -> {register}")
    yield case("fns.b32 $0, $1, $2, $3;", "i32 i32 i32 -> i32")
    for base, offset in product((0, 1, 16, 31), (0, 1, 2, 9, 32, -1, -2, -9)):
        yield case(f"fns.b32 $0, $1, {base}, {offset};", "i32 -> i32")
    yield case("fns.b32 $0, $1, 0, $2;", "i32 i32 -> i32")
    for opcode in ("bmsk.clamp.b32", "bmsk.wrap.b32", "szext.clamp.s32", "szext.clamp.u32", "szext.wrap.s32"):
        yield case(f"{opcode} $0, $1, $2;", "i32 i32 -> i32")
    yield case("prmt.b32 $0, $1, $2, $3;", "i32 i32 i32 -> i32")
    for selector in (0x3210, 0x7654, 0x4140, 0x5250, 0x0123, 0xBA98, 0xF0E1, 0x8888, 0x1032):
        yield case(f"prmt.b32 $0, $1, $2, {selector:#x};", "i32 i32 -> i32")
    for mode, selector in product(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"), range(4)):
        yield case(f"prmt.b32.{mode} $0, $1, $2, {selector};", "i32 i32 -> i32")


WHOLE = ("rni", "rzi", "rmi", "rpi")
INTEGER_NAMES = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOAT_NAMES = ("f16", "bf16", "f32", "f64")


def integer_conversion_cases() -> Iterator[Case]:
    """Conversions that integers take part in."""
    for into, out_of in product(INTEGER_NAMES, repeat=2):
        yield case(f"cvt.{into}.{out_of} $0, $1;", f"{REGISTERS[out_of]} -> {REGISTERS[into]}")
        yield case(f"cvt.sat.{into}.{out_of} $0, $1;", f"{REGISTERS[out_of]} -> {REGISTERS[into]}")
    for into in ("s8", "u8", "s16"):
        yield case(f"cvt.{into}.s32 $0, $1;", "i32 -> i32")
    for integer, real in product(INTEGER_NAMES, FLOAT_NAMES):
        for mode in WHOLE:
            yield case(f"cvt.{mode}.{integer}.{real} $0, $1;", f"{real} -> {REGISTERS[integer]}")
        modes = ("rn", "rz") if real in ("f16", "bf16") else ("rn", *MODES)
        for mode in modes:
            yield case(f"cvt.{mode}.{real}.{integer} $0, $1;", f"{REGISTERS[integer]} -> {real}")
    yield case("cvt.rpi.ftz.s32.f32 $0, $1;", "f32 -> i32")


def float_conversion_cases() -> Iterator[Case]:
    """Conversions between floats."""
    for into, out_of in product(FLOAT_NAMES, repeat=2):
        if into == out_of:
            for mode in WHOLE:
                yield case(f"cvt.{mode}.{into}.{into} $0, $1;", f"{into} -> {into}")
            continue
        yield case(f"cvt.rn.{into}.{out_of} $0, $1;", f"{out_of} -> {into}")
        yield case(f"cvt.rz.{into}.{out_of} $0, $1;", f"{out_of} -> {into}")
    for mode in ("rm", "rp"):
        yield case(f"cvt.{mode}.f32.f64 $0, $1;", "f64 -> f32")
    for modifiers in ("rn.relu", "rn.satfinite", "rn.ftz", "rz.relu"):
        yield case(f"cvt.{modifiers}.f16.f32 $0, $1;", "f32 -> f16")
    yield case("cvt.sat.f32.f32 $0, $1;", "f32 -> f32")
    yield case("cvt.ftz.f32.f16 $0, $1;", "f16 -> f32")
    for modifiers in ("rna", "rn", "rn.relu"):
        yield case(f"cvt.{modifiers}.tf32.f32 $0, $1;", "f32 -> f32", constraints="=r,r")
    for pair in ("f16", "bf16"):
        for modifiers in ("rn", "rz", "rn.relu", "rn.satfinite", "rz.relu"):
            asm = f"cvt.{modifiers}.{pair}x2.f32 $0, $2, $1;"
            yield case(asm, f"f32 -> {pair}", packed=2, constraints="=r,f,f")
    for name, element in (("e4m3x2", "f8E4M3FN"), ("e5m2x2", "f8E5M2")):
        for modifiers in ("rn.satfinite", "rn.satfinite.relu"):
            asm = f"cvt.{modifiers}.{name}.f32 $0, $2, $1;"
            yield case(asm, f"f32 -> {element}", packed=2, constraints="=h,f,f")
            yield case(f"cvt.{modifiers}.{name}.f16x2 $0, $1;", f"f16 -> {element}", packed=2, constraints="=h,r")
        for modifiers in ("rn", "rn.relu"):
            yield case(f"cvt.{modifiers}.f16x2.{name} $0, $1;", f"{element} -> f16", packed=2, constraints="=r,h")

    for modifiers in ("rn.satfinite", "rn.satfinite.relu"):
        asm = f"{{ .reg .b8 b; cvt.{modifiers}.e2m1x2.f32 b, $2, $1; mov.b32 $0, {{b, 0, b, 1}}; }}"
        yield case(asm, "f32 f32 -> i32")
    asm = (
        "{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, $2; cvt.rn.f16x2.e2m1x2 $0, a; cvt.rn.relu.f16x2.e2m1x2 $1, c; }"
    )
    yield case(asm, "i32 -> i32 i32", constraints="=&r,=r,r")
    asm = (
        "{ .reg .b8 b<4>; cvt.rn.satfinite.e2m1x2.f32 b0, $5, $1; cvt.rn.satfinite.e2m1x2.f32 b1, $6, $2;"
        "cvt.rn.satfinite.e2m1x2.f32 b2, $7, $3; cvt.rn.satfinite.e2m1x2.f32 b3, $8, $4;"
        "mov.b32 $0, {b0, b1, b2, b3}; }"
    )
    yield case(asm, "f32 f32 -> i8", packed=4, constraints="=r,r,r,r,r,r,r,r,r")
    for modifiers in ("rp", "rz", "rp.satfinite", "rz.satfinite"):
        yield case(f"cvt.{modifiers}.ue8m0x2.f32 $0, 0.0, $1;", "f32 -> i16", constraints="=h,r")
        yield case(f"cvt.{modifiers}.ue8m0x2.bf16x2 $0, $1;", "bf16 -> i8", packed=2, constraints="=h,r")
    yield case("cvt.rn.bf16x2.ue8m0x2 $0, $1;", "i8 -> bf16", packed=2, constraints="=r,h")
    for pair in ("f16", "bf16"):
        for modifiers in ("rs", "rs.relu", "rs.satfinite"):
            asm = f"cvt.{modifiers}.{pair}x2.f32 $0, $2, $1, $3;"
            yield case(asm, f"f32 i32 -> {pair}", packed=2, constraints="=r,r,r,r,r")


ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
UNORDERED = (*(f"{name}u" for name in ORDERED), "num", "nan")


def move_cases() -> Iterator[Case]:
    """Comparisons, choices, moves, and programs of several instructions."""
    for type_, names in (
        *((real, (*ORDERED, *UNORDERED)) for real in FLOAT_NAMES),
        *((signed, ORDERED) for signed in ("s16", "s32", "s64")),
        *((unsigned, (*ORDERED, "lo", "ls", "hi", "hs")) for unsigned in ("u16", "u32", "u64")),
    ):
        register = REGISTERS[type_]
        for name in names:
            asm = f"{{ .reg .pred p; setp.{name}.{type_} p, $1, $2; selp.b32 $0, 1, 0, p; }}"
            yield case(asm, f"{register} {register} -> i32")
    for name, pair in product((*ORDERED, *UNORDERED), ("f16x2", "bf16x2")):
        asm = f"{{ .reg .pred p, q; setp.{name}.{pair} p|q, $1, $2; selp.b32 $0, 1, 0, p; @q add.s32 $0, $0, 2; }}"
        yield case(asm, "i32 i32 -> i32")
    for name in ("and", "or", "xor"):
        asm = (
            f"{{ .reg .pred p, q, r; setp.lt.s32 r, $1, 5; setp.gt.{name}.s32 p|q, $1, $2, !r;"
            "selp.b32 $0, 1, 0, p; @q add.s32 $0, $0, 2; }"
        )
        yield case(asm, "i32 i32 -> i32")
        asm = (
            f"{{ .reg .pred p, q, r; setp.lt.ftz.f32 r, $1, 0f3F800000; setp.gt.{name}.f32 p, $1, $2, r;"
            f"not.pred q, p; {name}.pred p, q, r; selp.f32 $0, $1, $2, p; @!p neg.f32 $0, $0; }}"
        )
        yield case(asm, "f32 f32 -> f32")
    yield case("set.lt.u32.f32 $0, $1, $2;", "f32 f32 -> i32")
    yield case("set.geu.f32.f32 $0, $1, $2;", "f32 f32 -> f32")
    yield case("set.eq.f32.u32 $0, $1, $2;", "i32 i32 -> f32")
    yield case("slct.f32.s32 $0, $1, $2, $3;", "f32 f32 i32 -> f32")
    yield case("slct.ftz.u64.f32 $0, $1, $2, $3;", "i64 i64 f32 -> i64")
    yield case("selp.b32 $0, $1, $2, $3;", "i32 i32 i1 -> i32")
    for name, real in product(("finite", "infinite", "number", "notanumber", "normal", "subnormal"), ("f32", "f64")):
        yield case(f"{{ .reg .pred p; testp.{name}.{real} p, $1; selp.b32 $0, 1, 0, p; }}", f"{real} -> i32")
    yield case("{ .reg .b16 l, h; mov.b32 {l, h}, $1; mov.b32 $0, {h, l}; }", "i32 -> i32")
    yield case("{ .reg .b32 l; mov.b64 {l, _}, $1; mov.b64 $0, {l, l}; }", "i64 -> i64")
    yield case("{ .reg .b8 b<4>; mov.b32 {b0, b1, b2, b3}, $1; mov.b32 $0, {b3, b2, b1, b0}; }", "i32 -> i32")
    yield case("mov.b64 $0, {$1, $2};", "i32 i32 -> i64")
    yield case("add.s32 $0, $0, $1;", "i32 i32 -> i32", constraints="=r,r,0")
    yield case("add.s32 $0, $1, -5; // comment\n /* more */ add.s32 $0, $0, 0x10U;", "i32 -> i32")
    yield case("mul.f32 $0, $1, 0.5; mul.f32 $0, $0, -1.5;", "f32 -> f32")
    yield case("add.f64 $0, $1, 0d3FF0000000000000;", "f64 -> f64")
    yield case("griddepcontrol.wait; // dummy $0", "i32 -> i32")
    yield case("bar.sync 0; mov.b32 $0, $1; fence.acq_rel.cta; prefetch.global.L2 [$2];", "i32 i64 -> i32")


def packed_cases() -> Iterator[Case]:
    """Several elements at a time: the same for each, and not."""
    yield case("not.b32 $0, $1;", "i8 -> i8", packed=4, constraints="=r,r")
    yield case("not.b16 $0, $1;", "i8 -> i8", packed=2, constraints="=h,h")
    yield case("add.u16x2 $0, $1, $2;", "i16 i16 -> i16", packed=2, constraints="=r,r,r")
    yield case("prmt.b32 $0, $1, 0, 0x0123;", "i8 -> i8", packed=4, constraints="=r,r")
    yield case("prmt.b32 $0, $1, 0, 0x1032;", "f16 -> f16", packed=2, constraints="=r,r")
    carried = "and.b32 $0, $1, 0x00ff00ff; and.b32 t, $2, 0x00800080; add.u32 $0, $0, t; shl.b32 $0, $0, 7;"
    yield case(f"{{ .reg .b32 t; {carried} }}", "i16 i16 -> i16", packed=2, constraints="=&r,r,r")
    yield case("mad.lo.u32 $0, $1, 4, $2; mul.lo.u32 $0, 8, $0;", "i32 i32 -> i32")
    yield case("mov.b32 $0, $3; mov.b32 $1, $2;", "f32 -> f32", packed=2, constraints="=&r,=&r,r,r")
    halves = "prmt.b32 $0, $4, 0, 0x4140; prmt.b32 $1, $4, 0, 0x4342; not.b32 $2, $0; not.b32 $3, $1;"
    yield case(halves, "i8 -> i16 i16", packed=4, constraints="=&r,=&r,=&r,=&r,r")
    bytes_ = (
        "{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $8; cvt.u32.u8 $0, t0; cvt.u32.u8 $1, t1; cvt.u32.u8 $2, t2;"
        "cvt.u32.u8 $3, t3; } cvt.rn.f32.s32 $4, $0; cvt.rn.f32.s32 $5, $1; cvt.rn.f32.s32 $6, $2;"
        "cvt.rn.f32.s32 $7, $3; max.f32 $4, $4, $9; max.f32 $5, $5, $10; max.f32 $6, $6, $11; max.f32 $7, $7, $12;"
    )
    yield case(bytes_, "i8 f32 -> i32 f32", packed=4, constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r")
    dequantised = (
        "{ .reg .b32 r; prmt.b32 r, $2, 0x64646464, 0x5150; sub.f16x2 $0, r, 0x64006400;"
        "prmt.b32 r, $2, 0x64646464, 0x5352; sub.f16x2 $1, r, 0x64006400; }"
    )
    yield case(dequantised, "i8 -> f16", packed=4, constraints="=r,=r,r")
    nibbles = (
        "{ .reg .b32 r; lop3.b32 r, $4, 0x000f000f, 0x64006400, 0xea; sub.f16x2 $0, r, 0x64006400;"
        "shr.u32 r, $4, 4; lop3.b32 r, r, 0x000f000f, 0x64006400, 0xea; sub.f16x2 $1, r, 0x64006400;"
        "shr.u32 r, $4, 8; lop3.b32 r, r, 0x000f000f, 0x64006400, 0xea; sub.f16x2 $2, r, 0x64006400;"
        "shr.u32 r, $4, 12; lop3.b32 r, r, 0x000f000f, 0x64006400, 0xea; sub.f16x2 $3, r, 0x64006400; }"
    )
    yield case(nibbles, "i32 -> i32 i32 i32 i32", constraints="=&r,=&r,=&r,=&r,r")
    pairs = (
        "{ .reg .b64 a, b, c; mov.b64 a, {$2, $3}; mov.b64 b, {$4, $5}; mov.b64 c, {$6, $7};"
        "fma.rn.f32x2 a, a, b, c; mov.b64 {$0, $1}, a; }"
    )
    yield case(pairs, "f32 f32 f32 -> f32", packed=2, constraints="=f,=f,f,f,f,f,f,f")
    widened = "{ .reg .b16 a, b; mov.b32 {a, b}, $2; cvt.rn.f16x2.e4m3x2 $0, a; cvt.rn.f16x2.e4m3x2 $1, b; }"
    yield case(widened, "f8E4M3FN -> f16", packed=4, constraints="=r,=r,r")
    yield case("{ .reg .f16x2 t; add.f16x2 t, $1, $1; mov.b32 $0, t; }", "f16 -> f16", packed=2, constraints="=r,r")


FAMILIES = {
    "integers": integer_cases,
    "floats": float_cases,
    "bits": bit_cases,
    "integer conversions": integer_conversion_cases,
    "float conversions": float_conversion_cases,
    "moves": move_cases,
    "packed": packed_cases,
}
