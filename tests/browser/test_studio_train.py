"""The page Train of the studio: curves as they grow, and how an alignment formed."""

import json

import httpx2
import numpy as np
import pytest

from browser.documents import diagonal, figure, layer, side
from browser.studio import go, is_sound, opened, running
from browser.tabs import until
from regard.learn.looks import keep_looks
from serving import translator

WORDS = ["der", "mann", "liest", "ein", "buch"]


def write(folder, *events):
    """Lines at the end of a log."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)


def step(number, nll):
    return {"event": "step", "number": number, "seconds": number / 7, "nll": nll, "rate": 0.1, "norm": 1, "speed": 5}


def validated(number, bleu):
    values = {"bleu": bleu, "nll": 1.0}
    return {"event": "validate", "number": number, "seconds": number / 7, "values": values, "best": True, "samples": []}


def look(folder, number, blur):
    """Two sentences, the sharper the smaller `blur` is."""
    rng = np.random.default_rng(3)
    figures = []
    for length in (4, 6):
        words = side((WORDS + WORDS)[: length - 1])
        figures.append(figure(words, words, [layer(diagonal(rng, length, length, heads=2, blur=blur))]))
    keep_looks(folder / "looks", number, figures)


@pytest.fixture
def runs(tmp_path):
    """Two trainings."""
    for name, rate in (("one", 0.1), ("nested/two", 0.2)):
        write(tmp_path / name, {"event": "start", "number": 0, "terms": {"seed": 0, "train.rate": rate}})
        write(tmp_path / name, step(10, 5.0), step(20, 3.0), validated(20, 11.0), step(30, 2.0), validated(30, 17.0))
    for number, blur in ((0, 50.0), (20, 3.0), (30, 0.2)):
        look(tmp_path / "one", number, blur)
    write(tmp_path / "nested/two", {"event": "end", "number": 30, "seconds": 4, "metric": "bleu", "best": 17.0})
    return tmp_path


@pytest.fixture
def origin(runs):
    with running({"toy": translator()}, runs=str(runs)) as found:
        yield found


def test_curves_grow_without_being_asked(browser, origin, runs):
    with opened(browser, origin) as tab:
        go(tab, origin + "/train?run=one")
        until(tab, ".plot .dot", 2)
        assert tab.locator("tbody tr").count() == 2
        states = tab.locator("tbody td:nth-child(2)").all_text_contents()
        assert sorted(states) == ["ended", "running"]
        tab.get_by_label("Show").select_option("train: nll")
        until(tab, ".plot .dot", 3)
        write(runs / "one", step(40, 1.5))
        until(tab, ".plot .dot", 4)
        write(runs / "one", {"event": "resume", "number": 20, "terms": {"seed": 0, "train.rate": 0.1}}, step(30, 1.9))
        until(tab, ".plot .dot", 3)  # what was made again is void
        assert tab.locator(".plot .dot").evaluate_all("all => all.map(e => +e.dataset.y)") == [5.0, 3.0, 1.9]


def test_a_slider_replays_how_an_alignment_formed(browser, origin, runs):
    with opened(browser, origin) as tab:
        go(tab, origin + "/train?run=one")
        entropy = tab.get_by_test_id("entropy")

        def at(place, number):
            tab.get_by_role("slider", name="Validation").fill(str(place))
            until(tab, f".replay output:has-text('after update {number}')", 1)
            until(tab, f".figure .note:has-text('after update {number}')", 1)
            until(tab, ".figure [role=gridcell]", 16)
            tab.wait_for_timeout(100)
            return float(entropy.inner_text().split(": ")[1].split(" ")[0])

        until(tab, ".figure .note:has-text('after update 30')", 1)
        entropies = [at(place, number) for place, number in enumerate((0, 20, 30))]
        assert entropies == sorted(entropies, reverse=True) and entropies[0] > entropies[-1]
        look(runs / "one", 40, 0.1)
        until(tab, ".figure .note:has-text('after update 40')", 1)  # who stands at the end goes along
        tab.get_by_label("Sentence").select_option("1")
        until(tab, ".figure [role=gridcell]", 36)


def test_two_trainings_beside_one_another(browser, origin):
    with opened(browser, origin) as tab:
        go(tab, origin + "/train?run=one&beside=nested/two")
        until(tab, ".plot .line", 2)
        table = tab.get_by_role("table", name="Settings that differ")
        assert table.locator("tbody td").all_text_contents() == ["train.rate", "0.1", "0.2"]


def test_only_what_was_told_is_read(origin, runs):
    (runs.parent / "log.jsonl").write_text('{"event": "start"}\n')
    for name in ("..", ".", "one/..", "/etc", "none"):
        assert httpx2.get(f"{origin}/api/v1/runs/log", params={"name": name}).status_code == 404
    assert httpx2.get(f"{origin}/api/v1/runs/look", params={"name": "one", "number": 7}).status_code == 404
    with running({"toy": translator()}) as without:
        assert httpx2.get(f"{without}/api/v1/runs").json() == {"runs": []}


def test_a_log_is_told_in_whole_lines(origin, runs):
    with (runs / "one" / "log.jsonl").open("a") as file:
        file.write('{"event": "st')
    told = httpx2.get(f"{origin}/api/v1/runs/log", params={"name": "one"}).json()
    assert [each["event"] for each in told["events"]] == ["start", "step", "step", "validate", "step", "validate"]
    with (runs / "one" / "log.jsonl").open("a") as file:
        file.write('ep", "number": 31}\n')
    rest = httpx2.get(f"{origin}/api/v1/runs/log", params={"name": "one", "after": told["next"]}).json()
    assert rest["events"] == [{"event": "step", "number": 31}]


def test_the_page_is_sound(browser, origin):
    def ready(tab):
        until(tab, ".plot .line", 2)
        until(tab, ".figure .save button", 6 + 1)

    is_sound(browser, origin, "/train?run=one&beside=nested/two", ready)
