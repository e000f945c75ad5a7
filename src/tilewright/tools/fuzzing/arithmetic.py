"""Operations on each element by itself: arithmetic, comparisons, selection, conversions, elementary functions."""

from __future__ import annotations

from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import (
    BITS,
    BOOL,
    COMPARISONS,
    FLOATS,
    FP8,
    INTS,
    LARGE,
    UNSIGNED,
    Value,
)


def index_value(b: Builder) -> Value:
    text = b.pick((b.tile_index(), f"{b.tile_index()} + pid", b.permuted_index()))
    return b.named(text, "int32", b.shape)


def binary(b: Builder) -> Value | None:
    left = b.operand()
    if left is None:
        return None
    right = b.pick_value(lambda v: v.same_kind(left)) if b.chance(0.75) else None
    return _float_binary(b, left, right) if left.is_float else _integer_binary(b, left, right)


def _integer_binary(b: Builder, left: Value, right: Value | None) -> Value:
    text = right.text if right is not None else b.constant(left.dtype)
    op = b.pick(("+", "-", "*", "&", "|", "^", "//", "%", "<<", ">>", "min", "max"))
    bits = BITS[left.dtype]
    match op:
        case "//" | "%":
            divisor = f"(({text} & 7) | 1)" if right is not None else str(b.pick((1, 2, 3, 5, 8)))
            result = f"{left.text} {op} {divisor}"
        case "<<" | ">>":
            amount = f"({text} & {bits - 1})" if right is not None else str(b.integer(0, bits - 1))
            result = f"{left.text} {op} {amount}"
        case "min" | "max":
            result = f"tl.{op}imum({left.text}, {text})"
        case _:
            result = f"{left.text} {op} {text}"
    return b.named(f"({result}).to(tl.{left.dtype})", left.dtype, b.shape)


def _float_binary(b: Builder, left: Value, right: Value | None) -> Value:
    number = b.constant(left.dtype)
    text = right.text if right is not None else number
    bound = right.bound if right is not None else abs(float(number))
    slack = right.slack if right is not None else 0.0
    dtype, eps = left.dtype, b.epsilon(left.dtype)
    op = b.pick(("+", "-", "*", "/", "min", "max"))
    match op:
        case "+" | "-":
            error = left.slack + slack
            return b.rounded(f"({left.text} {op} {text}).to(tl.{dtype})", dtype, left.bound + bound, error)
        case "*":
            error = left.slack * bound + slack * left.bound
            value = b.rounded(f"({left.text} * {text}).to(tl.{dtype})", dtype, left.bound * bound, error)
            if b.fp_fusion and value.is_exact:  # may be added to something without being rounded
                return Value(value.text, value.dtype, value.shape, value.bound, value.bound * eps + eps)
            return value
        case "/":
            error = left.slack + left.bound * slack
            if right is not None and b.fp_fusion:  # the divisor may be fused too
                error += left.bound * eps * 2
            divisor = f"(tl.abs({text}) + 1.0)"
            if dtype == "float32" and b.chance(0.5):
                return b.rounded(f"tl.div_rn({left.text}, {divisor})", dtype, left.bound, error)
            if dtype != "float64":  # `/` may be off by two units in the last place
                error += left.bound * eps * 2
            return b.rounded(f"({left.text} / {divisor}).to(tl.{dtype})", dtype, left.bound, error)
        case _:
            nan = b.pick(("", ", propagate_nan=tl.PropagateNan.ALL"))
            result = f"tl.{op}imum({left.text}, {text}{nan}).to(tl.{dtype})"
            return b.named(result, dtype, b.shape, max(left.bound, bound), max(left.slack, slack))


def unary(b: Builder) -> Value | None:
    value = b.operand()
    if value is None:
        return None
    if not value.is_float:
        forms = ["~{0}"] + (["-{0}", "tl.abs({0})"] if value.dtype not in UNSIGNED else [])
        return b.named(f"({b.pick(forms).format(value.text)}).to(tl.{value.dtype})", value.dtype, b.shape)
    forms = ["-{0}", "tl.abs({0})", "tl.clamp({0}, -3.0, 3.0)"]
    if value.dtype in ("float32", "float64") and value.is_exact:
        forms += ["tl.floor({0})", "tl.ceil({0})"]
    text = f"({b.pick(forms).format(value.text)}).to(tl.{value.dtype})"
    return b.named(text, value.dtype, b.shape, value.bound + 1, value.slack)


FUNCTIONS = (
    ("tl.sqrt_rn(tl.abs({0}))", 16.0, 1),
    ("tl.sqrt(tl.abs({0}))", 16.0, 4),
    ("tl.exp(-tl.abs({0}))", 1.0, 512),
    ("tl.exp2(-tl.abs({0}))", 1.0, 16),
    ("tl.log(tl.abs({0}) + 1.0)", 8.0, 16),
    ("tl.log2(tl.abs({0}) + 1.0)", 8.0, 16),
    ("tl.sin(tl.clamp({0}, -3.0, 3.0))", 1.0, 64),
    ("tl.cos(tl.clamp({0}, -3.0, 3.0))", 1.0, 64),
    ("tl.rsqrt(tl.abs({0}) + 1.0)", 1.0, 16),
    ("tl.erf({0})", 1.0, 16),
    ("tl.sigmoid({0})", 1.0, 512),
    ("tl.fma({0}, 0.5, 1.0)", 33.0, 2),
)
"""Elementary functions with the bound of their results and, in units of epsilon times that bound, how far two
implementations may be apart."""


