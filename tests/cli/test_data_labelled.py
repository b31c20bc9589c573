"""`regard data` with labelled data: what `make` writes `check` reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regard.data.make import plan_of_builtin, write_files
from regard.data.sources import plan_for_labels

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def regard(tmp_path: Path):
    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "REGARD_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-c", "from regard.cli import main; main()", "data", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.mark.parametrize(("name", "target"), [("needle", "label"), ("reviews-long", "label"), ("tagged", "tags")])
def test_what_is_written_is_read_again(tmp_path, name, target):
    plan = plan_of_builtin(name, size=53, seed=3)
    gold = target == "label"
    write_files(plan, tmp_path / "out", gold=gold)
    again = plan_for_labels(tmp_path / "out", target=target)
    assert [row[:4] for row in again.rows()] == [row[:4] for row in plan.rows()]
    assert again.findings() == [] and again.cut == {}


def test_make_then_check(regard, tmp_path):
    done = regard("make", "needle", "--size", "211", "--out", "toy", "--gold")
    assert done.stdout.split() == ["toy/train.csv", "toy/val.csv", "toy/test.csv"]
    assert (tmp_path / "toy" / "train.csv").read_text().startswith("text,label,links\nw")
    report = regard("check", "toy").stdout
    assert report.startswith("toy: text -> label: train 211, val 211, test 211\n")
    assert regard("check", "toy", "--task", "classify").stdout == report
    assert "--batches is for pairs of texts" in regard("check", "toy", "--batches", code=2).stderr


def test_columns_are_named(regard, tmp_path):
    (tmp_path / "a.csv").write_text("nr,feedback,verdict\n" + "".join(f"{n},film {n},{n % 2}\n" for n in range(97)))
    told = regard("check", "a.csv", "--task", "classify", code=1).stdout
    assert "nr | feedback | verdict" in told and "--text COLUMN --label COLUMN" in told
    report = regard("check", "a.csv", "--text", "feedback", "--label", "verdict").stdout
    assert report.startswith("a.csv: text -> label: train ")
    assert "text is column 2, label is column 3" in report
    assert "no task is called 'sing'" in regard("check", "a.csv", "--task", "sing", code=2).stderr
