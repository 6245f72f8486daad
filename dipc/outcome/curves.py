"""The curves of a claim: Pr and the required 1 - beta over eps, and the eps where it fails.

Points are computed from exact enclosures. Only their drawing is floating-point, and no decision depends on it. Pictures
in files are drawn from the same points.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dipc.algebra.exppoly import ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import Limits, Undecided
from dipc.decide.engine import Engine
from dipc.decide.obligation import Counterexample, EpsSpan, decide
from dipc.frozen import frozen
from dipc.inverse.question import Inequality, Solution, claims_of, measure_inequalities
from dipc.inverse.tighten import Tightest
from dipc.inverse.tune import Tuned
from dipc.measure.measure import EnclosedForm, Probability
from dipc.outcome.outcome import Outcome
from dipc.outcome.program import Outcomes
from dipc.outcome.tighten import Member
from dipc.outcome.words import assignment_text, exact, numbered, plural, product_letter
from dipc.questions.expected_error import ErrorReport
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.privacy.profile import Profile
from dipc.questions.report import Report, RowResult
from dipc.questions.source import Source
from dipc.rules.rule import ProofStep, Variable
from dipc.sign.interval import Interval
from dipc.sign.optimum import Cell
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.text.diagnostic import bad_input

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: The points of one curve at the beginning and at most, and the greatest bend between two neighbors.
POINTS = 64
_MOST_POINTS = 480
_BEND = 1 / 400

#: The most rows that are examined.
_MOST_ROWS = 50_000

#: The digits of the ends of shaded intervals.
_DIGITS = 12

#: The most numbers of rows in the name of a curve.
_LISTED = 6

#: Values beyond e to the power of this are not drawn.
_MOST_EXPONENT = 10_000


@frozen
class Curve:
    """One inequality of a report, drawn as two curves: `bound` and 1 - `factor`·`beta`, as functions of `variable`.

    `name` lists the rows or classes with this inequality, and `labels` has the names of both curves. `intervals` are
    the values of the variable for which the inequality is claimed. `failing` are the intervals where it fails, and
    `counterexample` is one value there. If `factor` is the least factor with which the inequality holds, `needed`
    encloses the values at which both curves are equal. If `is_limit` is true, `bound` is the limit that the other curve
    must not exceed, as for a privacy claim. Formulas write `letter` for a variable that is a product with eps.

    `drawn` computes `xs`, values of the variable, and the values of both curves there: `bounds` and `required`. A value
    is None if it cannot be drawn.
    """

    name: str
    variable: Variable
    labels: tuple[str, str]
    intervals: Sequence[Interval]
    bound: Probability
    beta: BetaForm
    failing: tuple[EpsSpan, ...] = ()
    counterexample: Counterexample | None = None
    factor: Fraction = Fraction(1)
    needed: Sequence[Cell | None] = ()
    #: Whether the first side is the greatest allowed probability and the second one the probability; otherwise the
    #: second side is the required probability.
    is_limit: bool = False
    xs: tuple[float, ...] = ()
    bounds: tuple[float | None, ...] = ()
    required: tuple[float | None, ...] = ()
    #: What stands for `variable` if it is a product.
    letter: str = "t"

    @property
    def symbol(self) -> str:
        """The name of the variable in a formula: `eps`, or the letter for a product with eps."""
        return self.letter if self.variable.product else str(self.variable)

    @property
    def axis(self) -> str:
        """The name of the variable with its meaning: `eps`, or `t = alpha*eps`."""
        return f"{self.letter} = {self.variable}" if self.variable.product else str(self.variable)

    @staticmethod
    def from_inequality(word: str, claimed: Inequality, required: str = "1 − β") -> Curve:
        """Return the curve of the inequality `claimed`, named by its rows or classes.

        `word` is the noun for them, "row" or "class", and `required` is the label of the curve with which the bound is
        compared.
        """
        name = numbered(word, claimed.rows, _LISTED)
        names = _labels(required, exact=claimed.exact)
        return Curve(name, claimed.variable, names, claimed.intervals, claimed.bound, claimed.beta)

    @property
    def optima(self) -> tuple[float, ...]:
        """The values of the variable, enclosed by `needed`, at which both curves are equal."""
        return tuple(float((ends[0] + ends[1]) / 2) for ends in self.needed if ends is not None and ends[0] > 0)

    @property
    def is_compared(self) -> bool:
        """Whether there are two curves; a single curve shows a probability that is compared with nothing."""
        return bool(self.labels[1])

    @property
    def probable(self) -> tuple[str, tuple[float | None, ...]]:
        """The name and the values of the probability, or of its lower bound; None for a value that cannot be drawn."""
        return (self.labels[1], self.required) if self.is_limit else (self.labels[0], self.bounds)

    @property
    def limit(self) -> tuple[str, tuple[float | None, ...]]:
        """The name and the values of the function with which the probability is compared.

        It is the required probability or, for a question about privacy, the greatest allowed one. A value is None if it
        cannot be drawn.
        """
        return (self.labels[0], self.bounds) if self.is_limit else (self.labels[1], self.required)

    def drawn(self, span: Span) -> Curve:
        """Return the curve with the values of both sides at many points of `span`."""
        points = self._points(span)
        grid = sorted(points)
        bounds, required = (tuple(points[eps][side] for eps in grid) for side in (0, 1))
        return replace(self, xs=tuple(map(float, grid)), bounds=bounds, required=required)

    def _points(self, span: Span) -> dict[Fraction, _Sides]:
        result = {eps: self._sides(eps) for eps in _grid(self.intervals, span, self.failing)}
        grid = sorted(result)
        waiting = list(pairwise(grid))
        while waiting and len(result) < _MOST_POINTS:
            # Breadth first, so that no piece takes the points of all others.
            refined: list[tuple[Fraction, Fraction]] = []
            for low, high in waiting:
                middle = _rational(math.sqrt(low * high))
                if not low < middle < high or not any(middle in interval for interval in self.intervals):
                    continue
                result[middle] = self._sides(middle)
                # A line through the outer two values visibly misses the middle one, in a picture from 0 to 1.
                if any(map(_bends, result[low], result[middle], result[high])):
                    refined += [(low, middle), (middle, high)]
            waiting = refined[: _MOST_POINTS - len(result)]
        return result

    def _sides(self, eps: Fraction) -> _Sides:
        beta = _number(self.beta, eps)
        return _number(self.bound, eps), None if beta is None else 1 - float(self.factor) * beta


#: The bound and the required value, None for a value that cannot be drawn.
_Sides = tuple[float | None, float | None]


def _bends(low: float | None, middle: float | None, high: float | None) -> bool:
    if low is None or middle is None or high is None:
        return low is not None or high is not None
    return abs((low + high) / 2 - middle) > _BEND and max(low, high) > -1 / 2


def curves_of(outcome: Outcome, most: int) -> tuple[Curve, ...]:
    """Return at most `most` inequalities on which the answer `outcome` rests.

    Inequalities that fail, or that determine the number in the answer, come first. The result is empty for answers that
    are not drawn.
    """
    curves = _curves(outcome, most)
    if not any(curve.variable.product for curve in curves):
        return curves
    program = outcome.question.program
    letter = product_letter({*program.constants, *(slot.name for slot in program.core.input_slots)})
    return tuple(replace(curve, letter=letter) for curve in curves)


def _curves(outcome: Outcome, most: int) -> tuple[Curve, ...]:
    match outcome.result:
        case Report() as report:
            assert outcome.engine is not None
            if outcome.question.table is None:
                return _of_classes(outcome.question, outcome.engine, most)
            return _of_rows(outcome.question, report, most) or _of_enclosed(
                outcome.question, report, outcome.engine, most
            )
        case Member(tightest=answer):
            return _with_factor(answer, most)
        case Solution() as answer:
            return _of_solution(answer, most)
        case PrivacyReport() as report if isinstance(outcome.question, PrivacyQuestion):
            return _of_privacy(outcome.question, report, most)
        case Outcomes() as answer:
            return _of_outputs(answer, most)
    return ()


def _of_rows(source: Source, report: Report, most: int) -> tuple[Curve, ...]:
    rows_of: dict[tuple[ClosedForm, BetaForm], list[RowResult]] = {}
    word = "row" if report.inputs is None else "class"
    for row in islice(report.rows, _MOST_ROWS):
        for one in row.obligations or (row,):
            if one.closed_form is not None:
                rows_of.setdefault((one.closed_form, one.beta_form), []).append(one)
    curves = []
    for sides, rows in rows_of.items():
        alike = sorted(rows, key=_shortfall)
        name = numbered(word, tuple(dict.fromkeys(row.row for row in alike)), _LISTED)
        found = alike[0].failing, alike[0].counterexample
        curves.append((_shortfall(alike[0]), Curve(name, Variable.EPS, _labels(), source.intervals, *sides, *found)))
    return _drawn(curve for _, curve in sorted(curves, key=lambda each: each[0])[:most])


def _shortfall(row: RowResult) -> tuple[bool, Fraction, int]:
    counterexample = row.counterexample
    return (True, Fraction(0), row.row) if counterexample is None else (False, -counterexample.margin[0], row.row)


def _of_enclosed(source: Source, report: Report, engine: Engine, most: int) -> tuple[Curve, ...]:
    rows = {row.row: row for row in sorted(islice(report.rows, _MOST_ROWS), key=_shortfall)[:most]}
    cases = (case for case in source.cases() if case.number in rows and not rows[case.number].vacuous)
    claimed, _ = measure_inequalities([(case.number, one) for case in cases for one in case.steps()], engine)
    ordered = sorted(((rows[one.rows[0]], one) for one in claimed), key=lambda each: _shortfall(each[0]))
    return _drawn(
        replace(Curve.from_inequality("row", one), failing=row.failing, counterexample=row.counterexample)
        for row, one in ordered
    )


def _of_classes(source: Source, engine: Engine, most: int) -> tuple[Curve, ...]:
    posed: list[tuple[int, ProofStep]] = []
    for case in source.cases():
        try:
            posed.extend((case.number, one) for one in case.steps())
        except Undecided:
            continue
        if len(posed) >= most:
            break
    claimed, _ = measure_inequalities(posed, engine)
    return _drawn(Curve.from_inequality("class", one) for one in claimed[:most])


def _with_factor(tightest: Tightest, most: int) -> tuple[Curve, ...]:
    """Return at most `most` curves, one for each inequality of the claim whose beta is multiplied by the least factor.

    `tightest` has the least factor for which the claim holds. Inequalities that fail for any smaller factor come first.
    The result is empty if the claim holds for no factor.
    """
    if tightest.factor is None:
        return ()
    factor = tightest.factor[0]
    needed = [spot.claimed for spot in tightest.places]
    claims = sorted(tightest.claims.distinct, key=lambda one: all(one is not other for other in needed))
    return _drawn(
        replace(
            Curve.from_inequality(tightest.word, one, "1 − f·β"),
            factor=factor,
            needed=[spot.eps for spot in tightest.places if spot.claimed is one and spot.attained],
        )
        for one in claims[:most]
    )


def _of_solution(solution: Solution, most: int) -> tuple[Curve, ...]:
    """Return at most `most` curves, one for each inequality of the claim with the number that `solution` found.

    The inequalities of the cases that prevent a smaller number come first. The result is empty if no number was found,
    or if the inequalities are not known.
    """
    question = solution.with_answer()
    if question is None:
        return ()
    try:
        claims = claims_of(question).distinct
    except Undecided:
        return ()
    rows, eps, limits = {*solution.rows}, solution.eps_answer, question.program.limits
    return _drawn(
        replace(
            Curve.from_inequality(question.word, one),
            failing=_failing(one.closed, one.beta, one.intervals, limits) if one.exact else (),
            needed=() if eps is None or rows.isdisjoint(one.rows) else [eps],
        )
        for one in sorted(claims, key=lambda one: rows.isdisjoint(one.rows))[:most]
    )


def _failing(form: ClosedForm, beta: BetaForm, intervals: Sequence[Interval], limits: Limits) -> tuple[EpsSpan, ...]:
    with suppress(Undecided):
        return decide(form, beta, intervals, limits, _DIGITS).failing
    return ()


def _of_privacy(question: PrivacyQuestion, report: PrivacyReport, most: int) -> tuple[Curve, ...]:
    """Return the curves for a claim about privacy, one for each of at most `most` compared sets of outputs.

    A curve has two lines: the greatest probability that the claim allows for the outputs, and their actual probability.
    If `report` has a counterexample to `question`, the first curve marks the eps where the claim fails. The result is
    empty if a probability has no closed form.
    """
    intervals, counterexample = report.claim.intervals, report.counterexample
    sides = question.compared(report, most)
    forms = [(each.probability, each.allowed) for each in sides]
    if not all(isinstance(form, ClosedForm) for both in forms for form in both):
        return ()  # enclosures are not drawn
    failing: tuple[EpsSpan, ...] = ()
    point = None
    if counterexample is not None:
        found = counterexample.sides
        beta = PiecewiseForm(1 - _closed(found.probability).value)
        failing = _failing(_closed(found.allowed), beta, intervals, question.program.limits)
        point = Counterexample(counterexample.eps, counterexample.allowed, counterexample.probability)
    return _drawn(
        Curve(
            f"u: {assignment_text(one.input)}; u': {assignment_text(one.adjacent)}; "
            + " or ".join(assignment_text(output) for output in one.outputs),
            Variable.EPS,
            ("allowed", "probability at u"),
            intervals,
            _closed(one.allowed),
            PiecewiseForm(1 - _closed(one.probability).value),
            failing if number == 0 else (),
            point if number == 0 else None,
            is_limit=True,
        )
        for number, one in enumerate(sides)
    )


def _of_outputs(outcomes: Outcomes, most: int) -> tuple[Curve, ...]:
    eps, nothing = outcomes.only_at, PiecewiseForm(ExpPoly.ONE)
    intervals = (Interval.POSITIVE if eps is None else Interval.closed(eps, eps),)
    named = [(assignment_text(one.output) if one.output else "any output", one) for one in outcomes.outcomes[:most]]
    drawn = _drawn(
        Curve(name, Variable.EPS, ("probability", ""), intervals, one.probability, nothing) for name, one in named
    )
    return tuple(replace(curve, required=(None,) * len(curve.xs)) for curve in drawn)


def _closed(form: Probability | None) -> ClosedForm:
    assert isinstance(form, ClosedForm)
    return form


def _labels(required: str = "1 − β", *, exact: bool = True) -> tuple[str, str]:
    return "probability" if exact else "proved lower bound", f"required: {required}"


#: The least and the greatest drawn value.
Span = tuple[Fraction, Fraction]


def _drawn(curves: Iterable[Curve]) -> tuple[Curve, ...]:
    """Return `curves` with their points, over a range of their variable in which all visible changes lie.

    All curves of one variable have the same range.
    """
    curves = tuple(curves)
    spans: dict[Variable, Span] = {}
    for each in curves:
        low, high = _span(each.intervals, each.bound, each.failing)
        known = spans.get(each.variable, (low, high))
        spans[each.variable] = min(known[0], low), max(known[1], high)
    return tuple(each.drawn(spans[each.variable]) for each in curves)


def _turns(failing: Sequence[EpsSpan]) -> list[Fraction]:
    return [end.low for piece in failing for end in (piece.start, piece.end) if not end.infinite and end.low > 0]


def _rates(bound: Probability) -> list[Fraction]:
    polys = () if isinstance(bound, EnclosedForm) else fraction_of(bound.value)
    return [abs(q) for poly in polys for _, q, _ in poly.terms() if q] or [Fraction(1)]


def _span(intervals: Sequence[Interval], bound: Probability, failing: Sequence[EpsSpan]) -> Span:
    rates, ends = _rates(bound), _turns(failing)
    low = min(Fraction(1, 20) / max(rates), *[end / 4 for end in ends], Fraction(1))
    high = max(min(8 / min(rates), 60 / max(rates)), *[2 * end for end in ends], Fraction(1, 100))
    return _clip(intervals, low, high)


def _clip(intervals: Sequence[Interval], low: Fraction, high: Fraction) -> Span:
    first, last = intervals[0], intervals[-1]
    low = max(low, first.lower)
    if last.upper is not None:
        high = min(high, last.upper)
    return (low, high) if low < high else (first.lower or high / 1000, high)


def _grid(
    intervals: Sequence[Interval], span: Span, failing: Sequence[EpsSpan] = (), points: int = POINTS
) -> list[Fraction]:
    """Return the values of eps at which a curve is drawn: those values of a grid over `span` that are in `intervals`.

    The grid has `points` values with evenly spaced logarithms, and the finite ends of the intervals `failing` inside
    the span. If `intervals` contain no value of the grid, the result is the upper end of the span alone.
    """
    low, high = span
    ratio = math.log(high / low) / (points - 1) if high > low else 0.0
    grid = [_rational(float(low) * math.exp(ratio * n)) for n in range(points)]
    grid += [_rational(float(end)) for end in _turns(failing) if low < end < high]
    return [point for point in grid if any(point in interval for interval in intervals)] or [high]


def _rational(value: float) -> Fraction:
    exponent = 22 - math.frexp(value)[1]
    return Fraction(round(math.ldexp(value, exponent)), 1) / Fraction(2) ** exponent


def _number(form: Probability | BetaForm, eps: Fraction) -> float | None:
    """Return the value of `form` at `eps`, to a few digits; None if it has no value, or its numbers are too large."""
    try:
        if isinstance(form, EnclosedForm):
            return float(sum(form.enclosure(eps, _DIGITS)) / 2)
        closed = form if isinstance(form, ClosedForm) else form.closed
        if closed is not None:
            fraction = fraction_of(closed.value)
            if any(abs(q) * eps > _MOST_EXPONENT for poly in fraction for _, q, _ in poly.terms()):
                return None
        low, high = form.enclosure(eps, 12)
        return float((low + high) / 2)
    except (OverflowError, ValueError, Undecided):
        return None


_FORMATS = (".svg", ".png", ".pdf")

#: Okabe and Ito's colors, which color-blind readers can distinguish.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GRAY = "#9a9a9a"

#: The color of letters and axes, equally far from white and from a dark page.
_INK = "#747a80"


def check_picture(path: Path) -> None:
    """Raise DiagnosticError, before any work is done, if `path` is an unknown kind of file or matplotlib is missing."""
    if path.suffix.lower() not in _FORMATS:
        raise bad_input(
            "E1003",
            f"`{path}` does not end with a kind of picture that is known",
            f"end the name with {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}",
        )
    if find_spec("matplotlib") is None:
        raise bad_input(
            "E1005",
            "a plot needs matplotlib, which is not installed",
            "install it: in a checkout pip install '.[plot]', elsewhere pip install matplotlib",
        )


def _line(axes: Axes, points: Iterable[tuple[Fraction | float, float | None]], **style: Any) -> None:
    known = [(float(x), y) for x, y in points if y is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], **style)


def _legend(axes: Axes) -> None:
    known = axes.get_legend_handles_labels()[1]
    if known:
        columns = 1 if max(map(len, known)) > 40 else 2
        axes.figure.legend(
            loc="outside lower left", ncols=columns, frameon=False, fontsize=9, labelcolor=_INK, handlelength=2.6
        )


def _titled(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_title(title, fontsize=9, loc="left", color=_INK)


def _over_logarithm(axes: Axes, low: float, high: float) -> None:
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(lambda eps, _: f"{eps:g}")


def save(figure: Figure, path: Path) -> None:
    """Write `figure` to `path`; raise DiagnosticError if the file cannot be written. Equal figures give equal files."""
    import matplotlib as mpl

    try:
        # A fixed salt keeps the names inside an SVG file the same each time.
        with mpl.rc_context({"svg.hashsalt": "dipc"}):
            # An SVG has the background of its page, light or dark; other pictures are white.
            ground = "none" if path.suffix.lower() == ".svg" else "white"
            for axes in figure.axes:
                axes.set_facecolor("none")
            # Without the date, so that equal results are equal files.
            dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
            figure.savefig(path, dpi=160, metadata=dates.get(path.suffix.lower(), {}), facecolor=ground)
    except OSError as error:
        raise bad_input("E0804", f"`{path}` cannot be written: {error.strerror or error}") from error


# --- two sides of inequalities over eps ------------------------------------------------------------


#: The most inequalities that are drawn.
MOST = 4


def draw(path: Path, outcome: Outcome) -> None:
    """Draw the picture of the answer `outcome` into the file `path`; raise DiagnosticError if it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(_INK)
    axes.tick_params(which="both", colors=_INK)
    axes.xaxis.label.set_color(_INK)
    axes.yaxis.label.set_color(_INK)
    axes.grid(color=_INK, linewidth=0.6, alpha=0.25)
    axes.set_axisbelow(True)
    match outcome.result:
        case Member() | tuple() as result:
            _draw_factors(axes, (result,) if isinstance(result, Member) else result, outcome)
        case Tuned() as answer:
            _draw_objective(axes, answer)
        case Profile() as answer:
            points = [(point.budget, float(point.delta[1])) for point in answer.points]
            _line(axes, points, color=COLORS[0], marker="o", markersize=3)
            axes.set_ylim(bottom=0)
            _titled(axes, f"{answer.program}: privacy profile at eps = {answer.eps}", "budget", "least delta")
        case ErrorReport() as report:
            _draw_errors(axes, outcome.question.intervals, report)
        case Outcomes() as outcomes:
            _draw_curves(axes, curves_of(outcome, MOST), f"{outcome.program} at {assignment_text(outcomes.input)}")
        case _:
            curves = curves_of(outcome, MOST)
            _draw_curves(axes, curves, f"{outcome.program}: {outcome.result.verdict}{_not_drawn(outcome, curves)}")
    save(figure, path)