def function(b: Builder) -> Value | None:
    """An elementary function of exact float32 or float64 values."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("float32", "float64") and v.is_exact)
    if value is None:
        return None
    form, bound, units = b.pick(FUNCTIONS)
    if "_rn" in form and value.dtype != "float32":
        return None
    slack = bound * b.epsilon(value.dtype) * units
    return b.named(form.format(value.text), value.dtype, b.shape, bound, slack)


def comparison(b: Builder) -> Value | None:
    left = b.pick_value(lambda v: v.shape == b.shape and v.dtype != BOOL and v.is_exact)
    if left is None:
        return None
    right = b.pick_value(lambda v: v.same_kind(left) and v.is_exact) if b.chance(0.6) else None
    text = right.text if right is not None else b.constant(left.dtype)
    return b.named(f"{left.text} {b.pick(COMPARISONS)} {text}", BOOL, b.shape)


def logic(b: Builder) -> Value | None:
    """Operations on truth values."""
    left = b.pick_value(lambda v: v.shape == b.shape and v.dtype == BOOL)
    right = b.pick_value(lambda v: v.shape == b.shape and v.dtype == BOOL)
    if left is None or right is None:
        return None
    form = b.pick(
        ("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "~{0}", "{0} == {1}", "{0} != {1}", "tl.where({0}, {1}, {0})")
    )
    return b.named(form.format(left.text, right.text), BOOL, b.shape)


def choice(b: Builder) -> Value | None:
    """`tl.where`."""
    then = b.operand()
    if then is None:
        return None
    otherwise = b.pick_value(lambda v: v.same_kind(then)) or then
    flag = b.pick_value(lambda v: v.shape == b.shape and v.dtype == BOOL)
    condition = flag.text if flag is not None and b.chance(0.5) else b.lane_condition()
    bound, slack = max(then.bound, otherwise.bound), max(then.slack, otherwise.slack)
    return b.named(f"tl.where({condition}, {then.text}, {otherwise.text})", then.dtype, b.shape, bound, slack)


def cast(b: Builder) -> Value | None:
    value = b.pick_value(lambda v: v.shape == b.shape)
    if value is None:
        return None
    made = b.convert(value, b.pick((*INTS, *FLOATS)))
    return None if made is None else b.named(made.text, made.dtype, made.shape, made.bound, made.slack)


def bit_cast(b: Builder) -> Value | None:
    """The same bits as another type: signs, and floats as numbers of their size."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype != BOOL and v.is_exact)
    if value is None:
        return None
    if value.is_float:  # of which a zero may have either sign
        other = f"int{BITS[value.dtype]}"
        return b.named(f"({value.text} + 0.0).to(tl.{value.dtype}).to(tl.{other}, bitcast=True)", other, b.shape)
    other = value.dtype[1:] if value.dtype in UNSIGNED else f"u{value.dtype}"
    return b.named(f"{value.text}.to(tl.{other}, bitcast=True)", other, b.shape)


def high_product(b: Builder) -> Value | None:
    """The upper half of a product."""
    left = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("uint32", "uint64", "int32"))
    if left is None:
        return None
    unsigned = f"u{left.dtype.lstrip('u')}"
    number = f"{left.text}.to(tl.{unsigned})"
    return b.named(f"tl.umulhi({number}, {number} ^ 12345).to(tl.{unsigned})", unsigned, b.shape)


# Results that are stored and not used on.


def store_narrow(b: Builder) -> None:
    """Exact floats, rounded to 8 bits."""
    value = b.pick_value(lambda v: v.shape == b.shape and v.dtype in ("float16", "float32") and v.is_exact)
    if value is None:
        return
    dtype = b.pick(FP8)
    index, size = b.tile_index(), b.tile * b.programs * b.programs_y + 32
    buffer = b.new_argument(dtype, size, "fill")
    b.writer.line(f"tl.store({buffer.name} + 16 + pid * {b.tile} + {index}, {value.text}.to(tl.{dtype}))")
    b.writer.features.add("narrow store")


SPECIAL_FORMS = (
    ("", "{x} + {y}"),
    ("", "{x} - {y}"),
    ("", "{x} * {y}"),
    ("", "tl.maximum({x}, {y})"),
    ("", "tl.minimum({x}, {y})"),
    ("", "tl.maximum({x}, {y}, propagate_nan=tl.PropagateNan.ALL)"),
    ("", "tl.minimum({x}, {y}, propagate_nan=tl.PropagateNan.ALL)"),
    ("", "tl.abs({x})"),
    ("", "-{x}"),
    ("", "tl.where({x} == {x}, {x}, {y})"),
    ("", "tl.where({x} > {y}, {x}, {y})"),
    (BOOL, "{x} < {y}"),
    (BOOL, "{x} >= {y}"),
    (BOOL, "{x} == {y}"),
    (BOOL, "{x} != {y}"),
    ("float32", "{x}.to(tl.float32)"),
    ("float64", "{x}.to(tl.float64)"),
)
"""Operations whose result is defined for all floats, with its type where that is another one."""


def special(b: Builder) -> None:
    """One operation on infinities, NaNs, zeros of both signs, subnormal and huge numbers."""
    dtype = b.pick((*FLOATS, *FP8))
    first, second = (b.new_argument(dtype, b.tile, "special") for _ in range(2))
    result, form = b.pick(SPECIAL_FORMS)
    x, y = b.writer.name("x"), b.writer.name("y")
    b.writer.line(f"{x} = tl.load({first.name} + {b.tile_index()})")
    b.writer.line(f"{y} = tl.load({second.name} + {b.tile_index()})")
    b.store_all(b.named(form.format(x=x, y=y), result or dtype, b.shape, LARGE))
    b.writer.features.add("special")
