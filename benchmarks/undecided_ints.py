"""Random claims about every int input: integer noise, sums of it, int outputs, ints beside reals, three metrics."""

from __future__ import annotations

import random

from benchmarks.undecided import RandomClaim

#: The inputs that are decided one by one: of two ints, and of a real beside them.
_GRID = "n in {-30, -6, -4, -3, -2, -1, 0, 1, 2, 3, 5, 17}, m in {-13, -3, -1, 0, 1, 2, 4}"
_REAL_GRID = "q in {-7/2, 0, 1/2, 1, 3, 9/4}"

_FORMS = ("n", "m", "n + m", "n - m", "2*n - m", "-n", "n - 3*m", "2*n")
_THRESHOLDS = ("0", "1", "-1", "3")
_COMPARISONS = (">=", ">", "<", "<=", "=")
_RATES = ("eps", "eps/2", "2*eps")
_BETAS = (
    *("1/2", "1/3", "exp(-alpha*eps/2)", "exp(-alpha*eps)", "2*exp(-alpha*eps/4)", "exp(-eps)", "1/(1 + exp(eps))"),
    *("exp(-alpha*eps)/(1 + exp(-eps))", "2*exp(-alpha*eps)/(1 + exp(-eps))", "2*exp(-alpha*eps)"),
    *("3*exp(-alpha*eps/2)", "exp(-2*alpha*eps)", "(2 + alpha)*exp(-alpha*eps/2)"),
)
_METRICS = ("", "", "", "metric { input: l1; } ", "metric { input: discrete; } ")

KINDS = ("int tree", "int sum", "int deterministic", "int output", "int and real")


def random_int_claim(seed: int) -> RandomClaim:
    """Return the claim with this `seed`: always the same."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kind = chance.choice(KINDS)
    return RandomClaim(seed, kind, _with_int_output(chance) if kind == "int output" else _with_tree(chance, kind))


def grid(claim: RandomClaim) -> str:
    """Return the inputs of the program of `claim` that are decided one by one."""
    return f"{_GRID}, {_REAL_GRID}" if claim.kind == "int and real" else _GRID


def _with_int_output(chance: random.Random) -> str:
    form = chance.choice(_FORMS)
    given = form if chance.random() < 0.7 else form + chance.choice((" + 1", " - n", " + n"))
    output = f"DLap({chance.choice(_RATES)}, {given})" if chance.random() < 0.7 else given
    claim = f"alpha: {chance.choice(('0', '1', 'dd', '2'))}; beta: {chance.choice(_BETAS)}"
    gamma = chance.choice(("0", "1", "5", "1/2"))
    return (
        f"program p; input n, m : int; output o : int; ideal {{ o <- {form} }} claim {{ {claim}; gamma: {gamma} }}\n"
        f"o <- {output}\n"
    )


def _with_tree(chance: random.Random, kind: str) -> str:
    """Return a random program of int inputs of this `kind`, drawn from `chance`, whose ideal is a tree of comparisons.

    The program has noise, or sums of two noises, in some of the comparisons, and a coin at the end. Sometimes it has
    another threshold or answer than the ideal.
    """
    draws: dict[str, tuple[str, str]] = {}

    def drawn(type_: str, mean: str) -> str:
        name = f"z{len(draws)}"
        draws[name] = type_, f"{'Lap' if type_ == 'real' else 'DLap'}({chance.choice(_RATES)}, {mean})"
        return name

    def tree(depth: int) -> tuple[str, str]:
        if depth == 0 or chance.random() < 0.15:
            right = chance.choice("01")
            return f"b <- {right}", f"b <- {right if chance.random() < 0.95 else chance.choice('01')}"
        real = kind == "int and real" and chance.random() < 0.5
        form = "q" if real else chance.choice(_FORMS)
        comparison, at = chance.choice(_COMPARISONS[:4] if real else _COMPARISONS), chance.choice(_THRESHOLDS)
        there = at if chance.random() < 0.9 else chance.choice(_THRESHOLDS)
        compared = form
        if kind != "int deterministic" and chance.random() < 0.75:
            compared = drawn("real" if real else "int", form)
            if kind == "int sum" and chance.random() < 0.6:
                compared = f"{compared} {chance.choice('+-')} {drawn('int', chance.choice(('0', '0', 'm')))}"
        yes, no = tree(depth - 1), tree(depth - 1)
        return (
            f"if {form} {comparison} {at} then {yes[0]} else {no[0]} end",
            f"if {compared} {comparison} {there} then {yes[1]} else {no[1]} end",
        )

    ideal, body = tree(chance.choice((1, 1, 2)))
    last = "o <- choose { b : 3/4, 1 - b : 1/4 }" if chance.random() < 0.15 else "o <- b"
    claim = f"alpha: {chance.choice(('dd', 'dd', 'dd', '0', '1', '2', '3/2'))}; beta: {chance.choice(_BETAS)}; gamma: 0"
    names = "".join(f"var {name} : {type_}; " for name, (type_, _) in draws.items())
    return (
        f"program p; domain B = {{0, 1}}; input n, m : int; {'input q : real; ' if kind == 'int and real' else ''}"
        f"output o : B; var b : B = 0; {names}{chance.choice(_METRICS)}\n"
        f"ideal {{ var b : B = 0; {ideal}; o <- b }} claim {{ {claim} }}\n"
        f"{' '.join(f'{name} <- {noise};' for name, (_, noise) in draws.items())} {body}; {last}\n"
    )
