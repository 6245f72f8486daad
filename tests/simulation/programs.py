"""Random programs as texts, well typed, that terminate with probability 1 and never go wrong in any run.

They use the whole language of Figure 3, arrays, `for` and everything that the features allow.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

HEADER = """\
program random;
const k = 2, h = 1/2;
domain name = {lo, mid, hi};
domain level = {0, 1/2, 2};
input q[1..2] : real;
input d : {0..2};
input e : name;
input t : bool;
output out[1..2] : {0..2} = 0;
output who : name;
output flag : bool = false;
output val : real;
var r[1..3] : real = 0;
var b[1..2] : bool = false;
var x : {0..k} = 1;
var f : level = h;
var a[0..2] : {0..2} = 2;
var n : name = mid;
"""

ALL = frozenset({"random mean", "combinations", "Expo", "int", "Exp", "choose", "while"})

INPUTS = st.fixed_dictionaries(
    {
        "q[1]": st.sampled_from([Fraction(0), Fraction(-1), Fraction(1, 3)]),
        "q[2]": st.sampled_from([Fraction(0), Fraction(1), Fraction(-1, 2)]),
        "d": st.integers(0, 2).map(Fraction),
        "e": st.sampled_from(["lo", "mid", "hi"]),
        "t": st.booleans(),
    }
)

WEIGHTS = [
    ("1/3", "2/3"),
    ("exp(eps/2)/(1 + exp(eps/2))", "1/(exp(eps/2) + 1)"),
    ("1 - exp(-eps)", "exp(-eps)"),
    ("h", "1 - h"),
]
NOISES = ["r[1]", "r[2]", "r[3]"]
COMPARISONS = st.sampled_from(["<", "<=", "=", "!=", ">=", ">"])


@st.composite
def programs(draw, features=ALL, size=8):
    """The text of a program; without some of `features` if they are left out."""

    def pick(*items):
        """One of the items; a function among them is called, so that only what is used is drawn."""
        item = items[draw(st.integers(0, len(items) - 1))]
        return item() if callable(item) else item

    has = features.__contains__

    def index(loops):
        return pick("x", "d", "a[x]", "a[d]", "0", "min(2, x + d)", *loops)

    def integer_expression(depth, loops):
        """An integer DOM expression."""
        if depth and draw(st.booleans()):
            left, right = integer_expression(depth - 1, loops), integer_expression(depth - 1, loops)
            shape = pick("({} + {})", "({} - {})", "({} * {})", "min({}, {})", "max({}, {}, 1)", "abs({} - {})", "-{}")
            return shape.format(left, right)
        return pick("0", "1", "2", "k", "x", "d", "out[1]", lambda: f"a[{index(loops)}]", *loops)

    def number(depth, loops):
        """A DOM expression."""
        if depth and draw(st.booleans()):
            left, right = number(depth - 1, loops), number(depth - 1, loops)
            return pick("({} + {})", "({} * {})", "{} / 3", "({} - f)", "{} / (1 + abs(x))").format(left, right)
        return pick("f", "h", "1/3", lambda: integer_expression(1, loops))

    def real(depth, loops):
        if depth and draw(st.booleans()):
            factor = pick("2", "-1/3", "h", "x", "f", "(d - 1)")
            left, right = real(depth - 1, loops), real(depth - 1, loops)
            return pick("({} + {})", "({} - {})", "{f}*{}", "{} / 3", "-{}").format(left, right, f=factor)
        return pick(*NOISES, "q[1]", "q[2]", lambda: number(0, loops))

    def integer(depth, loops):
        if depth and draw(st.booleans()):
            left, right = integer(depth - 1, loops), integer(depth - 1, loops)
            return pick("({} + {})", "({} - {})", "2*{}", "x*{}", "-{}").format(left, right)
        return pick("z[1]", "z[2]", lambda: integer_expression(0, loops))

    def comparison(loops):
        op = draw(COMPARISONS)
        kind = pick("real", "real", "real", *(["int"] if has("int") else []))
        if kind == "int":
            return f"{integer(1, loops)} {op} {integer(1, loops)}"
        if has("combinations"):
            return f"{real(1, loops)} {op} {real(1, loops)}"
        return f"{pick(*NOISES)} {op} {pick(*NOISES, 'q[1]', lambda: number(0, loops))}"

    def truth(depth, loops):
        if depth and draw(st.booleans()):
            left, right = truth(depth - 1, loops), truth(depth - 1, loops)
            return pick("({} and {})", "({} or {})", "not {}").format(left, right)
        return pick(
            "b[1]",
            "b[2]",
            "t",
            "flag",
            "true",
            lambda: f"{pick('n', 'e')} {pick('=', '!=')} {pick('mid', 'e')}",
            lambda: f"b[1] {pick('=', '!=')} t",
            lambda: f"{number(1, loops)} {draw(COMPARISONS)} {number(1, loops)}",
        )

    def condition(loops):
        first = pick(lambda: truth(2, loops), lambda: comparison(loops))
        if pick(True, False, False):
            second = pick(lambda: truth(1, loops), lambda: f"not ({comparison(loops)})")
            return f"({first}) {pick('and', 'or')} {second}"
        return first

    def assign(loops):
        kinds = ["bool", "dom", "array", "output", "level", "name"]
        match pick(*kinds):
            case "bool":
                return f"{pick('b[1]', 'b[2]', 'flag')} <- {condition(loops)}"
            case "dom":
                return f"x <- min(2, max(0, {integer_expression(2, loops)}))"
            case "array":
                return f"a[{index(loops)}] <- min(2, abs({integer_expression(2, loops)}))"
            case "output":
                return f"out[{pick('1', '2', *loops)}] <- {pick('x', 'a[x]', 'd', '1')}"
            case "level":
                return f"f <- {pick('0', 'h', '2', '1/2', 'f')}"
            case _:
                return f"{pick('n', 'who')} <- {pick('n', 'e', 'lo', 'hi')}"

    def random_finite(loops):
        kinds = [kind for kind in ("Exp", "choose") if has(kind)]
        if not kinds:
            return assign(loops)
        if pick(*kinds) == "Exp":
            score = pick("-abs(v - x)", "v*f", "min(v, d)", "1/(v + 1)")
            return f"{pick('x', 'a[x]', 'out[1]')} <- Exp({pick('eps', 'eps/2')}, v in {{0..2}} : {score})"
        one, other = pick(*WEIGHTS)
        target, values = pick(("x", ("0", "d")), ("b[2]", ("true", "t")), ("a[d]", ("x", "2")), ("n", ("lo", "e")))
        return f"{target} <- choose {{ {values[0]} : {one}, {values[1]} : {other} }}"

    def noise(loops):
        target = pick(*NOISES, "val", *(["z[1]", "z[2]"] if has("int") else []))
        if target.startswith("z"):
            mean = integer(1, loops) if has("random mean") else integer_expression(1, loops)
            return f"{target} <- {pick(f'DLap({rate()}, {mean})', lambda: integer(1, loops))}"
        if has("Expo") and pick(True, False, False, False):
            return f"{target} <- Expo({rate()})"
        if has("combinations") and pick(True, False, False, False):
            return f"{target} <- {real(2, loops)}"
        mean = real(1, loops) if has("random mean") else pick("q[1]", "q[2]", "0", lambda: f"q[1] + {number(0, loops)}")
        return f"{target} <- Lap({rate()}, {mean})"

    def rate():
        return pick("eps", "eps/2", "h*eps", "2*eps/(k + 1)")

    def statement(depth, loops, in_while):
        kinds = ["assign", "assign", "finite"]
        if not in_while:
            kinds += ["noise", "noise"]
        if depth:
            kinds += ["if", "if", "exit"]
            kinds += ["for"] if not loops else []
            kinds += ["while"] if has("while") and not in_while else []
        match pick(*kinds):
            case "assign":
                return assign(loops)
            case "finite":
                return random_finite(loops)
            case "noise":
                return noise(loops)
            case "if":
                then = block(depth - 1, loops, in_while)
                if draw(st.booleans()):
                    return f"if {condition(loops)} then {then} end"
                return f"if {condition(loops)} then {then} else {block(depth - 1, loops, in_while)} end"
            case "exit":
                return f"if {condition(loops)} then exit end"
            case "for":
                low, high = pick(("1", "k"), ("2", "2"), ("2", "1"))
                return f"for i in {low}..{high} do {block(depth - 1, ('i',), in_while)} end"
            case _:
                one, other = pick(*WEIGHTS)
                more = f" and {pick('x < 2', 'true', 't')}"
                body = block(depth - 1, loops, True)
                again = f"b[1] <- choose {{ true : {one}, false : {other} }}"
                return f"b[1] <- true; while b[1]{more} do {body}; {again} end"

    def block(depth, loops, in_while):
        count = draw(st.integers(1, 3))
        return ";\n".join(statement(depth, loops, in_while) for _ in range(count))

    integers = "var z[1..2] : int = 1;\n" if has("int") else ""
    start = "r[1] <- Lap(eps, q[1]);\nr[2] <- Lap(eps/2, q[2]);\n"
    count = draw(st.integers(1, size))
    return HEADER + integers + start + ";\n".join(statement(2, (), False) for _ in range(count)) + "\n"
