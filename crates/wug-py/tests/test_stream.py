import itertools

import pytest
import wug


@pytest.mark.parametrize("name", ["scan/length", "nacs/simple", "cogs/main", "recogs/v2", "hint/symbol", "mns/circle"])
def test_items_are_addressed_by_number(name):
    stream = wug.stream(name, seed=7)
    first = list(itertools.islice(stream, 50))
    assert [stream[i] for i in range(50)] == first
    assert stream[20:30] == first[20:30]
    assert list(itertools.islice(stream.iterate(5), 5)) == first[5:10]
    assert [item["id"] for item in first[:2]] == ["train_00000000", "train_00000001"]
    assert wug.stream(name, seed=8)[:50] != first


def test_train_and_test_share_no_item():
    train = {item["input"] for seed in range(3) for item in wug.stream("hint/symbol", seed=seed)[:5000]}
    test = {item["input"] for seed in range(3) for item in wug.stream("hint/symbol", split="test", seed=seed)[:5000]}
    assert not train & test


def test_difficulty():
    items = wug.stream("cogs/main", split="gen", where={"type": "pp_recursion", "pp_depth": range(5, 8)})[:20]
    assert {item["facts"]["type"] for item in items} == {"pp_recursion"}
    assert {item["facts"]["pp_depth"] for item in items} <= {5, 6, 7}
    with pytest.raises(ValueError, match="no fact `deepness`"):
        wug.stream("cogs/main", where={"deepness": 3})


def test_sizes():
    assert wug.stream("scan/length", split="test").size == 3920
    assert wug.stream("hint/symbol").size is None


def test_errors():
    with pytest.raises(ValueError, match="has no split `dev`; there are: train, test"):
        wug.stream("hint/symbol", split="dev")
    with pytest.raises(ValueError, match="has no stream"):
        wug.stream("scan/mcd-1")
    with pytest.raises(IndexError):
        wug.stream("hint/symbol")[-1]
    with pytest.raises(ValueError, match="has an end and no step"):
        wug.stream("hint/symbol")[3:]


@pytest.mark.parametrize("name", ["hint/image", "mns/circle"])
def test_items_have_pictures(name):
    stream = wug.stream(name, split="test", seed=4)
    image = stream[6]["image"]
    assert image.tobytes() == stream[4:8][2]["image"].tobytes()
    assert image.tobytes() != stream[7]["image"].tobytes()


def test_workers_share_the_items():
    stream = wug.stream("hint/symbol", seed=7)
    workers = [list(itertools.islice(stream.iterate(10, worker=worker, workers=3), 128)) for worker in range(3)]
    assert sorted(item["id"] for items in workers for item in items) == [item["id"] for item in stream[10:394]]
