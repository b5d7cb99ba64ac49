"""Twenty items of wug in each of the libraries that people use, against a llama.cpp server: the verdicts are wug's."""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import wug
from wug.adapters.prompts import chat, verify_reply

N = 20
BIN = Path(sys.executable).parent


def needs(library):
    """Libraries that need different versions of another one are tested in environments of their own."""
    missing = importlib.util.find_spec(library) is None
    return pytest.mark.skipif(missing, reason=f"{library} is not installed")


def ask(endpoint, system, user):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return endpoint.complete({"model": "tiny", "messages": messages})["choices"][0]["message"]["content"]


def teach(endpoint, dataset, items):
    """Every second answer is known to the model; the questions and the verdicts that follow."""
    endpoint.known.clear()
    endpoint.replies.clear()
    questions = [chat(dataset, item)[1].splitlines()[-1] for item in items]
    for question, item in itertools.islice(zip(questions, items, strict=True), 0, None, 2):
        endpoint.known[question] = item["target"]
    return questions


def verdicts(endpoint, dataset, items, questions):
    """wug's verdicts on the replies that were given."""
    replies = [endpoint.replies[question] for question in questions]
    return [verify_reply(dataset, item, reply).correct for item, reply in zip(items, replies, strict=True)]


def export(command, harness, folder, dataset):
    run = [command, "export", harness, dataset, "--out", folder, "--limit", str(N)]
    subprocess.run(run, check=True)
    part = wug.load(dataset)
    return list(part["gen" if dataset.startswith("cogs") else "test"][:N])


def environment(**more):
    return {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "PYTHONWARNINGS": "ignore", **more}


def scored(command, dataset, log):
    output = subprocess.run(
        [command, "score", dataset, "--predictions", log, "--limit", str(N), "--json"], check=True, capture_output=True
    )
    return json.loads(output.stdout)["parts"][0]["correct"]