def _not_drawn(outcome: Outcome, curves: Sequence[Curve]) -> str:
    if not isinstance(outcome.result, Report) or outcome.question.table is None:
        return ""
    drawn = {(curve.bound, curve.beta) for curve in curves}
    rest = tuple(
        row.row
        for row in outcome.result.rows
        if all((one.closed_form, one.beta_form) not in drawn for one in row.obligations or (row,))
    )
    return f"; not drawn: {numbered('row', rest, _LISTED)}" if curves and rest else ""


def _colors(curves: Sequence[Curve]) -> list[str]:
    """Return a color for each of `curves`, chosen by the first number in its name.

    So row 3 has the same color in every picture, unless another curve of the picture has taken it.
    """
    taken: list[int] = []
    for position, curve in enumerate(curves):
        number = re.search(r"[0-9]+", curve.name)
        wanted = position if number is None else int(number[0]) - 1
        free = (wanted + step for step in range(len(COLORS)))
        taken.append(next((at % len(COLORS) for at in free if at % len(COLORS) not in taken), wanted % len(COLORS)))
    return [COLORS[at] for at in taken]


def _limit(curve: Curve) -> object:
    return curve.bound if curve.is_limit else (curve.beta, curve.factor)


def _draw_curves(axes: Axes, curves: Sequence[Curve], title: str) -> None:
    limits = Counter(map(_limit, curves))
    for color, curve in zip(_colors(curves), curves, strict=True):
        # The limit is drawn over the probability, so that both are visible where they agree.
        points = zip(curve.xs, curve.probable[1], strict=True)
        _line(axes, points, color=color, linewidth=3.4, alpha=0.6, label=curve.name)
        if curve.failing:
            _shade(axes, curve, color)
        if curve.counterexample is not None:
            counterexample = curve.counterexample
            height = counterexample.required if curve.is_limit else counterexample.probability
            axes.plot([float(counterexample.eps)], [float(height[0])], marker="o", color=color, zorder=4)
        if (number := limits.pop(_limit(curve), 0)) > 0:
            style: dict[str, Any] = {"color": _INK if number > 1 else color, "linestyle": (0, (4, 3))}
            _line(axes, zip(curve.xs, curve.limit[1], strict=True), linewidth=1.5, **style)
    subtitle = sentence(curves)
    variable = curves[0].axis if curves else ""
    _titled(axes, title if subtitle is None else f"{title}\n{subtitle}", variable, "probability" if curves else "")
    if curves:
        _over_logarithm(axes, min(curve.xs[0] for curve in curves), max(curve.xs[-1] for curve in curves))
        if curves[0].is_compared:
            axes.plot([], [], color=_INK, linestyle=(0, (4, 3)), linewidth=1.5, label=curves[0].limit[0])
        _legend(axes)
    axes.set_ylim(0, 1.02)


