"""The certificate of an outcome, for `dipc verify`."""

from __future__ import annotations

from dipc.certificate.data import Uncertified
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify, certify_constant, certify_factor, certify_solution
from dipc.inverse.question import Solution
from dipc.outcome.outcome import Outcome
from dipc.outcome.tighten import Member
from dipc.questions.expected_error import ErrorReport
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.loss import Loss
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.report import Report


def certificate(outcome: Outcome, tool: str) -> str:
    """Return the text of the certificate of the answer `outcome`; raise Uncertified if it has none.

    The certificate names `tool`, the program that wrote it.
    """
    match outcome.result:
        case Report(evidence=None):
            raise Uncertified("only a decided claim has a certificate")
        case Report() as report:
            return certify(report, tool)
        case Member(tightest=answer):
            return certify_factor(answer, tool)
        case Solution() as answer:
            return certify_solution(answer, tool)
        case PrivacyReport() as report:
            return certify_privacy(outcome.question, report, tool)
        case Constant() | Loss() as answer:
            return certify_constant(outcome.question, answer, tool)
        case ErrorReport():
            raise Uncertified("the checker derives probabilities of answers, not expected errors")
    raise Uncertified("this kind of question has no certificate")
