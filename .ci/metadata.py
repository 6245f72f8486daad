"""The README as the index shows it: links into the repository are absolute, or plain text while it has no address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Readme(MetadataHookInterface):
    """Hatchling asks it for what is `dynamic` in pyproject.toml."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Give the README."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {"content-type": "text/markdown", "text": on_the_index(text, repository)}


def on_the_index(text: str, repository: str | None) -> str:
    """The text with absolute links: to the files of `repository`, if it is known; else without those links."""

    def link(match: re.Match[str]) -> str:
        picture, words, path = match.groups()
        if repository is None:
            return "" if picture else words
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository.rstrip('/')}/{kind}/main/{path})"

    return re.sub(r"(!?)\[([^\]]+)\]\((?![a-z]+:)([^)]+)\)", link, text)