def draw_row(axes: Axes, row: RowResult, intervals: Sequence[Interval], title: str) -> None:
    """Draw the probability of `row`, the required probability, and the eps of `intervals` where the row fails.

    The picture has the `title` and is drawn on `axes`.
    """
    assert row.closed_form is not None
    both = ("Pr", "1 - beta")
    sides = row.closed_form, row.beta_form
    (curve,) = _drawn([Curve(title, Variable.EPS, both, intervals, *sides, row.failing, row.counterexample)])
    for label, values, style in zip(both, (curve.bounds, curve.required), ("-", "--"), strict=True):
        _line(axes, zip(curve.xs, values, strict=True), label=label, color=COLORS[style == "--"], linestyle=style)
    for low, high in (_ends(piece, curve) for piece in curve.failing):
        axes.axvspan(low, high, color=COLORS[1], alpha=0.12)
    _titled(axes, title, "eps", "")
    _over_logarithm(axes, curve.xs[0], curve.xs[-1])
    axes.set_ylim(-0.02, 1.02)
    axes.legend(loc="lower right")


def _draw_objective(axes: Axes, tuned: Tuned) -> None:
    name, *more = [each.name for each in tuned.varied]
    known = [(one.values, float(one.objective[0])) for one in tuned.tried if one.objective is not None]
    needed = "t" if tuned.adjacent is None else "K·t"
    if len(more) == 1:
        across, up = [[float(values[each]) for values, _ in known] for each in (name, *more)]
        drawn = axes.scatter(across, up, c=[objective for _, objective in known], cmap="viridis_r")
        axes.figure.colorbar(drawn, label=needed)
        _titled(axes, f"{tuned.program}: what the claim needs", name, more[0])
        return
    points = sorted((float(values[name]), objective) for values, objective in known)
    _line(axes, points, color=COLORS[0], marker="o", markersize=3, linestyle="" if more else "-")
    if tuned.best is not None and tuned.best.objective is not None:
        best = tuned.best.values[name], float(tuned.best.objective[0])
        _line(axes, [best], color=COLORS[1], marker="o", label="best")
    if tuned.lower is not None:
        ends = [(end, float(tuned.lower)) for end in tuned.proved_for[name]]
        _line(axes, ends, color=COLORS[2], linestyle="--", label="proved to be at least")
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    _titled(axes, f"{tuned.program}: what the claim needs", name, needed)


