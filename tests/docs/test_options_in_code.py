"""Lines of code on the site break between options, and not within them."""

from __future__ import annotations

import pytest

from docs.conf import with_whole_options


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("<pre>dipc check p.dip --inputs all -q</pre>", ["--inputs", "-q"]),
        ('<pre>dipc <span class="s1" title="--no -x">--for-all</span> m</pre>', ["--for-all"]),
        ('<p>well-known -- and -q<code class="literal"><span>--eps</span> 1</code></p>', ["--eps"]),
        ("<pre>exp(-alpha*eps) - beta-1 &lt;- x-y</pre>", []),
    ],
)
def test_options_are_kept_whole(body: str, options: list[str]) -> None:
    found = with_whole_options(body)
    for option in options:
        assert f'<span class="whole-option">{option}</span>' in found
    assert found.count('class="whole-option"') == len(options)
    assert found.replace('<span class="whole-option">', "").count("</span>") - len(options) == body.count("</span>")
