import pytest
import wug
from wug.adapters.prompts import chat, prompt, read_answer, verify_reply


@pytest.mark.parametrize("name", ["scan/simple", "nacs/simple", "cogs/main", "recogs/v2", "hint/symbol", "mt/en-fr"])
def test_a_right_reply_is_judged_right(name):
    for item in wug.stream(name, split="test")[:20]:
        system, user = chat(name, item)
        assert item["input"] in user
        assert prompt(name, item) == f"{system}\n\n{user}"
        reply = f"Let me think.\n\n**Answer:** {item['target']}"
        assert read_answer(name, reply) == item["target"]
        assert verify_reply(name, item, reply).correct
        assert not verify_reply(name, item, "I cannot say.").correct


def test_pictures_are_not_asked_with_text():
    with pytest.raises(ValueError, match=r"\{images\}|pictures"):
        chat("mns/circle", {"input": "combination overlap : 54 22 | 67 9 | 17 ?"})