def _draw_errors(axes: Axes, intervals: Sequence[Interval], report: ErrorReport) -> None:
    rows = sorted(report.rows, key=lambda row: row.row != report.worst)
    different = {row.error: row for row in reversed(rows) if row.error is not None}
    for color, (form, row) in zip(COLORS, reversed(different.items()), strict=False):
        failing = () if row.result is None else row.result.failing
        grid = sorted(_grid(intervals, _span(intervals, form, failing), failing))
        _line(axes, [(eps, _number(form, eps)) for eps in grid], color=color, label=f"row {row.row}")
        if row.result is not None:
            allowed = [(eps, _number(row.result.beta_form, eps)) for eps in grid]
            _line(axes, allowed, color=color, linestyle="--", linewidth=1.2)
        axes.set_xscale("log")
    _legend(axes)
    claimed = "" if report.claimed is None else "; dashed what is claimed"
    _titled(axes, f"{report.program}: expected error", "eps" if different else "", f"E[{report.error_text}]{claimed}")


def _shade(axes: Axes, curve: Curve, color: str) -> None:
    """Shade in `color` where the inequality of `curve` fails: between its two lines, and on the axis of eps.

    On the axis even a narrow interval is visible. The picture is drawn on `axes`.
    """
    failing = [_ends(piece, curve) for piece in curve.failing]
    inside = [any(low <= x <= high for low, high in failing) for x in curve.xs]
    bound, required = ([math.nan if y is None else y for y in side] for side in (curve.bounds, curve.required))
    axes.fill_between(curve.xs, bound, required, where=inside, color=color, alpha=0.25, linewidth=0)
    for low, high in failing:
        axes.axvspan(low, high, color=color, alpha=0.07, linewidth=0)
        axes.plot([low, high], [0, 0], color=color, linewidth=6, solid_capstyle="butt", alpha=0.7, zorder=2)


