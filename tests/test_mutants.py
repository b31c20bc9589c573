"""Breaking things on purpose (`make mutants`): what is changed, which tests are asked, and a toy that is broken."""

import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from mutants import reached, run
from mutants.changes import Change, changes_of
from mutants.reached import Test as Known

TOY = '''"""A module."""

LIMIT = 3


def first(items: list[int | str], most: int = 2, *, strict=True) -> bool:
    """Not this: 1 + 1."""
    if not items and strict:
        raise ValueError(f"{len(items) + 1} is " "wrong" + "!", 5)
    items.append(-1)
    return sum(items, most) < 7


@part("score", "toy")
class Toy:
    """A part."""

    size = 5

    def __init__(self, width: int, *, hidden: int = 64) -> None:
        super().__init__()
        self.width = hidden

    def __repr__(self) -> str:
        return str(1 + 1)

    def abstract(self) -> None:
        """Must be written."""
        raise TypeError("not written")
'''


def told(source=TOY):
    return {(each.kind, each.was, each.now) for each in changes_of(source, "toy.py")}


def test_what_is_changed_in_a_toy():
    signature = "def first(items: list[int | str], most: int = 2, *, strict=True) -> bool:"
    assert told() == {
        ("number", signature, signature.replace("2", "3")),
        ("truth", signature, signature.replace("True", "False")),
        ("logic", "if not items and strict:", "if (not items or strict):"),
        ("not", "if not items and strict:", "if (items) and strict:"),
        ("condition", "if not items and strict:", "if (not (not items and strict)):"),
        ("statement", 'raise ValueError(f"{len(items) + 1} is " "wrong" + "!", 5)', "pass"),
        ("statement", "items.append(-1)", "pass"),
        ("number", "items.append(-1)", "items.append(-2)"),
        ("comparison", "return sum(items, most) < 7", "return (sum(items, most) <= 7)"),
        ("number", "return sum(items, most) < 7", "return sum(items, most) < 8"),
        ("arguments", "return sum(items, most) < 7", "return sum(most, items) < 7"),
        ("statement", "self.width = hidden", "pass"),
    }


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = a @ b + c", {"x = (a @ b - c)"}),
        ("x = a // b % c", {"x = (a // b // c)", "x = (a * b) % c"}),
        ("x = a if b else c", {"x = a if (not (b)) else c"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if (not (a))]"}),
        ("x = f(a, b, key=c, **d)", {"x = f(b, a, key=c, **d)", "x = f(a, b, **d)"}),
        ("x = max(a, b)", set()),
        ("x = f(a, *b)", set()),
        ("x = a is not None", {"x = (a is None)"}),
        ("x = 0.5 * ~a", {"x = (0.5 / ~a)", "x = 1.0 * ~a", "x = 0.5 * (a)"}),
        ("a[0] += 1", {"a[1] += 1", "a[0] += 2", "a[0] -= 1"}),
        ("x: int | str = 1", {"x: int | str = 2"}),
        ("x = 'ü' + b * 2", {"x = 'ü' + (b / 2)", "x = 'ü' + b * 3"}),
        ("while a < b < c: break", {"while (a <= b < c): break", "while (a < b <= c): break"}),
    ],
)
def test_one_line(line, changed):
    found = {now for kind, _, now in told(f"def f(a, b, c, d):\n    {line}\n")}
    assert found - {"while (not (a < b < c)): break", "while a < b < c: pass"} == changed


def test_a_change_is_where_it_says():
    source = "@decorated\ndef f(a):\n    return [\n        a,\n        1,\n    ]\n"
    (change,) = changes_of(source, "toy.py")
    assert (change.line, change.function) == (5, 1)
    assert change.apply(source) == source.replace("1", "2")


def known(name, seconds=1.0, functions=("attend/hard.py:5",), starts=False):
    return Known(name, seconds, frozenset(functions), starts)


def change(file="attend/hard.py"):
    return Change(file, 7, 5, "number", 0, 0, "")


def test_the_nearest_tests_are_asked_first_and_the_quickest_of_them():
    tests = [
        known("tests/test_model.py::far", 0.1),
        known("tests/attend/test_choice.py::slow", 3.0),
        known("tests/attend/test_choice.py::beside", 2.0),
        known("tests/attend/test_hard.py::own", 9.0),
        known("tests/attend/test_hard.py::other", functions=("attend/hard.py:9",)),
        known("tests/attend/test_child.py::starts", functions=(), starts=True),
        known("tests/learn/test_child.py::starts", functions=(), starts=True),
    ]
    names = [test.name.partition("::")[2] for test in reached.choose(change(), tests, 60.0)]
    assert names == ["own", "starts", "beside", "slow", "far"]
    names = [test.name.partition("::")[2] for test in reached.choose(change(), tests, 12.0)]
    assert names == ["own", "starts", "beside"]
    assert reached.choose(change("record.py"), tests, 60.0) == []


