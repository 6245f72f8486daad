"""Command lines, right and wrong: the options are the commands' own, the values drawn for what an option means.

A new option takes part without a word here, with values that are mostly junk.
"""

from __future__ import annotations

import click
from hypothesis import strategies as st

from dipc.cli.main import cli

LAPLACE = """program laplace;
input q : real;
output out : real;
ideal { out <- q }
claim { alpha: 0; beta: exp(-gamma*eps); gamma: 1; }
out <- Lap(eps, q)
"""

ABOVE = """program above;
const m = 2, T = 0;
domain answer = {none, bot, top};
input q[1..m] : real;
output out[1..m] : answer = none;
ideal {
  var done : bool = false;
  for i in 1..m do
    if not done then
      if q[i] >= T then out[i] <- top; done <- true else out[i] <- bot end
    end
  end
}
claim { alpha: dd; beta: 2*m*exp(-alpha*eps/8); }
var t, r : real;
t <- Lap(eps/2, T);
for i in 1..m do
  r <- Lap(eps/4, q[i]);
  if r >= t then out[i] <- top; exit else out[i] <- bot end
end
"""

COINS = """program coins;
const k = 2;
input x : {0, 1};
output y : {0, 1};
ideal { y <- x }
claim { beta: exp(-eps)/k; }
var again : bool = true;
while again do
  y <- choose { 0 : 1/2, 1 : 1/2 };
  again <- choose { true : 1/(1 + exp(eps)), false : exp(eps)/(1 + exp(eps)) }
end
"""

PICK = """program pick;
input x : {-1..1};
output y : {-1..1};
output z : int;
ideal { y <- x; z <- x }
metric { input: l1; output: linf; }
y <- Exp(eps/2, v in {-1..1} : -abs(v - x));
z <- DLap(eps, x)
"""

FIXED = """program fixed;
const T = 7;
input q : real;
output out : bool;
ideal { out <- q >= 0 }
claim { alpha: 1; beta: exp(-alpha*eps); eps: 1/2; inputs: q = -1..1; }
var r, s : real;
r <- Lap(2*eps + 1/4, q);
s <- Lap(1/eps, T/eps - 14);
out <- r >= s
"""

RATES = """program rates;
input k : {1..2};
input q : real;
output out : real;
output near : bool;
ideal { out <- max(q, 0); near <- k >= 2 }
claim { alpha: 0; gamma: 3; beta: exp(-gamma*eps/2); inputs: k in {1, 2}, q = 0..1; }
var r : real;
r <- Lap(eps/k, q);
out <- max(r, 0);
near <- choose { true : (k - 1)*exp(eps)/(1 + exp(eps)), false : 1 - (k - 1)*exp(eps)/(1 + exp(eps)) }
"""

TABLES = {
    "laplace.csv": "q,out,dd\n0,0,inf\n1/3,1/3,inf\n",
    "above.csv": "q[1],q[2],out[1],out[2],dd\n-1,1,bot,top,1\n1,,top,none,1\n0,0,top,none,0\n",
    "coins.csv": "x,y,beta\n0,0,1/2\n1,1,exp(-eps)\n",
    "pick.csv": "x,y,z\n0,0,0\n-1,-1,\n",
    "fixed.csv": "q,out,alpha\n0,true,0\n-1,false,1\n",
    "rates.csv": "k,q,out,near,gamma\n1,0,0,false,2\n2,1/2,1/2,,1\n",
    "inputs.csv": "q\n0\n1/2\n",
    "pairs.csv": "x,x'\n0,1\n",
    "counts.csv": "y,count\n0,3\n1,5\n",
    "samples.csv": "out\n1/2\n-3\n",
    "empty.csv": "",
}

CLAIMS = """[[claim]]
program = "coins.dip"
beta = "1/2"
expect = "inaccurate"
[[claim]]
program = "laplace.dip"
inputs = "q = 0..1"
[[claim]]
program = "coins.dip"
adjacent = "hamming:1"
budget = "eps"
"""

FILES = {
    "laplace.dip": LAPLACE,
    "above.dip": ABOVE,
    "coins.dip": COINS,
    "pick.dip": PICK,
    "fixed.dip": FIXED,
    "rates.dip": RATES,
    "claims.toml": CLAIMS,
    "certificate.json": '{"schema": "dipc.certificate/4"}',
    "notes.txt": "these are no numbers",
    **TABLES,
}

