import importlib.util
import pickle
import sys

import pyarrow.parquet
import pytest
import wug


def test_parts_are_like_a_dict():
    data = wug.load("scan/length", seed=0)
    assert data.name == "scan/length"
    assert {"train", "test"} <= set(data)
    assert (len(data["train"]), len(data["test"])) == (16990, 3920)
    with pytest.raises(KeyError, match="has no part `dev`; there are: train"):
        data["dev"]


def test_rows_are_like_a_list():
    test = wug.load("scan/length")["test"]
    first = test[0]
    assert set(first) == {"id", "input", "target", "facts"}
    assert first["id"] == "test_00000000"
    assert first["facts"]["action_length"] == len(first["target"].split())
    assert test[-1] == test[len(test) - 1]
    assert [row["id"] for row in test[2:8:2]] == ["test_00000002", "test_00000004", "test_00000006"]
    assert test[5:][0]["id"] == "test_00000005"
    for index in (len(test), -len(test) - 1):
        with pytest.raises(IndexError, match="there are 3920 examples"):
            test[index]


def test_seeds_name_draws():
    def first(seed):
        return [row["input"] for row in wug.load("scan/simple", seed=seed)["train"][:20]]

    assert first(0) == first(0)
    assert first(0) != first(1)


def test_settings_have_underscores():
    small = wug.load("hint/symbol", operators=12, train_operators=3, train=100, val=10, test=10)
    assert max(row["facts"]["operators"] for row in small["train"]) == 3


def test_errors_have_the_right_type_and_wugs_message(tmp_path):
    with pytest.raises(ValueError, match=r"no dataset `scan/lenght`; did you mean scan/length"):
        wug.load("scan/lenght")
    with pytest.raises(ValueError, match="has no setting `operators`"):
        wug.load("scan/length", operators=3)
    with pytest.raises(ValueError, match='expected a whole number or "official"'):
        wug.load("scan/length", seed="first")
    with pytest.raises((ValueError, OSError), match="no-such-folder"):
        wug.load("cogs/main", data=tmp_path / "no-such-folder")
    with pytest.raises(TypeError):
        wug.load(3)


def test_arrow_is_the_parquet_file(tmp_path):
    part = wug.load("cogs/main")["test"]
    table = part.to_arrow()
    assert table.column_names == ["id", "input", "target", "facts"]
    assert table.num_rows == len(part) == 3000
    rows = table.to_pylist()
    assert rows[17] == part[17]
    pyarrow.parquet.write_table(table, tmp_path / "test.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "test.parquet").to_pylist() == rows


def test_arrow_comes_in_batches():
    part = wug.load("hint/symbol")["train"]
    reader = pyarrow.RecordBatchReader.from_stream(part)
    first = reader.read_next_batch()
    assert 0 < first.num_rows < len(part)
    assert first.column("id")[0].as_py() == "train_00000000"


def test_pandas_has_a_column_for_each_fact():
    part = wug.load("scan/length")["test"]
    frame = part.to_pandas()
    assert len(frame) == 3920
    assert frame["facts.action_length"].tolist() == [len(text.split()) for text in frame["target"]]


@pytest.mark.parametrize("name", ["hint/image", "mns/circle"])
def test_images(name, monkeypatch):
    part = wug.load(name, **({"train": 50, "val": 20, "test": 20} if name.startswith("hint") else {}))["test"][:3]
    if importlib.util.find_spec("PIL"):
        image = part[0]["image"]
        assert image.mode == "L"
        assert min(image.size) > 20
    monkeypatch.setitem(sys.modules, "PIL", None)
    pixels = part[0]["image"]
    assert pixels.ndim == 2
    assert pixels.min() < 100 < pixels.max()
    table = part.to_arrow()
    assert table.column("image")[0].as_py()["bytes"].startswith(b"\x89PNG")
    assert b'"image":{"_type":"Image"}' in table.schema.metadata[b"huggingface"]
    assert "data:image/png;base64," in part._repr_html_()


def test_html_escapes():
    html = wug.load("mns/circle")["test"]._repr_html_()
    assert "<table>" in html
    data = wug.load("scan/simple")
    assert "16,728" in data._repr_html_()
    assert "scan/simple" in repr(data)


def test_streams_can_be_pickled():
    stream = wug.stream("hint/symbol", split="test", seed=3, where={"operators": (11, 12)}, operators=15)
    assert pickle.loads(pickle.dumps(stream))[9] == stream[9]
