"""Comparisons: arms as they are written, conditions that stay equal, failures that stay alone, and the report."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regard.cli import app
from regard.compare import Arm, ArmResult, Measures, Outcome, Pairs, Plan, Trial, read_arms, read_result
from regard.compare.plan import PLAN_FILE
from regard.compare.results import _valid
from regard.compare.tables import length_table, main_table, markdown
from regard.errors import RecipeError, TrainingError, UsageError
from regard.model import save
from regard.recipe import resolve

TINY = ("embed.width=7", "encode.hidden=8", "predict.hidden=8", "predict.embed.width=7", "train.tokens=512")
ARMS = (
    "rnnsearch",
    "dot <b>: luong attend.score=dot encode.layers=1 predict.layers=1",
    # Every test sentence has more pieces than it can tell apart.
    "blind: luong attend.score.part=location attend.score.longest=2",
)


def test_arms_as_they_are_written():
    plain, labelled = read_arms(["luong", "the dot: luong  attend.score=dot encode.layers=1"])
    assert plain == Arm("luong", "luong")
    assert labelled == Arm("the dot", "luong", ("attend.score=dot", "encode.layers=1"))
    assert labelled.folder == "the-dot"


def finished(home, *names):
    """Folders that look like finished models."""
    for name in names:
        (home / name / "best").mkdir(parents=True)
        (home / name / "best" / "weights.safetensors").touch()
        (home / name / "best" / "recipe.toml").write_text('extends = "rnnsearch"\n')
    return [str(home / name) for name in names]


def test_finished_models_are_called_by_what_tells_them_apart(tmp_path):
    one, two, three, four = finished(tmp_path, "x/arms/dot/run", "x/arms/soft/run", "y/arms/dot/run", "plain")

    def labels(*texts):
        return [arm.label for arm in read_arms(texts)]

    assert labels(one, two, four, "luong") == ["dot", "soft", "plain", "luong"]
    assert labels(one, three) == ["x/arms/dot", "y/arms/dot"]
    assert labels(one, f"dot: {three}") == ["arms/dot", "dot"]
    assert labels(two, f"{two}/best") == [two, f"{two}/best"], "one run twice: by their paths"


def test_finished_models_never_share_a_folder_of_a_report(tmp_path):
    """What was measured of one must not be taken for another's that goes by its label."""
    one, two = finished(tmp_path, "x/dot/run", "y/dot/run")
    assert read_arms([one])[0].label == read_arms([two])[0].label == "dot"
    assert read_arms([one])[0].folder != read_arms([two])[0].folder
    assert read_arms([f"mine: {one}"])[0].folder != read_arms([f"mine: {two}"])[0].folder
    with pytest.raises(UsageError, match="two arms are called"):
        read_arms([f"a: {one}", f"b: {one}"])


@pytest.mark.parametrize("label", ["../../etc", "..", "a/b", "x y"])
def test_a_label_never_leads_out_of_the_report(label):
    assert re.fullmatch(r"[\w=+-][\w.=+-]*", Arm(label, "luong").folder)


def test_mistakes_are_told_before_any_training():
    with pytest.raises(UsageError, match="two arms are called 'luong'"):
        read_arms(["luong", "luong"])
    with pytest.raises(RecipeError, match=r"encode\.layer"):
        read_arms(["rnnsearch", "luong encode.layer=3"])
    with pytest.raises(UsageError, match="expected a recipe"):
        read_arms(["mine: "])


def test_several_finished_models_are_one_arm(tmp_path):
    one, two, three = finished(tmp_path, "a", "b", "c")
    mine, other = read_arms([f"mine: {one} {two}", three])
    assert mine == Arm("mine", one, finished=True, others=(two,))
    assert mine.models == (one, two)
    assert other.models == (three,)
    with pytest.raises(UsageError, match="needs a label"):
        read_arms([f"{one} {two}"])
    with pytest.raises(UsageError, match="no model folder"):
        read_arms([f"mine: {one} {tmp_path / 'nothing'}"])
    with pytest.raises(UsageError, match="two arms are called"):
        read_arms([f"mine: {one} {two}", f"yours: {two}"])


