import json
import os
import signal
import subprocess
import sys
import time

import pytest
import wug


def test_a_run_is_kept_and_found_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    run = wug.run("scan/simple", "lstm", steps=20, limit=50, progress=lambda *now: said.append(now))
    assert run.folder.parent.name == "runs"
    assert run.scores.n == 50
    assert len(run.predictions) == len(run.verdicts()) == 50
    assert run.record["spec"]["settings"]["steps"] == 20
    begun = run.record["seconds"]
    again = wug.run("scan/simple", "lstm", steps=20, limit=50)
    assert again.record["seconds"] == begun, "it was not run again"
    assert wug.Run(run.folder).accuracy == run.accuracy
    assert sum(group.n for group in run.scores.by("action_length")) == 50


def test_compare_and_report(tmp_path):
    runs = [
        wug.run("mns/circle", learner, limit=280, reads_symbols=learner == "bayes", out=tmp_path / learner)
        for learner in ("always-one", "bayes")
    ]
    comparison = wug.compare(*runs, by="type")
    assert comparison.difference == pytest.approx(runs[1].accuracy - runs[0].accuracy)
    low, high = comparison.interval
    assert 0 < low < comparison.difference < high
    assert "bayes" in comparison._repr_html_()
    page = wug.report(runs, tmp_path / "report.html")
    assert "mns/circle" in page.read_text()
    with pytest.raises(ValueError, match="at least two runs"):
        wug.compare(runs[0])


def test_another_run_in_the_folder_is_refused(tmp_path):
    wug.run("mns/circle", "always-one", limit=28, out=tmp_path / "run")
    with pytest.raises(ValueError, match="holds another run"):
        wug.run("mns/circle", "always-one", limit=56, out=tmp_path / "run")
    assert wug.run("mns/circle", "always-one", limit=56, out=tmp_path / "run", force=True).scores.n == 56


def test_errors_have_wugs_message(tmp_path):
    with pytest.raises(ValueError, match=r"no learner `lstn`|lstm"):
        wug.run("scan/simple", "lstn")
    with pytest.raises(ValueError, match="stepz"):
        wug.run("scan/simple", "lstm", stepz=3)
    with pytest.raises(ValueError, match="there is no run"):
        wug.Run(tmp_path)


TRAIN = """
import signal, sys, wug
# A shell starts background jobs with SIGINT ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    show = lambda *now: print(now, flush=True)
    wug.run("scan/simple", "lstm", steps=2_000_000, limit=50, out=sys.argv[1], progress=show)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise SystemExit(7)
"""


def test_ctrl_c_stops_training_and_leaves_a_folder_to_resume(tmp_path):
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", TRAIN, folder], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "updates" in line:
            break
    interrupted = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(timeout=10) == 7
    took = time.monotonic() - interrupted
    assert "interrupted" in rest
    assert took < float(os.environ.get("WUG_CTRL_C_SECONDS", "1")), f"{took:.2f} s"
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "unfinished"
    with pytest.raises(ValueError, match="the run is unfinished"):
        wug.Run(folder)


def test_an_interrupted_run_goes_on(tmp_path):
    # Enough updates that progress is told before they are all made.
    folder = tmp_path / "run"

    def stop(unit, done, of, message):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wug.run("scan/simple", "lstm", steps=300, limit=20, out=folder, progress=stop)
    assert json.loads((folder / "run.json").read_text())["status"] == "unfinished"
    resumed = wug.run("scan/simple", "lstm", steps=300, limit=20, out=folder)
    whole = wug.run("scan/simple", "lstm", steps=300, limit=20, out=tmp_path / "whole")
    assert resumed.predictions == whole.predictions


def test_induce(tmp_path):
    train = wug.load("toy/random-1")
    model = wug.induce(train["train"], budget=20)
    right = sum(model.predict(row["input"]) == row["target"] for row in train["test"])
    assert right > 0.9 * len(train["test"])
    assert model.grammar
    model.save(tmp_path / "grammar.json")
    row = train["test"][0]
    loaded = wug.Model.load(tmp_path / "grammar.json")
    assert loaded.predict(row["input"]) == model.predict(row["input"])
    assert model.explain(row["input"]).derivation
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match="line 1"):
        wug.Model.load(tmp_path / "bad.json")
