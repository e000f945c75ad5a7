"""erf and erfc of f32 and f64.

erf x is x + x p(x^2) below 1, and 1 - exp(q(x)) above, where q fits log erfc. erfc x is exp(-x^2) (1 + d(t)) / (1 + 2x)
with t = (x - a) / (x + a), a form that holds from 0 to infinity (M. M. Shepherd and J. G. Laframboise, "Chebyshev
approximation of (1 + 2x) exp(x^2) erfc x", 1981): exp, numerator and denominator are sums of two numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library import double
from tilewright.codegen.math_library.error_function_table import erf_by_table, has_erf_by_table
from tilewright.codegen.math_library.exponential import FACTS, emit_exp, reduced
from tilewright.codegen.math_library.number import Number, fast_two_sum, two_product
from tilewright.codegen.math_library.scaling import scale
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder


@dataclass(frozen=True)
class _ErrorFacts:
    near: tuple[float, ...]
    """erf(x) / x - 1 in x^2 on [0, 1]."""
    log_complement: tuple[float, ...]
    """log(erfc(x)) on [1, one_from], weighted by erfc(x)."""
    one_from: float
    """Where erf(x) is 1."""
    scaled_complement: tuple[float, ...]
    """exp(x^2) erfc(x) (1 + 2x) - 1 in t = (x - a) / (x + a), from 0 to where erfc(x) is 0."""
    a: float
    zero_from: float
    """Where erfc(x) is 0."""


_FACTS = {
    "float": _ErrorFacts(
        near=(
            0.12837916612625122,
            -0.3761262595653534,
            0.11283578723669052,
            -0.026853347197175026,
            0.005187162198126316,
            -0.0007997853099368513,
            7.806903886375949e-05,
        ),
        log_complement=(
            -0.00035370892146602273,
            -1.1270400285720825,
            -0.638225793838501,
            -0.10303715616464615,
            0.02180515229701996,
            -0.0029395469464361668,
            0.0001855656737461686,
        ),
        one_from=4.0,
        scaled_complement=(
            0.26483818888664246,
            -0.12235670536756516,
            -0.099024198949337,
            0.15762795507907867,
            -0.102973572909832,
            0.0327765978872776,
            0.0009792916243895888,
            -0.00441877031698823,
            0.0003440977307036519,
            0.000613377895206213,
            7.865193765610456e-05,
        ),
        a=2.5,
        zero_from=10.1,
    ),
    "double": _ErrorFacts(
        near=(
            0.12837916709551256,
            -0.3761263890318355,
            0.11283791670945252,
            -0.02686617064327602,
            0.005223977607422088,
            -0.0008548325989642959,
            0.00012055295319228035,
            -1.4924744644820125e-05,
            1.6447517511670073e-06,
            -1.6209175051111221e-07,
            1.3722974085577803e-08,
            -7.801187300572818e-10,
        ),
        log_complement=(
            -1.254708440451165e-07,
            -1.1283778769891382,
            -0.6366258857403626,
            -0.10275498464644807,
            0.01909425899676003,
            0.00025549328627040693,
            -0.0017390061108567396,
            0.0006126971631498974,
            -2.3125732979672678e-05,
            -8.374407744437276e-05,
            5.1733935255942584e-05,
            -1.9232963171612195e-05,
            5.217905936036333e-06,
            -1.0837976130862384e-06,
            1.7373104710546354e-07,
            -2.122148390261698e-08,
            1.9143855928585907e-09,
            -1.2033107625213705e-10,
            4.70633809901117e-12,
            -8.621310171926272e-14,
        ),
        one_from=6.0,
        scaled_complement=(
            0.2329951186255525,
            -0.13962111684056286,
            0.015379652102620265,
            0.06809705425473259,
            -0.10103906603632905,
            0.093732834996942,
            -0.06633036581194621,
            0.037167515560347905,
            -0.01619773405551324,
            0.00503196977310292,
            -0.0007577733575320946,
            -0.0001992555902530669,
            0.00015062227842993164,
            -2.4402923913003894e-05,
            -1.1224798825977913e-05,
            5.717441963201749e-06,
            3.0124318127842567e-07,
            -8.346943413820862e-07,
            6.291941351101127e-08,
            1.151041992520487e-07,
            -7.867378708389137e-09,
            -1.3629666461992308e-08,
            -1.7891210976674548e-09,
        ),
        a=4.0,
        zero_from=27.3,
    ),
}


def emit_erf(b: FormBuilder, x: str) -> str:
    if b.scalar == "float" and has_erf_by_table(b):
        return erf_by_table(b, x)
    value, facts = Number(b, x), _FACTS[b.scalar]
    square, size = value * value, abs(value)
    small = value.fma(square.polynomial(facts.near), value)
    bounded = (size > facts.one_from).pick(facts.one_from, size)
    emit = emit_exp if b.scalar == "float" else double.emit_exp
    rest = Number(b, emit(b, bounded.polynomial(facts.log_complement).name))
    return (size < 1.0).pick(small, (1.0 - rest).copysign(value)).name


def emit_erfc(b: FormBuilder, x: str) -> str:
    """erfc(-x) = 2 - erfc(x)."""
    value = Number(b, x)
    result = _complement(abs(value))
    return (value < 0.0).pick(2.0 - result, result).name


def _complement(x: Number) -> Number:
    """erfc x for x >= 0."""
    facts = _FACTS[x.scalar]
    bounded = (x > facts.zero_from).pick(facts.zero_from, x)
    square, square_low = two_product(bounded, bounded)
    n, r, lost = reduced(-square)
    r, lost = fast_two_sum(r, lost - square_low)
    w = r + (r * r).fma(r.polynomial(FACTS[x.scalar].coefficients), lost)
    twice = bounded + bounded
    under = twice + 1.0
    under_low = twice - (under - 1.0)
    # Both quotients by one division; what the second lacks is added below.
    apart = bounded + facts.a
    inverse = 1.0 / (apart * under)
    t = twice.fma(under * inverse, -1.0)  # near -1, where d depends on it most, its error is least
    inverse = apart * inverse
    d = t.polynomial(facts.scaled_complement)
    over, over_low = fast_two_sum(x.of(1.0), d.fma(w, d + w))
    quotient = over * inverse
    rest = (-quotient).fma(under_low, (-quotient).fma(under, over) + over_low)
    return scale(rest.fma(inverse, quotient), n, ~(x >= facts.zero_from))