PROGRAMS = ("laplace.dip", "above.dip", "coins.dip", "pick.dip", "fixed.dip", "rates.dip")

#: Commands that look beyond the directory: they read the repository's own benchmarks.
OUTSIDE = ("bench",)

#: Options that start processes or open connections: their values are never such that they do.
_NOT_STARTED = {"--jobs": ("1", "x", "-1"), "--dask": ("",)}

_JUNK = ("", "x", "-1", "1", "0", "1e300", "1/0", "eps", "(", "all", "None", "ε≥", "\x00", "é", "nosuch.csv", ".")

_LEAVES = (
    "eps",
    "alpha",
    "gamma",
    "dd",
    "m",
    "k",
    "inf",
    "0",
    "1",
    "2",
    "1/3",
    "0.1",
    "1e-23",
    "exp(-eps)",
    "1e400",
    "1/eps",
    "log(3)",
)


def expressions() -> st.SearchStrategy[str]:
    """Texts of claims: mostly expressions."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: "({}{}{})".format(*parts)),
            inner.map(lambda text: f"exp({text})"),
            inner.map(lambda text: f"log({text})"),
            inner.map(lambda text: f"-{text}"),
            inner.map(lambda text: f"exp(-{text}*eps)"),
            st.tuples(st.sampled_from(["min", "max", "abs"]), inner, inner).map(
                lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})" if parts[0] != "abs" else f"abs({parts[1]})"
            ),
            st.tuples(inner, st.sampled_from(["2", "0", "-1", "600"])).map(lambda parts: f"{parts[0]}^{parts[1]}"),
        )

    return st.recursive(st.sampled_from(_LEAVES), larger, max_leaves=4)


_SPECIFICATIONS = (
    "q = 0",
    "q=-1..1",
    "q = (0, 1/2)",
    "q[1] = 0, q[2] = 1",
    "q[2] in {0, 1}",
    "q = 0; x = 1",
    "x = 0",
    "x in {0, 1}",
    "y = 1",
    "y = 0, z = 3",
    "k = 1, q = 0",
    "k in {1, 2}, q = (0)",
    "out = true",
    "out = 0, near = false",
    "out = 1/2",
    "out = (bot, top)",
    "out[1] = top",
    "all",
    "inputs.csv",
    "nosuch = 1",
    "q = 1e30",
    "q = 1..0",
)

#: By option, what suits it for some program.
_VALUES = {
    "--beta": expressions(),
    "--delta": expressions(),
    "--alpha": st.sampled_from(["dd", "0", "1", "1/2", "inf", "gamma", "-1", "2/eps", "1/eps + 1", "log(3)"]),
    "--gamma": st.sampled_from(
        ["0", "1", "1/2", "free", "alpha", "inf", "-1", "eps", "3/eps", "log(3)/eps", "2*alpha"]
    ),
    "--eps": st.sampled_from(
        ["1", "1/2", "1/2", "1/4, 1/2", "log(3)", "(0, inf)", "[1, 2]", "(0, 1]", "(0, 1), [2, 3]", "[2, 1]", "0", "-1"]
    ),
    "--at": st.sampled_from(["1", "1/2", "0", "100"]),
    "--inputs": st.sampled_from(_SPECIFICATIONS),
    "--input": st.sampled_from(_SPECIFICATIONS),
    "--output": st.sampled_from(_SPECIFICATIONS),
    "-D": st.sampled_from(
        ["m=1", "m=2", "m=3", "k=3", "T=1/2", "T=1/eps", "m=0", "m=1..2", "m={1,2}", "m=all", "m=1e9", "k=1/3"]
    ),
    "--for-all": st.sampled_from(["m", "m >= 2", "k", "m >=", "m >= 1e12"]),
    "--for": st.sampled_from(["eps", "alpha", "beta", "gamma"]),
    "--adjacent": st.sampled_from(["linf:1", "l1:1", "hamming:1", "pairs.csv", "linf:0", "l2:1", "linf"]),
    "--budget": st.sampled_from(["eps", "2*eps", "eps/3", "0", "1", "-eps", "eps^2"]),
    "--delta-of": st.sampled_from(["eps", "2*eps", "0", "1"]),
    "--renyi": st.sampled_from(["2", "3/2", "1", "0"]),
    "--digits": st.sampled_from(["1", "15", "0", "40"]),
    "--closed-form": st.sampled_from(["1", "2", "99", "0"]),
    "--strict": st.sampled_from(["all", "rows"]),
    "--limit": st.sampled_from(["states=1", "terms=5", "steps=1000", "rows=1", "intervals=1", "bits=64", "states=x"]),
    "--runs": st.sampled_from(["1", "50", "0"]),
    "--seed": st.sampled_from(["0", "7", "-1"]),
    "--grid": st.sampled_from(["1/4", "2^-20", "0", "-1"]),
    "--confidence": st.sampled_from(["0.9", "1", "0"]),
    "--loop-limit": st.sampled_from(["1", "100", "0"]),
    "--counts": st.sampled_from(["counts.csv", "samples.csv", "empty.csv"]),
    "--samples": st.sampled_from(["samples.csv", "counts.csv"]),
    "--program": st.sampled_from(PROGRAMS),
    "--table": st.sampled_from([*TABLES]),
    "-o": st.sampled_from(["result", "laplace.dip", ".", "nosuch/result", "coins.csv"]),
    "--certificate": st.sampled_from(["proof.json", "laplace.dip", "result"]),
    "--cache": st.sampled_from(["cache.db", "notes.txt"]),
    "--html": st.sampled_from(["page.html", "result"]),
    "--plot": st.sampled_from(["picture.bmp", "nosuch/picture.svg"]),
    "--pairs": st.sampled_from(["pairs.txt"]),
    "--junit": st.sampled_from(["junit.xml"]),
    "--export": st.sampled_from(["checker.pyz", "."]),
}

#: By command, what its arguments are.
_ARGUMENTS = {
    "test": st.sampled_from(["claims.toml", "notes.txt", "nosuch.toml"]),
    "verify": st.sampled_from(["certificate.json", "notes.txt", "laplace.dip"]),
    "import": st.sampled_from(["notes.txt", "coins.dip"]),
    "explain": st.sampled_from(["E0602", "E0801", "X", ""]),
    "examples": st.sampled_from(["sparse", "laplace", "nosuch"]),
}


def _values(option: click.Option) -> st.SearchStrategy[str]:
    """Words that may follow `option`: mostly suitable ones, sometimes junk."""
    junk = st.sampled_from(_JUNK)
    for name in option.opts:
        if name in _NOT_STARTED:
            return st.sampled_from(_NOT_STARTED[name])
        if name in _VALUES:
            return st.one_of(_VALUES[name], _VALUES[name], _VALUES[name], junk)
    if isinstance(option.type, click.Choice):
        return st.one_of(st.sampled_from([str(choice) for choice in option.type.choices]), junk)
    return junk


def _option_words(option: click.Option) -> st.SearchStrategy[list[str]]:
    name = st.sampled_from([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return name.map(lambda flag: [flag])
    return st.tuples(name, _values(option)).map(list)


def _arguments(command: str) -> st.SearchStrategy[list[str]]:
    """The arguments: for most commands a program and, often, the table that goes with it."""
    if command in _ARGUMENTS:
        return st.lists(_ARGUMENTS[command], max_size=2)
    matching = st.sampled_from(PROGRAMS).flatmap(
        lambda program: st.sampled_from([[program], [program, program.replace(".dip", ".csv")]])
    )
    anything = st.lists(st.sampled_from([*FILES, "nosuch.dip"]), max_size=3)
    return st.one_of(matching, matching, matching, anything)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """The words after `dipc`."""
    with click.Context(cli) as context:
        names = [name for name in cli.list_commands(context) if name not in OUTSIDE]
        weighted = ["check"] * 4 + ["solve"] * 2 + ["tighten"] * 2 + ["privacy"] * 3 + names
        name = draw(st.sampled_from(weighted))
        command = cli.get_command(context, name)
    assert command is not None
    options = [option for option in command.params if isinstance(option, click.Option)]
    given = draw(st.lists(st.sampled_from(options).flatmap(_option_words), max_size=5)) if options else []
    if name == "solve" and draw(st.booleans()):
        given.append(["--for", draw(_VALUES["--for"])])
    if name == "privacy" and draw(st.booleans()):
        given.append(["--adjacent", draw(_VALUES["--adjacent"])])
    if name in ("run", "simulate", "conform", "prob") and draw(st.booleans()):
        given += [["--input", draw(_VALUES["--input"])], ["--eps", draw(_VALUES["--eps"])]]
    words = [name, *draw(_arguments(name)), *(word for option in given for word in option)]
    if name == "simulate" and "--runs" not in words and "-n" not in words:
        words += ["--runs", "50"]
    if draw(st.integers(0, 9)) == 0 and len(words) > 1:
        del words[draw(st.integers(1, len(words) - 1))]
    return words


#: By program, inputs that a table could be of, one input, answers at it, and constants.
_ABOUT = {
    "laplace.dip": (["q = 0", "q = -1..1", "all"], "q = 1/2", ["out = 1/2"], []),
    "above.dip": (["q = -1..1", "q in {0, 2}", "all"], "q = (1, 0)", ["out = (top, none)"], ["m=1", "m=3", "T=1/2"]),
    "coins.dip": (["x in {0, 1}", "x = 0"], "x = 1", ["y = 1"], ["k=3", "k=1/3"]),
    "pick.dip": (["x = -1..1", "x = 0"], "x = 0", ["y = 1", "y = 0, z = 0"], []),
    "fixed.dip": (["q = -1..1", "all"], "q = 1", ["out = true"], ["T=1/2"]),
    "rates.dip": (["k in {1, 2}, q = 0..1", "all"], "k = 2, q = 1", ["near = true", "out = 1, near = true"], []),
}

#: Options that most questions could have, with what is no mistake.
_COMMON = {
    "--format": ["text", "json"],
    "--limit": ["states=20", "terms=5", "steps=1000", "intervals=1", "bits=64", "parts=1", "pieces=1", "rows=2"],
    "--digits": ["1", "15"],
}


@st.composite
def questions(draw: st.DrawFn) -> list[str]:
    """Command lines in which every word is about right: most of them are asked, not refused."""
    name = draw(st.sampled_from(["check"] * 4 + ["tighten", "solve", "privacy", "prob", "simulate", "table"]))
    program = draw(st.sampled_from(PROGRAMS))
    inputs, single, outputs, constants = _ABOUT[program]
    words = [name, program]

    def maybe(option: str, values: st.SearchStrategy[str], often: int = 2) -> None:
        if draw(st.integers(1, often)) == 1:
            words.extend([option, draw(values)])

    if constants:
        maybe("-D", st.sampled_from(constants), 3)
    if name in ("prob", "simulate"):
        words += ["--input", single]
        maybe("--output", st.sampled_from(outputs))
        maybe("--eps", st.sampled_from(["1/2", "1", "1/3"])) if name == "prob" else words.extend(["--eps", "1/2"])
        words += [] if name == "prob" else ["--runs", "50"]
        return words
    about = draw(st.sampled_from(["table", "inputs", "inputs", "nothing"]))
    if about == "table" and name not in ("table", "privacy"):
        words.append(program.replace(".dip", ".csv"))
    elif about == "inputs":
        words += ["--inputs", draw(st.sampled_from(inputs))]
    if name == "table":
        return words
    if name == "privacy":
        words += ["--adjacent", draw(st.sampled_from(["linf:1", "l1:1", "hamming:1"]))]
        maybe("--budget", st.sampled_from(["2*eps", "eps/3", "0"]))
        maybe("--delta", st.sampled_from(["1/10", "exp(-eps)", "exp(-2)", "1"]), 3)
        maybe("--eps", st.sampled_from(["1/2", "[1, 2]"]), 3)
        return words
    wanted = draw(st.sampled_from(["eps", "alpha", "beta", "gamma"])) if name == "solve" else ""
    words += ["--for", wanted] if wanted else []
    for option, often in (("--beta", 2), ("--alpha", 3), ("--gamma", 3), ("--eps", 2)):
        if option != f"--{wanted}":
            maybe(option, _VALUES[option], often)
    if about != "table" and program == "above.dip":
        maybe("--for-all", st.sampled_from(["m", "m >= 2"]), 6)
    for option, values in _COMMON.items():
        maybe(option, st.sampled_from(values), 5)
    if name == "check":
        maybe("--certificate", st.just("proof.json"), 5)
        words += draw(st.sampled_from([[], [], ["--strict=rows"]]))
        maybe("--closed-form", st.just("1"), 8)
    return words


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program, mostly with one of its words left out, doubled or replaced by another."""
    text = draw(st.sampled_from([LAPLACE, ABOVE, COINS, PICK, FIXED, RATES]))
    words = text.split(" ")
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(words) - 1))
        other = draw(st.sampled_from(words))
        words[at : at + 1] = draw(st.sampled_from([[], [words[at], words[at]], [other]]))
    return " ".join(words)