def _ends(piece: EpsSpan, curve: Curve) -> tuple[float, float]:
    right = curve.xs[-1] if piece.end.infinite else float(piece.end.low)
    return max(float(piece.start.low), curve.xs[0]), min(right, curve.xs[-1])


def sentence(curves: Sequence[Curve]) -> str | None:
    """Return the caption for a picture of `curves`; None if there are none."""
    if not curves:
        return None
    if not curves[0].is_compared:
        return "Each line is the exact probability of one output."
    drawn = f"Solid: {curves[0].probable[0]}; dashed: {curves[0].limit[0]}"
    if any(curve.failing for curve in curves):
        return f"{drawn}; shaded: the {curves[0].symbol} where the claim fails."
    if any(curve.counterexample for curve in curves):
        return f"{drawn}; dot: where the claim fails."
    side = "above" if curves[0].is_limit else "below"
    return f"{drawn}; nowhere is a solid line {side} its dashed one."


# --- the factor needed at each eps, or the least one over a family ---------------------------------


#: The points of one curve, and the most curves drawn beside those that need the least factor.
_POINTS = 240
_OTHERS = 24

_MARKERS = "osD^vPX"


def check_plot(path: Path, family: Mapping[str, Sequence[Fraction]]) -> None:
    """Raise DiagnosticError for a plot that cannot be drawn, before any work is done.

    A plot cannot be drawn if `path` is an unknown kind of file, if `family` varies too many parameters, or if
    matplotlib is missing.
    """
    check_picture(path)
    ranged = [name for name, values in family.items() if len(values) > 1]
    if len(ranged) > 2:
        message = f"a plot has room for two constants with several values, not {len(ranged)}"
        raise bad_input("E1004", message, "fix the others, or write a table: --format csv")


