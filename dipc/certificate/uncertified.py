"""What has no certificate."""

from __future__ import annotations


class Uncertified(ValueError):
    """The answer has no certificate, for the reason given."""