@needs("datasets")
def test_datasets(endpoint, tmp_path, command):
    from datasets import load_dataset
    from wug.adapters.datasets import iterable_dataset

    stream = wug.stream("hint/symbol", split="test", seed=7)
    items = list(iterable_dataset(stream, count=N))
    assert items == stream[:N]
    sharded = iterable_dataset(stream, shards=4, count=N)
    assert sharded.num_shards == 4
    assert sorted(item["id"] for item in sharded) == [item["id"] for item in stream[:N]]
    questions = teach(endpoint, "hint/symbol", items)
    for item in items:
        ask(endpoint, *chat("hint/symbol", item))
    correct = verdicts(endpoint, "hint/symbol", items, questions)
    assert correct[::2] == [True] * (N // 2)
    assert wug.load("hint/symbol", train=100, val=20, test=20)["train"].to_datasets()[0]["facts"]["operators"] == 0

    for name in ("hint/image", "mns/circle"):
        folder = tmp_path / name.replace("/", "-")
        subprocess.run(
            [command, "generate", name, "--out", folder, "--format", "parquet", "--limit", str(N), "--quiet"],
            check=True,
        )
        image = load_dataset(str(folder))["test"][0]["image"]
        ours = wug.load(name)["test"][0]["image"]
        assert image.tobytes() == ours.tobytes()
        assert wug.load(name)["test"][:N].to_datasets()[0]["image"].tobytes() == ours.tobytes()


@needs("reasoning_gym")
def test_reasoning_gym(endpoint):
    import reasoning_gym
    import wug.adapters.reasoning_gym

    tasks = reasoning_gym.create_dataset("wug_nacs", size=N, seed=3)
    entries = list(tasks)
    assert len(entries) == N
    items = wug.stream("nacs/simple", seed=3)[:N]
    assert [entry["answer"] for entry in entries] == [item["target"] for item in items]
    questions = teach(endpoint, "nacs/simple", items)
    replies = [ask(endpoint, "", entry["question"]) for entry in entries]
    scores = [tasks.score_answer(reply, entry) for reply, entry in zip(replies, entries, strict=True)]
    assert scores == [float(correct) for correct in verdicts(endpoint, "nacs/simple", items, questions)]
    assert scores[::2] == [1.0] * (N // 2)


@needs("lm_eval")
def test_lm_eval(endpoint, tmp_path, command):
    items = export(command, "lm-eval", tmp_path / "tasks", "scan/simple")
    questions = teach(endpoint, "scan/simple", items)
    model = f"model=tiny,base_url={endpoint.url}/chat/completions,tokenizer_backend=None"
    run = [BIN / "lm_eval", "run", "--model", "local-chat-completions", "--model_args", model]
    run += ["--include_path", tmp_path / "tasks", "--tasks", "wug_scan_simple", "--apply_chat_template"]
    run += ["--output_path", tmp_path / "out", "--log_samples"]
    subprocess.run(run, check=True, env=environment())
    (log,) = (tmp_path / "out").rglob("samples_*.jsonl")
    samples = sorted(
        (json.loads(line) for line in log.read_text().splitlines()), key=lambda sample: sample["doc"]["id"]
    )
    expected = verdicts(endpoint, "scan/simple", items, questions)
    assert [bool(sample["correct"]) for sample in samples] == expected
    assert scored(command, "scan/simple", log) == sum(expected) >= N // 2


@needs("inspect_ai")
def test_inspect(endpoint, tmp_path, command):
    items = export(command, "inspect", tmp_path / "tasks", "cogs/main")
    questions = teach(endpoint, "cogs/main", items)
    run = [BIN / "inspect", "eval", tmp_path / "tasks" / "task.py@wug_cogs_main", "--model", "openai-api/local/tiny"]
    run += ["--log-dir", tmp_path / "logs", "--log-format", "json", "--display", "none"]
    subprocess.run(run, check=True, env=environment(LOCAL_BASE_URL=endpoint.url, LOCAL_API_KEY="none"))
    (log,) = (tmp_path / "logs").glob("*.json")
    samples = {sample["id"]: sample for sample in json.loads(log.read_text())["samples"]}
    given = [samples[item["id"]]["scores"]["wug_verdict"]["value"] == "C" for item in items]
    expected = verdicts(endpoint, "cogs/main", items, questions)
    assert given == expected
    assert scored(command, "cogs/main", log) == sum(expected) >= N // 2


@needs("verifiers")
def test_verifiers(endpoint, tmp_path, command):
    items = export(command, "verifiers", tmp_path / "tasks", "scan/simple")
    questions = teach(endpoint, "scan/simple", items)
    package = tmp_path / "tasks" / "wug_scan_simple"
    run = [BIN / "vf-eval", "wug_scan_simple", "-m", "tiny", "--client.base-url", endpoint.url]
    run += ["--client.api-key-var", "OPENAI_API_KEY", "--env.agent.harness.id", "null"]
    run += ["--env.agent.runtime.type", "subprocess", "--no-push", "-n", str(N)]
    paths = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(run, env=environment(PYTHONPATH=paths), cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-4000:] + result.stdout[-4000:]
    expected = verdicts(endpoint, "scan/simple", items, questions)
    (log,) = (tmp_path / "outputs").rglob("traces.jsonl")
    traces = [json.loads(line)["traces"][0] for line in log.read_text().splitlines()]
    given = {trace["task"]["data"]["id"]: trace["rewards"]["correct"]["score"] for trace in traces}
    assert given == {item["id"]: float(correct) for item, correct in zip(items, expected, strict=True)}
    assert sum(expected) >= N // 2


@needs("verifiers")
def test_verifiers_stream_is_endless():
    from wug.adapters.verifiers import WugConfig, WugTaskset

    taskset = WugTaskset(WugConfig(dataset="hint/symbol", seed=7))
    assert taskset.INFINITE
    tasks = list(itertools.islice(taskset.load(), N))
    assert [task.data.input for task in tasks] == [item["input"] for item in wug.stream("hint/symbol", seed=7)[:N]]
