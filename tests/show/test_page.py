"""Figures as one HTML file: what is in it, what is refused, how it is written. tests/browser opens it."""

import copy
import html
import json
import re

import numpy as np
import pytest

from browser.documents import diagonal, figure, layer, many_heads, page, plain, side, square
from regard.errors import UsageError
from regard.show import static
from regard.show.page import check_page, embed_html, page_html, write_page
from show.markup import Reader, fingerprint


def test_one_file_with_its_script_style_and_document():
    given = page(plain())
    reader = Reader(page_html(given))
    (_, document), (attributes, script) = reader.of("script")
    assert json.loads(document) == given
    assert attributes == {}, "an inline script: nothing to fetch"
    policy = reader.policy
    assert f"script-src {fingerprint(script)};" in policy
    assert f"style-src {fingerprint(reader.of('style')[0][1])};" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "img-src data: blob:" in policy
    assert reader.values("src", "href", "style") == []


def test_words_cannot_leave_the_document():
    words = ["</script>", "<!--", "&amp;", "\u2028", "\u2029", "<script>", "\\", '"', "\ud7ff", "\U0001f642"]
    document = figure(side(words), side(words), [layer(diagonal(np.random.default_rng(3), 11, 11))])
    text = page_html(page(document, title="</title><b>"))
    reader = Reader(text)
    assert [tag for tag, *_ in reader.found].count("script") == 2
    assert json.loads(reader.of("script")[0][1])["figures"][0]["source"]["words"] == [*words, "</s>"]
    between = text.split('<script type="application/json">')[1].split("</script>")[0]
    assert not re.search("[<>&\u2028\u2029]", between)
    assert reader.of("title")[0][1] == "</title><b>"


def test_sizes():
    assert len(page_html(page(square(30))).encode()) < 300_000
    large = len(page_html(page(many_heads(6, 8, 100, dtype="u2"))).encode())
    assert 500_000 < large < 2_000_000


