"""Examples of diagnostics with as few lines as still give the message."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dipc.cli.main import run

BLOCK = re.compile(
    r"^(?:error|warning)\[([EW]\d{4})\].*?(?=^(?:error|warning)\[|^\d+ errors$|\Z)", re.MULTILINE | re.DOTALL
)

#: The most lines that are left out together.
_MOST = 12


def message_of(command: str, files: Mapping[str, str], code: str) -> str | None:
    """Return the message with `code` of a command in a folder with these `files`; None if there is none."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content, encoding="utf-8")
        before = Path.cwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
                run(shlex.split(command)[1:])
        finally:
            os.chdir(before)
    return next((found[0].rstrip() + "\n" for found in BLOCK.finditer(said.getvalue()) if found[1] == code), None)


class Example:
    """A command, its files and its message with one code, from which lines can be left out."""

    def __init__(self, code: str, command: str, files: Mapping[str, str], text: str) -> None:
        self.code = code
        self.command = command
        self.files = dict(files)
        self.text = text

    @staticmethod
    def in_one_folder(code: str, given: Mapping[str, Any]) -> Example | None:
        """Return the `given` example with its files in the folder of the command; None if its message differs there."""
        names = {path: Path(path).name for path in given["files"]}
        command = " ".join(shlex.quote(names.get(word, word)) for word in shlex.split(given["command"]))
        files = {names[path]: content for path, content in given["files"].items()}
        text = message_of(command, files, code)
        if text is None:
            return None
        here = re.sub("|".join(map(re.escape, names)), lambda found: names[found[0]], given["text"].splitlines()[0])
        return Example(code, command, files, text) if text.splitlines()[0] == here else None

    def shrink(self) -> None:
        """Leave out lines and files for as long as the message begins with the same line and is not cut short."""
        while any([*map(self._shrink_file, list(self.files)), *map(self._drop, list(self.files))]):
            pass

    def _shrink_file(self, name: str) -> bool:
        changed = False
        for size in range(min(_MOST, self.files[name].count("\n")), 0, -1):
            place = 0
            while place + size <= len(lines := self.files[name].splitlines(keepends=True)):
                rest = lines[:place] + lines[place + size :]
                if _is_headed(name, rest) and self._accept(self.command, {**self.files, name: "".join(rest)}):
                    changed = True
                else:
                    place += 1
        return changed

    def _drop(self, name: str) -> bool:
        if name not in self.files or name.endswith(".dip"):
            return False
        command = " ".join(shlex.quote(word) for word in shlex.split(self.command) if word != name)
        return self._accept(command, {other: content for other, content in self.files.items() if other != name})

    def _accept(self, command: str, files: dict[str, str]) -> bool:
        text = message_of(command, files, self.code)
        if text is None or text.splitlines()[0] != self.text.splitlines()[0]:
            return False
        if text.count("\n") < self.text.count("\n"):
            return False
        self.command, self.files, self.text = command, files, text
        return True


def _is_headed(name: str, lines: list[str]) -> bool:
    """Return True if a program still has its header."""
    return not name.endswith(".dip") or any("program" in line for line in lines)