def test_arms_of_different_tasks_are_refused(tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('extends = "luong"\n[about]\ntask = "summarise"\n')
    assert read_arms([str(other)])[0].task == "summarise"
    with pytest.raises(
        UsageError, match="expected arms of one task; 'luong' is for translate, 'short' is for summarise"
    ):
        read_arms(["luong", f"short: {other}"])
    one, two = finished(tmp_path, "a", "b")
    Path(two, "best", "recipe.toml").write_text(other.read_text())
    with pytest.raises(UsageError, match="'mine': expected models of one task"):
        read_arms([f"mine: {one} {two}"])


def test_arms_that_classify(tmp_path):
    save(resolve("classify").build(31, 3), tmp_path / "run" / "best")
    for text in ("classify", str(tmp_path / "run"), str(tmp_path / "run" / "best")):
        (arm,) = read_arms([text])
        assert (arm.task, arm.sides) == ("classify", ("text", "label"))
        with pytest.raises(UsageError, match="expected arms of one task"):
            read_arms(["rnnsearch", text])


def test_an_arms_own_settings_come_last_and_win():
    plan = Plan("copy", "a", "b", minutes=1.5, seed=3, settings=("encode.layers=1",))
    words = plan.train(Arm("x", "luong", ("encode.layers=2",)), Path("run"), resume=True)
    assert " ".join(map(str, words)) == (
        "train luong --data copy --from a --to b --out run --minutes 1.5 --seed 3 "
        "-s encode.layers=1 -s encode.layers=2 --resume"
    )


def test_other_conditions_are_refused(tmp_path):
    Plan("copy", steps=3, settings=("encode.layers=1",)).keep(tmp_path)
    Plan("copy", steps=3, settings=("encode.layers=1",)).keep(tmp_path)
    with pytest.raises(UsageError, match="steps: was 3, is 5"):
        Plan("copy", steps=5, settings=("encode.layers=1",)).keep(tmp_path)


def test_more_seeds_are_no_other_condition(tmp_path):
    Plan("copy", steps=3).keep(tmp_path)
    Plan("copy", steps=3, seeds=3).keep(tmp_path)
    assert json.loads((tmp_path / PLAN_FILE).read_text())["seeds"] == 3


def test_a_plan_from_before_an_option_was_there_has_its_default(tmp_path):
    Plan("copy", steps=3).keep(tmp_path)
    told = json.loads((tmp_path / PLAN_FILE).read_text())
    del told["alpha"]
    (tmp_path / PLAN_FILE).write_text(json.dumps(told))
    with pytest.raises(UsageError, match="alpha: was None, is 1"):
        Plan("copy", steps=3, alpha=1.0).keep(tmp_path)
    Plan("copy", steps=3).keep(tmp_path)


def test_updates_made_twice_count_once():
    events = [("step", 10), ("step", 20), ("resume", 10), ("step", 20)]
    found = _valid({"event": event, "number": number} for event, number in events)
    assert [each["number"] for each in found] == [10, 10, 20]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A comparison of three arms, one of which cannot work, and what the command said."""
    out = tmp_path_factory.mktemp("compare") / "report"
    words = ["compare", *ARMS, "--data", "copy", "--steps", "3", "--size", "200", "--out", str(out)]
    words += [word for setting in TINY for word in ("-s", setting)]
    return out, words, CliRunner().invoke(app, words)


def test_a_failed_arm_is_told_and_the_others_finish(report):
    out, _, done = report
    assert isinstance(done.exception, TrainingError)
    assert "1 of 3 arms failed: blind" in str(done.exception)
    numbers = json.loads((out / "report.json").read_text())
    assert [each["arm"]["label"] for each in numbers["arms"]] == ["rnnsearch", "dot <b>"]
    assert "longest" in numbers["failed"]["blind"]
    assert (out / "report.md").read_text() in done.stdout


def test_the_report_holds_what_was_measured(report):
    out, _, _ = report
    arm = read_arms(ARMS[:1])[0]
    result = read_result(Outcome(Trial(arm), out / "arms" / arm.folder))
    scores = json.loads((out / "arms" / arm.folder / "scores.json").read_text())
    assert result.scores["BLEU"].value == scores["scores"][0]["value"]
    assert result.updates == 3
    assert len(result.outputs) == sum(bucket.count for bucket in result.lengths)
    from regard.model import load

    assert result.parameters == sum(each.numel() for each in load(result.model).parameters())
    other = replace(arm, label="other")
    twice = [ArmResult(arm, (result,)), ArmResult(other, (replace(result, trial=Trial(other)),))]
    measures = Measures(twice, Pairs(result.outputs, result.outputs))
    table = main_table(measures)
    assert table[1][1:2] == table[2][1:2]
    assert table[2][2].startswith("+0.0"), "an arm does not differ from itself"
    assert length_table(measures)[1][-1] == "+0.0"
    assert markdown([["a|b"], ["c"]]) == "| a\\|b |\n| --- |\n| c |"


def test_the_page_is_one_safe_file(report):
    out, _, _ = report
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert "dot &lt;b&gt;" in page
    assert "dot <b>" not in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert page.count("<h3>Sentence") == 3
    for label in ("rnnsearch", "dot &lt;b&gt;"):
        assert page.count(f'<dt dir="auto">{label}</dt>') == 3
    assert page.count('"title":"dot \\u003cb\\u003e"') == 3, "a figure for each sentence"
    drawn = {each.name for each in (out / "figures").iterdir()}
    assert drawn == {f"{name}{ending}" for name in ("curves", "lengths", "sizes") for ending in (".png", ".svg")}
    assert "regard train rnnsearch --data copy" in page


def test_a_rerun_goes_on_where_it_stopped(report):
    out, words, _ = report
    kept = (out / "arms" / "rnnsearch" / "scores.json").stat().st_mtime_ns
    again = CliRunner().invoke(app, [*words[:3], *words[4:]])  # without the blind arm
    assert again.exit_code == 0, again.output
    assert (out / "arms" / "rnnsearch" / "scores.json").stat().st_mtime_ns == kept


def test_an_old_comparison_goes_on_with_more_seeds(report, tmp_path):
    """A folder from before there were seeds: what it holds is the first seed, and only the second is trained."""
    old, words, _ = report
    out = tmp_path / "report"
    shutil.copytree(old, out)
    plan = json.loads((out / PLAN_FILE).read_text())
    del plan["seeds"]
    (out / PLAN_FILE).write_text(json.dumps(plan))
    for name in ("links.txt", "seed-1"):
        assert (out / "arms" / "rnnsearch" / name).exists() == (name == "links.txt")
    (out / "arms" / "rnnsearch" / "links.txt").unlink()  # nor did it keep links
    kept = (out / "arms" / "rnnsearch" / "scores.json").stat().st_mtime_ns
    words = [*words[:2], *words[4:], "--seeds", "2"]
    words[words.index(str(old))] = str(out)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "rnnsearch, seed 0: done before\n" in done.stderr
    assert "rnnsearch, seed 1: done\n" in done.stderr
    assert (out / "arms" / "rnnsearch" / "scores.json").stat().st_mtime_ns == kept
    (arm,) = json.loads((out / "report.json").read_text())["arms"]
    assert [each["seed"] for each in arm["trials"]] == [0, 1]
    assert arm["scores"]["AER"]["low"] < arm["scores"]["AER"]["value"] < arm["scores"]["AER"]["high"]
    logs = [(out / "arms" / "rnnsearch" / name / "run" / "log.jsonl").read_text() for name in (".", "seed-1")]
    assert logs[0] != logs[1], "another seed, another training"


def test_a_finished_model_is_an_arm(report, tmp_path):
    out, _, _ = report
    model = out / "arms" / "rnnsearch" / "run" / "best"
    words = ["compare", f"mine: {model}", "--data", "copy", "--out", str(tmp_path / "report"), "--jobs", "2"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    theirs, ours = (
        json.loads((place / "report.json").read_text())["arms"][0]["scores"]["BLEU"]["value"]
        for place in (out, tmp_path / "report")
    )
    assert ours == theirs
    with pytest.raises(UsageError, match="finished model"):
        read_arms([f"{model} encode.layers=2"])


def test_kill_saves_every_training_and_a_rerun_goes_on(tmp_path):
    """SIGTERM while an arm trains: exit code 130 and a state on the disk; then all updates are made."""
    out = tmp_path / "report"
    words = ["compare", "rnnsearch", "--data", "copy", "--size", "300", "--out", str(out), "--steps", "60"]
    words += [word for setting in (*TINY, "train.log=1", "train.validate_steps=0") for word in ("-s", setting)]
    command = [sys.executable, "-m", "regard", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        log = out / "arms" / "rnnsearch" / "run" / "log.jsonl"
        while not (log.is_file() and '"number": 3,' in log.read_text()):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate()
    assert process.returncode == 130
    assert "a rerun goes on" in told
    assert (log.parent / "state.safetensors").is_file()
    assert CliRunner().invoke(app, words).exit_code == 0
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each["number"] for each in events if each["event"] == "resume"]
    assert max(each["number"] for each in events) == 60
