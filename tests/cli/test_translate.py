"""train, translate, align and evaluate, from end to end on the copy task, as a person would type them."""

import gzip
import json
import signal
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import regard
from regard.cli import app, main
from regard.errors import UsageError
from regard.evaluate import read_scores, values_of

SMALL = ["-s", "train.tokens=512", "-s", "train.validate_steps=20", "-s", "train.tensorboard=false",
         "-s", "train.rate=0.01", "-s", "train.schedule=constant",
         "-s", "encode.hidden=32", "-s", "predict.hidden=32", "-s", "embed.width=16",
         "-s", "predict.embed.width=16"]  # fmt: skip


def call(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "copy"
    done = call("train", "rnnsearch-characters", "--data", "copy", "--size", 300, "--out", out, "--steps", 40, *SMALL)
    assert done.exit_code == 0, done.output
    return out


def test_a_run_leaves_a_model_folder(run):
    assert {"best", "last", "log.jsonl"} <= {entry.name for entry in run.iterdir()}
    files = {
        "recipe.toml",
        "weights.safetensors",
        "source.tokenizer.json",
        "target.tokenizer.json",
        "scores.json",
        "alignment.json",
        "lengths.json",
        "README.md",
    }
    assert {entry.name for entry in (run / "best").iterdir()} == files
    scores = read_scores((run / "best" / "scores.json").read_text(encoding="utf-8"))
    assert scores["training"]["metric"] == "bleu" and {"bleu", "chrf", "exact_match", "nll"} == set(values_of(scores))


def test_translate_is_a_filter(run):
    done = call("translate", run, "--beam", 2, text="a b c\n\nd e\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") == 3
    assert done.stdout.split("\n")[1] == ""


def test_ctrl_c_while_waiting_for_a_line(run):
    """A person at the keyboard leaves with Ctrl-C: 130, and no dying words."""
    with subprocess.Popen(
        [sys.executable, "-m", "regard", "translate", str(run), "--beam", "1"],
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        # Whoever runs the tests in the background has Ctrl-C ignored, and children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as asked:
        asked.stdin.write(b"a b c\n")
        asked.stdin.flush()
        assert asked.stdout.readline().endswith(b"\n")  # it has answered, and waits for more
        asked.send_signal(signal.SIGINT)
        assert asked.wait(60) == 130
        assert b"Fatal" not in asked.stderr.read()


def test_translate_a_file_with_links(run, tmp_path):
    (tmp_path / "in.txt").write_text("a b c\nd e", encoding="utf-8")
    done = call("translate", run, tmp_path / "in.txt", "--alignments", "hard")
    text, links = done.stdout.splitlines()[0].split("\t")
    assert len(done.stdout.splitlines()) == 2
    assert all(int(link.split("-")[1]) < len(text.split()) for link in links.split())


def test_translate_a_packed_file(run, tmp_path):
    lines = "".join(f"a b {'c ' * (number % 5)}\n" for number in range(600))
    (tmp_path / "in.txt").write_text(lines)
    (tmp_path / "in.txt.gz").write_bytes(gzip.compress(lines.encode()))
    plain, packed = (call("translate", run, tmp_path / name, "--beam", 1) for name in ("in.txt", "in.txt.gz"))
    assert packed.exit_code == 0, packed.output
    assert len(packed.stdout.splitlines()) == 600
    assert packed.stdout == plain.stdout


def test_translate_as_json_with_matrices_and_several_outputs(run):
    done = call("translate", run, "--format", "jsonl", "--alignments", "soft", "--nbest", 2, text="a b c\n")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["line"] for row in rows] == [1, 1]
    assert rows[0]["score"] >= rows[1]["score"]
    for row in rows:
        assert len(row["matrix"]) == len(row["target"])
        assert len(row["matrix"][0]) == len(row["source"]) == 4


def test_what_cannot_be_is_said(run, tmp_path, monkeypatch, capsys):
    (tmp_path / "latin.txt").write_bytes("schön".encode("latin-1"))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a b c\n" * 9)[:-9])
    for words, message in [
        (("translate", tmp_path / "none"), "is no model folder"),
        (("translate", run, tmp_path / "none.txt"), "is not a file"),
        (("translate", run, tmp_path / "latin.txt"), "line 1: expected UTF-8; found byte 0xf6"),
        (("translate", run, tmp_path / "cut.gz"), "cannot be read"),
        (("translate", run, "--alignments", "soft"), "Add --format jsonl"),
        (("train", "rnnsearch", "--data", "copy", "--out", tmp_path / "x"), "--minutes 10, or --steps"),
        (("train", "rnnsearch", "--data", "copy", "--out", run, "--steps", 1), "not empty"),
    ]:
        monkeypatch.setattr(sys, "argv", ["regard", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (1, 2), words
        assert message in (said := capsys.readouterr().err), said
        assert "Traceback" not in said


def test_a_closed_pipe_is_no_traceback(run):
    command = f"yes 'a b c' | head -500 | {sys.executable} -m regard translate {run} --beam 1 | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_a_byte_order_mark_changes_nothing(run, tmp_path):
    (tmp_path / "plain").write_text("a b c\nd e\n")
    (tmp_path / "marked").write_text("\ufeffa b c\nd e\n", encoding="utf-8")
    for words in ("translate {}", "align {} plain", "align plain {}"):
        verb, *files = words.split()
        plain, marked = (
            call(verb, run, *(tmp_path / each.format(name) for each in files)) for name in ("plain", "marked")
        )
        assert plain.exit_code == 0
        assert marked.stdout == plain.stdout
    for words in (("translate", run), ("show", run, "-")):
        assert call(*words, text="\ufeffa b c\n").stdout == call(*words, text="a b c\n").stdout


def test_align_given_pairs(run, tmp_path):
    (tmp_path / "a").write_text("a b c\nd e\n")
    (tmp_path / "b").write_text("a b c\nd e\n")
    done = call("align", run, tmp_path / "a", tmp_path / "b")
    assert len(done.stdout.splitlines()) == 2
    (tmp_path / "b").write_text("a b c\n")
    assert call("align", run, tmp_path / "a", tmp_path / "b").exit_code != 0


def test_evaluate(run, tmp_path):
    done = call(
        "evaluate", run, "--data", "copy", "--beam", 1, "--json", "--by-length", "--out", tmp_path / "length.png"
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [score["name"] for score in found["scores"]] == ["BLEU", "chrF2", "exact match"]
    assert found["scores"][0]["signature"].startswith("nrefs:1")
    assert 0 <= found["alignment"]["aer"] <= 1
    assert (tmp_path / "length.png").read_bytes().startswith(b"\x89PNG")


def test_a_greater_alpha_makes_outputs_longer(run):
    asked = (call("evaluate", run, "--data", "copy", "--alpha", alpha, "--json") for alpha in (0, 20))
    short, long = (json.loads(each.stdout) for each in asked)
    assert short["words"] < long["words"]
    assert "alpha 20" in long["title"]
    assert call("evaluate", run, "--data", "copy", "--alpha", -1).exit_code != 0


def test_evaluate_tokenised_text(run):
    done = call("evaluate", run, "--data", "copy", "--beam", 1, "--json", "--tokenize", "none", "--by-length")
    found = json.loads(done.stdout)
    assert "tok:none" in found["scores"][0]["signature"]
    assert all("tok:none" in each["score"]["signature"] for each in found["lengths"])
    wrong = call("evaluate", run, "--data", "copy", "--tokenize", "13b")
    assert wrong.exit_code != 0
    assert "13a" in str(wrong.exception or wrong.output)


def test_a_run_goes_on_to_the_same_weights(run, tmp_path):
    half = tmp_path / "half"
    for steps, more in ((20, ()), (40, ("--resume",))):
        done = call(
            "train",
            "rnnsearch-characters",
            "--data",
            "copy",
            "--size",
            300,
            "--out",
            half,
            "--steps",
            steps,
            *SMALL,
            *more,
        )
        assert done.exit_code == 0, done.output
    ours, theirs = (regard.load(folder / "last").model.state_dict() for folder in (half, run))
    assert all((ours[key] == theirs[key]).all() for key in ours)


def test_the_same_from_python(tmp_path):
    model = regard.train("rnnsearch-characters", data="copy", size=200, out=tmp_path / "run", steps=3,
                         settings=[word for word in SMALL if word != "-s"])  # fmt: skip
    assert isinstance(model.translate("a b c").text, str)
    assert regard.load(tmp_path / "run").translate("a b c").text == model.translate("a b c").text


def test_outputs_can_be_drawn(run):
    words = ("translate", run, "--sample", "--seed", "3", "--nbest", "2", "--format", "jsonl", "--alignments", "hard")
    first, again = (call(*words, text="a b c\n\n") for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout == again.stdout
    told = [json.loads(line) for line in first.stdout.splitlines()]
    assert [each["line"] for each in told] == [1, 1, 2]
    assert all("links" in each and each["score"] < 0 for each in told[:2])
    assert told[2]["text"] == ""
    greedy = call("translate", run, "--beam", "1", text="a b c\n").stdout
    for narrow in (("--temperature", "0"), ("--top-k", "1"), ("--top-p", "0.000001")):
        assert call("translate", run, "--sample", *narrow, text="a b c\n").stdout == greedy


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--top-k", "4"), "--top-k is for drawn outputs"),
        (("--seed", "4"), "--seed is for drawn outputs"),
        (("--sample", "--beam", "4"), "--beam is for searching"),
        (("--sample", "--top-p", "2"), "top_p to be more than 0"),
        (("--sample", "--continuous"), "continuous does not go with"),
        (("--beam", "100000"), "a beam of at most 1,000; found 100,000"),
    ],
)
def test_options_that_do_not_go_together(run, words, told):
    done = call("translate", run, *words, text="a\n")
    assert isinstance(done.exception, UsageError)
    assert told in str(done.exception)
