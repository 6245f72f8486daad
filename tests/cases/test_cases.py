"""Programs from bug reports and of practitioners: each answer that is known otherwise is the one that is printed."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import e, erfc, exp, log, sqrt
from pathlib import Path

import pytest

from dipc.cli.main import run

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """A command about a file, with its exit code, a part of its output, and the number in it, if there is one."""

    command: str
    code: int
    shown: str
    number: float | None = None


ALL = "--adjacent linf:1 --inputs all"
MULTIPLES = ("7*exp(-4*log(2))", "7*exp(4*log(1/2))", "7*exp(0 - 4*log(2))", "7*exp(-log(16))", "7/2^4")

CASES = [
    # Bug reports.
    Case("prob reports/1_one_eps_exp_weight.dip --eps 1", 0, r"y = 1\s+(0\.\d+)…", 1 - e / 10),
    Case("check reports/1_one_eps_exp_weight.dip --inputs all --eps 1", 0, "accurate: 1 row, at eps = 1"),
    Case("run reports/1_one_eps_exp_weight.dip --eps 1 -n 1", 0, r"y\s+[01]"),
    Case("tighten reports/m01_median5.dip --inputs all", 0, r"least factor (0\.182306\d+)…"),
    Case("tighten reports/2_tighten_constant_beta.dip --inputs all", 0, r"least factor (0\.\d+)", e / 4),
    *(Case(f'check reports/3_log_multiple.dip --alpha 0 --beta "{beta}"', 0, "accurate") for beta in MULTIPLES),
    Case('check reports/3_log_multiple.dip --alpha 0 --beta "7*exp(-4*log(2)) - 1/10^40"', 1, "INACCURATE"),
    Case(
        "privacy reports/4_delta_pm_half.dip --adjacent linf:1 --delta-of eps",
        0,
        r"supremum (0\.\d+)…, attained",
        erfc(2 / sqrt(2)) / 2,
    ),
    Case("check reports/6_above_threshold_flag.dip --inputs all --for-all m", 0, "accurate"),
    Case(
        "tighten reports/7_tighten_all_exp.dip --inputs all",
        0,
        r"least factor (0\.\d+)",
        (exp(-3) / 2 + exp(-17 / 2) / 2) / exp(-3),  # as x tends to 17 from above
    ),
    Case("check reports/10_rows_of_bits.dip -D n=8 --inputs all", 0, "accurate: all 256 inputs in 9 classes"),
    Case("tighten reports/m02_stab_hist.dip --inputs all", 0, r"least factor (1/2)", 1 / 2),
    Case("tighten reports/m04_ptr.dip --inputs all", 0, r"least factor (1);", 1),
    Case("solve reports/m04_ptr.dip --inputs all --for alpha --beta 1/20 --eps 1", 1, "NO SOLUTION"),
    # Clipped means: the sensitivity over the width of the noise.
    *(
        Case(
            f"privacy reports/clipped_mean.dip -D n={n} --adjacent {within} --inputs all --constant",
            0,
            f"constant {k}:",
        )
        for within, constants in {
            "hamming:1": "1 1 1",
            "hamming:2": "1 2 2",
            "l1:15": "1 3/2 3/2",
            "linf:12": "1 2 3",
            "linf:1": "1/10 1/5 3/10",
        }.items()
        for n, k in enumerate(constants.split(), start=1)
    ),
    # Privacy.
    Case('privacy privacy/deg2.dip --adjacent linf:1 --budget eps/4 --delta 3/40 --eps "[1,1]"', 1, "NOT PRIVATE"),
    Case("privacy privacy/deg2.dip --adjacent linf:1 --delta-of eps/4 --at 1", 0, r"(0\.194700\d+)… at eps = 1"),
    Case("privacy privacy/deg2.dip --adjacent linf:1 --delta-of eps/4 --eps 1/2", 0, r"(0\.2206242\d*)"),
    Case("privacy privacy/deg2.dip --adjacent linf:1 --delta-of eps --at 1", 0, r"(0\.\d+)… at eps = 1", exp(-1) / 4),
    Case("privacy privacy/deg2.dip --adjacent linf:1 --budget-of 1/10 --at 1", 0, r"(0\.\d+)… at eps = 1", log(5 / 2)),
    *(
        Case(
            f'privacy privacy/local_scale.dip --adjacent l1:1 --inputs "{inputs}" --delta 1/20 --eps "[1,1]"',
            1,
            "NOT PRIV",
        )
        for inputs in ("q = 0..1", "all")
    ),
    Case(
        'privacy privacy/local_scale.dip --adjacent l1:1 --inputs "q = 0..1" --delta-of 2*eps --at 1',
        0,
        r"(0\.0338\d+)… at eps = 1",
        exp(-2) / 4,
    ),
    Case(
        'privacy privacy/coinlap.dip --adjacent linf:1 --inputs "q in {0, 1}" --budget-of 1/100 --at 1',
        0,
        r"(0\.\d+)… at eps = 1",
        1 + 2 * log(0.99),
    ),
    Case(
        'privacy privacy/dg.dip --adjacent linf:1 --inputs "n in {0, 1}" --delta-of eps/2 --at 1',
        0,
        r"(0\.05400722\d+)…",
    ),
    Case(
        f"privacy privacy/dl.dip {ALL} --delta-of eps/2 --at 1",
        0,
        r"at 1 +(0\.\d+)…",
        (1 - exp(-1 / 2)) / (1 + exp(-1)),
    ),
    Case(
        f"privacy privacy/expo.dip {ALL} --budget-of 1/2 --at 1", 0, r"∞ at eps = 1.* at least (0\.\d+)…", 1 - exp(-1)
    ),
    Case("prob privacy/notw.dip --input x=true --eps 1", 0, r"y = 1\s+1\b"),
    Case("prob privacy/notw.dip --input x=false --eps 1", 0, r"y = 0\s+(0\.\d+)…", exp(-1) / 2),
    Case(
        f"privacy privacy/clampsvt.dip -D m=3 {ALL} --constant", 3, r"3/4 = 0\.75 is proved, all below .* are refuted"
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.command)
def test_answers(case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    monkeypatch.setenv("COLUMNS", "200")
    code = run(shlex.split(case.command))
    printed = capsys.readouterr()
    assert code == case.code, printed.out + printed.err
    found = re.search(case.shown, printed.out)
    assert found, printed.out
    if case.number is not None:
        numerator, _, denominator = found[1].partition("/")
        assert float(numerator) / float(denominator or 1) == pytest.approx(case.number, rel=1e-9)


def test_a_supremum_is_only_approached(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    run(["tighten", "reports/7_tighten_all_exp.dip", "--inputs", "all", "--format", "json"])
    assert '"attained": false' in capsys.readouterr().out


def test_every_m_of_clamped_queries_ends(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    assert run(shlex.split(f"privacy privacy/clampsvt.dip {ALL} --for-all m --constant")) == 3
    shown = r"constant for every m >= 1: 1 is proved, all below .*\s+are\s+refuted"
    assert re.search(shown, capsys.readouterr().out)


def test_the_factor_of_a_median_by_enumeration() -> None:
    """All 56 multisets of five answers, at many eps."""

    def needed(answers: tuple[int, ...], eps: float) -> float:
        scores = [-abs(sum(x < v for x in answers) - sum(x > v for x in answers)) for v in range(4)]
        weights = [exp(eps / 2 * (score - max(scores))) for score in scores]
        best = scores.index(max(scores))
        wrong = sum(weight for v, weight in enumerate(weights) if abs(v - best) > 1)
        return wrong / sum(weights) / (3 * exp(-eps / 2))

    inputs = list(combinations_with_replacement(range(4), 5))
    assert len(inputs) == 56
    most = max(needed(answers, step / 200) for answers in inputs for step in range(1, 2000))
    assert most == pytest.approx(0.1823060535593424, rel=1e-5)
    assert most <= 0.1823060535593424
