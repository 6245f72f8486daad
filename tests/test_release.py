"""What is published fits together: versions, the README as an index shows it, the editor's client, the contents."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

import dipc

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def on_the_index(text: str, repository: str | None) -> str:
    spec = importlib.util.spec_from_file_location("metadata", ROOT / ".ci" / "metadata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.on_the_index(text, repository))


@pytest.mark.parametrize("repository", [None, "https://example.org/dipc/"])
def test_links_of_the_readme_lead_somewhere_on_an_index(repository: str | None) -> None:
    found = on_the_index(README, repository)
    links = re.findall(r"\]\(([^)]+)\)", found)
    assert all(link.startswith("https://") for link in links)
    assert ("https://example.org/dipc/blob/main/docs/tutorial.md" in links) is (repository is not None)
    assert ("https://example.org/dipc/raw/main/docs/static/front.svg" in links) is (repository is not None)
    assert "[Tutorial]" in README
    assert "Tutorial" in found


def test_versions_agree() -> None:
    assert f"version: {dipc.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    extension = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert extension["version"] == dipc.__version__
    assert f"## [{dipc.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_extension_is_a_client_of_the_server() -> None:
    place = ROOT / "editors" / "vscode"
    extension = json.loads((place / "package.json").read_text(encoding="utf-8"))
    client = (place / extension["main"]).read_text(encoding="utf-8")
    assert 'args: ["lsp"]' in client
    required = set(re.findall(r'require\("([^"/]+)', client)) - {"vscode"}
    assert required == set(extension["dependencies"])
    for command in extension["contributes"]["commands"]:
        assert f'registerCommand("{command["command"]}"' in client


def test_first_lines_install_from_a_checkout() -> None:
    for page in ("README.md", "docs/install.md", "docs/playground.md", "docs/ci/README.md", "docs/tutorial.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        commands = re.findall(r"^pip install .*|^make .*", text, re.MULTILINE)
        assert not commands or "dipc-verifier" not in commands[0].partition("#")[0], page


def test_the_source_distribution_has_what_a_contributor_needs() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = wanted["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in ("/.ci", "/CONTRIBUTING.md", "/ARCHITECTURE.md", "/.pre-commit-hooks.yaml", "/Dockerfile", "/tests"):
        assert name in included
        assert (ROOT / name[1:]).exists()