def test_test_files_of_a_module():
    found = reached.test_files(["attend", "align/record.py"])
    assert {"tests/attend/test_choice.py", "tests/align/test_record.py", "tests/test_contract.py"} <= set(found)
    assert not [file for file in found if file.startswith(("tests/cli/", "tests/learn/"))]


def test_a_change_is_named_by_its_place():
    assert run.named(change()) == {"attend/hard.py:7", "attend/hard.py:7:number"}


def trial(outcome, file="attend/hard.py"):
    return run.Trial(change(file), outcome, 3)


def test_the_table_counts_what_makes_a_difference(capsys):
    trials = [trial("noticed")] * 18 + [trial("late", "record.py"), trial("same"), trial("survived")]
    assert run.share_noticed(trials) == 0.95
    assert run.report(trials, ["attend", "record.py"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert rows == [
        ["module", "tried", "noticed", "late", "survived", "same", "share"],
        ["attend", "19", "18", "0", "1", "1", "94.7%"],
        ["record.py", "1", "0", "1", "0", "0", "100.0%"],
        ["all", "20", "18", "1", "1", "1", "95.0%"],
    ]
    assert run.report(trials[1:], ["attend"]) == 1
    assert run.share_noticed([]) == 1.0


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A project with one function, one test of it, and one that fails already."""
    home = tmp_path_factory.mktemp("toy") / "home"
    files = {
        "src/regard/__init__.py": "",
        "src/regard/toy.py": "def larger(a, b):\n    if a > b:\n        return a\n    return b\n\n\ndef forever(a):\n"
        "    while a < 3:\n        a += 1\n    return a\n",
        "tests/test_toy.py": "import pytest\n\nfrom regard.toy import forever, larger\n\n\n"
        "@pytest.fixture(scope='module')\ndef three():\n    return forever(2)\n\n\ndef test_larger():\n"
        "    assert larger(1, 2) == 2\n    assert larger(3, 2) == 3\n\n\ndef test_forever(three):\n"
        "    assert forever(1) == three == 3\n\n\ndef test_wrong():\n    assert larger(1, 2) == 1\n",
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    mutants = home / "benchmarks" / "mutants"
    mutants.mkdir(parents=True)
    for path in Path(run.__file__).parent.glob("*.py"):
        (mutants / path.name).write_text(path.read_text(encoding="utf-8"))
    return home


def test_a_toy_is_broken_and_left_as_it_was(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "HEAVY", ())
    tree = run.copy_tree(tmp_path / "tree", toy)
    tests = reached.reached([tree], ["tests/test_toy.py"], tmp_path / "kept.json")
    assert {test.name: sorted(test.functions) for test in tests} == {
        "tests/test_toy.py::test_larger": ["toy.py:1", "toy.py:7"],  # a fixture of the file may be any test's
        "tests/test_toy.py::test_forever": ["toy.py:7"],
    }
    assert json.loads((tmp_path / "kept.json").read_text())["tests/test_toy.py"]["mark"]
    one = "tests/test_toy.py::test_forever"
    assert [test.name for test in reached.reached([tree], [one], tmp_path / "kept.json")] == [one]
    changes = run.draw(["toy.py"], 3, toy)
    assert sorted(changes, key=str) == sorted(run.draw(["toy.py"], 4, toy), key=str)
    assert changes != run.draw(["toy.py"], 4, toy)
    monkeypatch.setattr(run, "PATIENCE", 0)
    asked = Namespace(minutes=5.0, seconds=60.0)
    wanted = [each for each in changes if each.now in ("if (a >= b):", "while (a <= 3):", "if (not (a > b)):")]
    found = {each.change.now: each.outcome for each in run.tried(wanted, tests, [tree], asked)}
    # of two equal numbers either is the larger
    assert found == {"if (a >= b):": "survived", "while (a <= 3):": "noticed", "if (not (a > b)):": "noticed"}
    assert (tree / "src/regard/toy.py").read_text() == (toy / "src/regard/toy.py").read_text()
    assert [*run.tried(wanted, tests, [tree], Namespace(minutes=-1.0, seconds=60.0))] == []


def test_what_makes_no_difference_is_not_tried(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "HEAVY", ())
    same = tmp_path / "same.toml"
    same.write_text('[[same]]\nfile = "toy.py"\nwas = "if a > b:"\nnow = "if (a >= b):"\nwhy = "equal numbers"\n')
    monkeypatch.setattr(run, "known_same", lambda known=run.known_same: known(same))
    (one,) = [each for each in run.draw(["toy.py"], 3, toy) if each.now == "if (a >= b):"]
    tree = run.copy_tree(tmp_path / "tree", toy)
    found = [*run.tried([one], [], [tree], Namespace(minutes=5.0, seconds=60.0))]
    assert [each.outcome for each in found] == ["same"]


def test_every_reason_is_of_a_change_that_there_is():
    """What is explained stays explained only as long as the line is there."""
    if not run.SAME.is_file():
        pytest.skip("no change is known to make no difference")
    known = run.known_same()
    there = {(each.file, each.was, each.now) for each in run.draw(sorted({file for file, _, _ in known}), 0)}
    assert known - there == set()