def _draw_factors(axes: Axes, members: Sequence[Member], outcome: Outcome) -> None:
    assert outcome.statement is not None
    program, beta = outcome.program, outcome.statement().stated["beta"]
    if len(members) == 1:
        _draw_needs(axes, members[0].tightest, f"{program}: the factor of beta = {beta} that is needed")
    else:
        _draw_family(axes, members, f"{program}: the least factor of beta = {beta}")
    _legend(axes)


def _draw_needs(axes: Axes, tightest: Tightest, title: str) -> None:
    distinct = tightest.claims.distinct
    peaks = [spot.eps[0] for spot in tightest.places if spot.eps is not None and any(spot.eps)]
    if not peaks:
        rates = [rate for one in distinct for rate in _rates(one.bound)] or [Fraction(1)]
        peaks = [1 / max(rates), 1 / min(rates)]
    intervals = tightest.claims.intervals
    # Rational eps around all eps where the factor is needed.
    grid = _grid(intervals, _clip(intervals, min(peaks) / 60, max(peaks) * 12), points=_POINTS)
    worst = list({id(spot.claimed): spot.claimed for spot in tightest.places}.values())[: len(COLORS)]
    others = [one for one in distinct if one not in worst][:_OTHERS]
    for number, one in enumerate(others):
        label = f"other {plural(tightest.word)}" if number == 0 else None
        _line(axes, [(eps, _need(one, eps)) for eps in grid], color=GRAY, linewidth=1, label=label)
    for color, one in zip(COLORS, worst, strict=False):
        name = numbered(tightest.word, one.rows, 4)
        _line(axes, [(eps, _need(one, eps)) for eps in grid], color=color, linewidth=2, label=name, zorder=3)
    if tightest.factor is not None and tightest.places:
        _mark_maximum(axes, tightest, tightest.factor, worst)
    _over_logarithm(axes, float(grid[0]), float(grid[-1]))
    if tightest.factor is None:
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], 1e-9))
    else:
        axes.set_ylim(0, 1.12 * axes.get_ylim()[1])
    kinds = {one.variable for one in distinct}
    variables = sorted(f"t = {variable}" if variable.product else str(variable) for variable in kinds)
    _titled(axes, title, " and ".join(variables) or "eps", "(1 − Pr) / beta")