def test_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "page.html"
    assert write_page(page(plain()), path) == path
    before = path.read_bytes()
    assert before.decode() == page_html(page(plain()))
    with pytest.raises(UsageError):
        write_page(page(), path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["page.html"]


def test_an_error_while_writing_leaves_the_old_page(tmp_path, monkeypatch):
    path = write_page(page(plain()), tmp_path / "page.html")
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(UsageError, match="cannot be written: no space"):
        write_page(page(plain(seed=2)), path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]


def test_the_frame_of_a_notebook():
    given = page(plain(), title='A "title" & more')
    text = embed_html(given, 480)
    ((attributes, _),) = Reader(text).of("iframe")
    assert attributes["srcdoc"] == page_html(given, embedded=True) != page_html(given)
    assert attributes["sandbox"] == "allow-scripts allow-downloads"
    assert (attributes["height"], attributes["title"]) == ("480", 'A "title" & more')
    assert html.escape("<script>") in text
    assert "<script>" not in text


# --- what is refused ---------------------------------------------------------------------------------------

WRONG = {
    "not a dictionary": (lambda p: p.update(figures=[3]), r"figures\[0\]: expected a dictionary; found int"),
    "format": (lambda p: p.update(format="x"), "the page: format: expected 'regard-page-1'; found 'x'"),
    "no figures": (lambda p: p.update(figures=[]), "figures: expected at least one figure"),
    "no title": (lambda p: p.pop("title"), "expected the key 'title'; found only 'format', 'figures'"),
    "title": (lambda p: first(p).update(title=3), r"figures\[0\].title: expected str; found int"),
    "side": (lambda p: first(p)["source"].pop("word"), r"figures\[0\].source: expected the key 'word'"),
    "no words": (lambda p: first(p)["source"].update(words=[]), "source.words: expected a list of texts, at least one"),
    "pieces": (lambda p: first(p)["target"]["word"].pop(), "target.word: expected one number for each of 18 pieces"),
    "word": (
        lambda p: first(p)["target"]["word"].__setitem__(2, 99),
        r"word\[2\]: expected a whole number from 0 to 14",
    ),
    "true is no number": (lambda p: first(p)["source"]["word"].__setitem__(0, True), r"word\[0\]: .* found True"),
    "no attention": (lambda p: first(p).update(attention=[]), "attention: expected at least one layer"),
    "kind": (lambda p: look(p).update(kind="self"), r"attention\[0\].kind: expected one of 'cross'"),
    "layer": (lambda p: look(p).update(layer=-1), "layer: expected a whole number from 0; found -1"),
    "rows": (lambda p: look(p).update(rows="both"), "rows: expected one of 'source', 'target'; found 'both'"),
    "shape": (lambda p: look(p).update(shape=[1, 18, 9]), r"shape: expected \[heads, 18, 16\].*; found \[1, 18, 9\]"),
    "no heads": (lambda p: look(p).update(shape=[0, 18, 16]), r"found \[0, 18, 16\]"),
    "dtype": (lambda p: look(p).update(dtype="f8"), "dtype: expected one of 'f4', 'u2'; found 'f8'"),
    "base64": (lambda p: look(p).update(data="%"), "data: expected base64 of a zlib stream"),
    "zlib": (lambda p: look(p).update(data="AAAA"), "data: expected base64 of a zlib stream"),
    "too few": (
        lambda p: look(p).update(data=layer(np.ones((1, 2, 3)))["data"]),
        "data: expected 288 values.*; found 6",
    ),
    "nan": (lambda p: look(p).update(data=layer(np.full((1, 18, 16), np.nan))["data"]), "values that are not finite"),
    "twice": (lambda p: first(p)["attention"].append(look(p)), "expected each layer of a kind once"),
    "chosen": (lambda p: first(p)["chosen"].update(layer=4), r"chosen: expected a kind and layer .*'cross', 0"),
    "chosen heads": (lambda p: first(p)["chosen"].update(heads=[1]), r"chosen.heads\[0\]: expected .* 0 to 0"),
    "no chosen heads": (lambda p: first(p)["chosen"].update(heads=[]), "chosen.heads: expected one head or more"),
    "link": (lambda p: first(p).update(links=[[0, 1, 2]]), r"links\[0\]: expected \[source word, target word\]"),
    "link's word": (lambda p: first(p).update(links=[[0, 15]]), "from 0 to 14, for there are 15 target words"),
    "score": (lambda p: first(p).update(scores={"a": {"value": 1.0}}), r"scores\['a'\]: expected the key 'meaning'"),
    "infinite": (lambda p: first(p).update(scores={"a": {"value": float("inf"), "meaning": ""}}), "a finite number"),
}


def first(given):
    return given["figures"][0]


def look(given):
    return first(given)["attention"][0]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_place(name):
    change, message = WRONG[name]
    given = copy.deepcopy(page(plain()))
    check_page(given)
    change(given)
    with pytest.raises(UsageError, match=message):
        page_html(given)


# --- the joiner --------------------------------------------------------------------------------------------


def joined(**modules):
    return static.join("main", lambda name: modules[name])


def test_modules_are_joined_in_order_each_in_its_own_room():
    text = joined(
        main='import { one } from "./a.js";\nimport {\n  two,\n} from "./b.js";\n\nshow(one, two);\n',
        a='import { two } from "./b.js";\nconst own = 1;\nexport const one = two + own;\n',
        b="const own = 2;\nexport async function two() {}\nexport class Three {}\n",
    )
    assert [text.index(f"const ${name} =") for name in ("b", "a", "main")] == sorted(
        text.index(f"const ${name} =") for name in ("b", "a", "main")
    )
    assert "const { two } = $b;" in text
    assert "return { two, Three };" in text
    assert not re.search(r"^(import|export)\b", text, re.M)
    assert text.count("const $b =") == 1


def test_a_circle_of_modules_is_told():
    with pytest.raises(UsageError, match="in a circle: main -> a -> main"):
        joined(main='import { a } from "./a.js";\n', a='import { b } from "./main.js";\n')


@pytest.mark.parametrize(
    "line",
    [
        'import x from "./a.js";',
        'import * as x from "./a.js";',
        'import "./a.js";',
        "export default 3;",
        "export { x };",
        'import { x } from "https://example.org/x.js";',
        "export let x = 1;",
    ],
)
def test_what_the_joiner_does_not_know_is_told(line):
    with pytest.raises(UsageError, match=r"main\.js: the joiner does not know"):
        joined(main=f"{line}\n")


def test_our_script_is_safe_inside_a_page():
    script = static.join("start")
    assert "</" not in script.replace("</s>", "")
    assert "<!--" not in script
    assert not re.search(r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|setTimeout\(['\"])", script)
    assert "//cdn" not in script
    assert set(re.findall(r"https?://[^\s\"'`]+", script)) == {"http://www.w3.org/2000/svg"}
