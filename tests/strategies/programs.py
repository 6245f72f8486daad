"""Random syntactic trees: every kind of node, well-formed as text, neither resolved nor typed.

`expressions()`, `statements()`, `declarations()` and `programs()` are what other tests want; the trees print and
parse back, and mean nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from hypothesis import strategies as st

from dipc.noise.laws import LAWS
from dipc.text import ast
from dipc.text.syntax_errors import KEYWORDS, spelling

T = TypeVar("T")

RESERVED = {spelling(keyword) for keyword in KEYWORDS}
LETTERS = "xyzqrTABn_αβγμΩς"


def tuples_of(items: st.SearchStrategy[T], least: int, most: int) -> st.SearchStrategy[tuple[T, ...]]:
    """A tuple of `least` to `most` items."""
    return st.lists(items, min_size=least, max_size=most).map(lambda drawn: (*drawn,))


def names() -> st.SearchStrategy[str]:
    """Identifiers: among them some that look like keywords, functions or claim fields without being any."""
    near_words = ["iff", "end_", "e", "e1", "u", "max", "exp", "lap", "alpha", "dd", "epsilon", "_", "Eps", "metric"]
    tricky = st.sampled_from(near_words)
    made = st.text(LETTERS + "019", min_size=1, max_size=4).filter(lambda name: not name[0].isdigit())
    return (made | tricky).filter(lambda name: name not in RESERVED)


def numbers() -> st.SearchStrategy[ast.Number]:
    """Literals in all their spellings."""
    naturals = st.integers(0, 10**6).map(str)
    decimals = st.tuples(naturals, st.text("0123456789", min_size=1, max_size=4)).map(".".join)
    exponents = st.builds(
        lambda mantissa, e, exponent: f"{mantissa}{e}{exponent}",
        naturals | decimals,
        st.sampled_from(["e", "E", "e+", "e-", "E-"]),
        st.integers(0, 30),
    )
    return (naturals | decimals | exponents).map(lambda text: ast.Number(Fraction(text), text))


def leaves() -> st.SearchStrategy[ast.Expr]:
    return st.one_of(
        numbers(), names().map(ast.Name), st.just(ast.Eps()), st.sampled_from([ast.Truth(True), ast.Truth(False)])
    )


def _larger(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    exponents = st.integers(0, 20).map(lambda n: ast.Number(Fraction(n), str(n)))
    operators = st.sampled_from([op for op in ast.BinaryOp if op is not ast.BinaryOp.POWER])
    return st.one_of(
        st.builds(ast.Element, names(), inner),
        st.builds(ast.Unary, st.sampled_from(ast.UnaryOp), inner),
        st.builds(ast.Binary, operators, inner, inner),
        st.builds(ast.Binary, st.just(ast.BinaryOp.POWER), inner, exponents),
        st.builds(ast.Compare, st.sampled_from(ast.CompareOp), inner, inner),
        st.builds(ast.Call, st.sampled_from(["min", "max"]), tuples_of(inner, 1, 3)),
        st.builds(ast.Call, st.sampled_from(["abs", "exp"]), inner.map(lambda x: (x,))),
    )


def expressions(max_leaves: int = 8) -> st.SearchStrategy[ast.Expr]:
    return st.recursive(leaves(), _larger, max_leaves=max_leaves)


_small = expressions(3)


def domains() -> st.SearchStrategy[ast.DomainExpr]:
    return st.one_of(
        st.builds(ast.Range, _small, _small),
        st.builds(ast.ListedDomain, tuples_of(_small, 1, 4)),
        st.builds(ast.NamedDomain, names()),
    )


def types() -> st.SearchStrategy[ast.TypeExpr]:
    return st.builds(ast.BaseTypeExpr, st.sampled_from(ast.BaseType)) | domains()


def distributions() -> st.SearchStrategy[ast.Distribution]:
    return st.one_of(
        *(
            st.builds(
                ast.NoiseExpr,
                st.just(law),
                _small if law.takes_rate else st.none(),
                _small if law.takes_mean else st.none(),
                ends=st.tuples(_small, _small) if law.takes_ends else st.none(),
            )
            for law in LAWS
        ),
        st.builds(ast.ExponentialMechanism, _small, names(), domains(), _small),
        st.builds(ast.Choose, tuples_of(st.tuples(_small, _small), 1, 3)),
    )


def _blocks(statement: st.SearchStrategy[ast.Statement]) -> st.SearchStrategy[tuple[ast.Statement, ...]]:
    return tuples_of(statement, 0, 3)


def _compound(inner: st.SearchStrategy[ast.Statement]) -> st.SearchStrategy[ast.Statement]:
    body = _blocks(inner)
    return st.one_of(
        st.builds(ast.If, _small, body, body),
        st.builds(ast.While, _small, body),
        st.builds(ast.For, names(), _small, _small, body),
    )


def statements() -> st.SearchStrategy[ast.Statement]:
    targets = st.builds(ast.Name, names()) | st.builds(ast.Element, names(), _small)
    simple = st.one_of(
        st.builds(ast.Assign, targets, expressions()),
        st.builds(ast.Sample, targets, distributions()),
        st.just(ast.ExitStatement()),
    )
    return st.recursive(simple, _compound, max_leaves=6)


def declarators() -> st.SearchStrategy[ast.Declarator]:
    scalars = st.builds(ast.Declarator, names(), st.none(), st.none())
    return scalars | st.builds(ast.Declarator, names(), _small, _small)


def variables(roles: list[ast.Role]) -> st.SearchStrategy[ast.VariableDecl]:
    return st.builds(
        ast.VariableDecl,
        st.sampled_from(roles),
        tuples_of(declarators(), 1, 3),
        types(),
        st.none() | _small,
    )


def intervals() -> st.SearchStrategy[ast.IntervalExpr]:
    infinity = ast.Name("inf")
    bounds = _small.filter(lambda bound: bound != infinity)
    bounded = st.builds(ast.IntervalExpr, bounds, bounds, st.booleans(), st.booleans())
    return bounded | st.builds(ast.IntervalExpr, bounds, st.none(), st.booleans(), st.just(False))


def claims() -> st.SearchStrategy[ast.ClaimDecl]:
    several = tuples_of(intervals(), 1, 3)
    field = st.builds(ast.ClaimField, st.sampled_from(["alpha", "beta", "gamma"]), _small) | st.builds(
        ast.ClaimField, st.just("eps"), several
    )
    fields = st.lists(field, max_size=4, unique_by=lambda field: field.name)
    return fields.map(lambda fields: ast.ClaimDecl(tuple(fields)))


def metrics() -> st.SearchStrategy[ast.MetricDecl]:
    primed = names().map(lambda name: f"{name}'")
    compared = st.builds(ast.Name, primed) | st.builds(ast.Element, primed, _small)
    conditions = st.builds(ast.Compare, st.sampled_from(list(ast.CompareOp)), compared, compared) | _small
    fields = st.builds(
        ast.MetricField,
        st.sampled_from(["input", "apart", "output", "same"]),
        st.recursive(conditions, lambda inner: st.builds(ast.Each, names(), _small, _small, inner), max_leaves=2),
    )
    return st.lists(fields, max_size=4, unique_by=lambda field: field.name).map(
        lambda fields: ast.MetricDecl(tuple(fields))
    )


def declarations() -> st.SearchStrategy[ast.Declaration]:
    bindings = tuples_of(st.tuples(names(), _small), 1, 3)
    own = tuples_of(variables([ast.Role.VAR]), 0, 2)
    return st.one_of(
        st.builds(ast.ConstDecl, bindings),
        st.builds(ast.DomainDecl, names(), domains()),
        variables(list(ast.Role)),
        claims(),
        metrics(),
        st.builds(ast.IdealDecl, own, _blocks(statements())),
    )


def programs() -> st.SearchStrategy[ast.ProgramTree]:
    declared = tuples_of(declarations(), 0, 4)
    return st.builds(ast.ProgramTree, names(), declared, _blocks(statements()))