def _mark_maximum(
    axes: Axes, tightest: Tightest, factor: tuple[Fraction, Fraction], worst: Sequence[Inequality]
) -> None:
    height = float(factor[0])
    axes.axhline(height, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for spot in tightest.places:
        if spot.eps is not None and any(spot.eps) and spot.claimed in worst:
            color = COLORS[list(worst).index(spot.claimed)]
            filled = color if spot.attained else "white"
            _line(axes, [(spot.eps[0], height)], marker="o", markersize=7, color=color, mfc=filled, zorder=5)
    axes.annotate(
        f"f = {exact(factor[0])}" + ("" if factor[0] == factor[1] or exact(factor[0]).endswith("…") else "…"),
        xy=(0.01, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5),
        textcoords="offset points",
        fontsize=9,
        color=_INK,
    )


def _need(one: Inequality, eps: Fraction) -> float | None:
    """Return (1 - bound)/beta at `eps`, the least factor of beta with which the inequality `one` holds there.

    The result has a few digits. It is None if beta is not positive, or if the numbers are too large.
    """
    if isinstance(one.bound, EnclosedForm):
        value = _number(one.bound, eps)
        missing = None if value is None else 1 - value
    else:
        missing = _number(ClosedForm(1 - one.bound.value), eps)
    beta = _number(one.beta, eps)
    return None if missing is None or beta is None or beta <= 0 else missing / beta


# --- a family --------------------------------------------------------------------------------------


def _draw_family(axes: Axes, members: Sequence[Member], title: str) -> None:
    names = list(members[0].constants)
    ranged = [name for name in names if len({member.constants[name] for member in members}) > 1]
    across, *by = ranged
    groups: dict[Fraction | None, list[tuple[Fraction, Tightest, float]]] = {}
    for member in members:
        group = groups.setdefault(member.constants[by[0]] if by else None, [])
        tightest = member.tightest
        if tightest.factor is not None and tightest.complete:
            group.append((member.constants[across], tightest, float(tightest.factor[0])))
    for number, (value, group) in enumerate(groups.items()):
        color, marker = COLORS[number % len(COLORS)], _MARKERS[number % len(_MARKERS)]
        group.sort(key=lambda point: point[0])
        label = "least factor" if value is None else f"{by[0]} = {value}"
        points = [(x, factor) for x, _, factor in group]
        _line(axes, points, color=color, marker=marker, markersize=5, linewidth=1.6, label=label)
        steps = [(x, 1 / tightest.kappa) for x, tightest, _ in group if tightest.kappa]
        _line(axes, steps, color=color, marker="_", markersize=12, linestyle="none")
    axes.plot([], [], color=_INK, marker="_", markersize=12, linestyle="none", label="best 1/κ")
    factors = [factor for group in groups.values() for _, _, factor in group]
    if factors and min(factors) > 0 and max(factors) > 20 * min(factors):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if all(member.constants[across].denominator == 1 for member in members):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _titled(axes, title, across, "factor of beta")
