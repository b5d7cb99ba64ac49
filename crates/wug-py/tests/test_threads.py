import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import wug


def work(seed):
    small = {"train": 300, "val": 20, "test": 200}
    data = wug.load("hint/symbol", seed=seed, **small)
    answers = [row["target"] for row in data["test"]]
    scores = wug.score("hint/symbol", answers, part="test", seed=seed, **small)
    item = wug.stream("hint/symbol", seed=seed)[5]
    return scores.correct, data["test"][0]["input"], item["input"]


def test_threads_get_what_one_gets():
    alone = [work(seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, range(3))) == alone


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_get_what_one_gets(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    # The parent has computed before: a forked child has none of its threads.
    alone = [work(seed) for seed in range(2)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(work, range(2)).get(timeout=120) == alone


def test_long_work_lets_other_threads_run():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begun = time.monotonic()
    wug.load("hint/symbol", seed=11)
    took = time.monotonic() - begun
    done.set()
    ticker.join()
    assert len(ticks) > 3 or took < 0.05
