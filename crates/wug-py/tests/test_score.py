import json
import math
import random

import pytest
import wug


def targets(name, part):
    return [row["target"] for row in wug.load(name)[part]]


def test_the_document_of_the_command_line():
    predictions = targets("scan/length", "test")
    predictions[:100] = ["I_JUMP"] * 100
    scores = wug.score("scan/length", predictions, part="test", by="action-length")
    assert scores.correct == 3820
    assert scores.accuracy == pytest.approx(3820 / 3920)
    low, high = scores.interval
    assert low < scores.accuracy < high
    assert scores.json["schema"] == 1
    assert scores.json["parts"][0]["by"]["fact"] == "action_length"
    groups = scores.by("action_length")
    assert sum(group.n for group in groups) == 3920
    assert [group.value for group in groups] == sorted(group.value for group in groups)
    verdicts = scores.verdicts()
    assert not verdicts["test_00000000"]
    assert verdicts["test_00000000"].reason
    assert verdicts["test_00003919"].correct
    assert "97.45%" in repr(scores)
    assert "97.45%" in scores._repr_html_()


def test_predictions_in_every_form(tmp_path):
    texts = targets("nacs/simple", "test")
    rows = [{"id": f"test_{i:08}", "prediction": text} for i, text in enumerate(texts)]
    random.Random(0).shuffle(rows)
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    by_id = {row["id"]: row["prediction"] for row in rows}
    for given in (texts, iter(texts), rows, by_id, path):
        assert wug.score("nacs/simple", given).accuracy == 1.0


def test_wrong_predictions_say_what_is_wrong(tmp_path):
    with pytest.raises(ValueError, match="ends after 2 predictions; there are 3920 examples of test"):
        wug.score("scan/length", ["I_JUMP", "I_WALK"])
    with pytest.raises(ValueError, match=r"no prediction for `test_00000000`|is not an id"):
        wug.score("scan/length", {"test_99999999": "I_JUMP"})
    with pytest.raises(ValueError, match="needs `id` and `prediction`"):
        wug.score("scan/length", [{"text": "I_JUMP"}])
    with pytest.raises(TypeError, match="a prediction is a text, not int"):
        wug.score("scan/length", [3, 4])
    with pytest.raises(TypeError, match=r"pathlib\.Path"):
        wug.score("scan/length", "predictions.txt")
    with pytest.raises(FileNotFoundError):
        wug.score("scan/length", tmp_path / "none.txt")
    with pytest.raises(ValueError, match="has no metric `luck`"):
        wug.score("scan/length", [], metric="luck")


def test_verify_judges_by_meaning():
    example = {"input": "I_JUMP I_JUMP", "target": "jump twice"}
    assert wug.verify("nacs/simple", example, "jump and jump").correct
    assert not wug.verify("nacs/simple", example, "jump and jump", metric="exact").correct
    verdict = wug.verify("nacs/simple", example, "jump thrice")
    assert verdict == wug.Verdict(False, "a command with other actions", False)
    assert not verdict


def test_verify_agrees_with_score():
    part = wug.load("cogs/main")["gen"][:300]
    answers = [row["target"] for row in part]
    answers[:100] = answers[100:200]
    for metric in ("exact", "sem"):
        verdicts = wug.score("cogs/main", answers, part="gen", limit=300, metric=metric).verdicts()
        for row, answer in zip(part, answers, strict=True):
            assert wug.verify("cogs/main", row, answer, metric=metric) == verdicts[row["id"]]


@pytest.mark.parametrize("name", ["scan/simple", "nacs/simple", "cogs/main", "recogs/v2", "hint/symbol", "mns/circle"])
def test_any_answer_gets_a_verdict(name):
    stream = wug.stream(name, split="test")
    chance = random.Random(1)
    hostile = [
        "",
        "\x00",
        "\ud800",
        "(" * 20_000,
        "9" * 100_000,
        "x _ 1 ; " * 5_000,
        "jump and " * 9_999,
        "NaN",
        "∞",
    ]
    for i in range(200):
        item = stream[i]
        words = item["target"].split() + item["input"].split()
        mutated = " ".join(chance.choices(words, k=chance.randrange(1, 30)))
        for answer in (mutated, hostile[i % len(hostile)]):
            verdict = wug.verify(name, item, answer)
            assert verdict.correct or verdict.reason
        assert wug.verify(name, item, item["target"]).correct


def test_intervals_are_wilsons():
    scores = wug.score("scan/length", ["none"] * 3920)
    assert scores.accuracy == 0
    assert scores.interval[0] == 0
    assert math.isclose(scores.interval[1], 1.96**2 / (3920 + 1.96**2), rel_tol=1e-3)
