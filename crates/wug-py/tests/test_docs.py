"""The examples in docstrings, and what type checkers see."""

import doctest
import importlib
import importlib.resources
import inspect
import pkgutil

import wug


def documented():
    modules = [name for _, name, _ in pkgutil.iter_modules(wug.__path__) if name not in ("adapters", "_wug")]
    return [wug, *(importlib.import_module(f"wug.{name}") for name in [*modules, "adapters.prompts"])]


def test_examples_in_docstrings():
    tried = 0
    for module in documented():
        result = doctest.testmod(module)
        assert result.failed == 0, module.__name__
        tried += result.attempted
    assert tried > 20


def test_everything_public_is_documented():
    for name in wug.__all__:
        thing = getattr(wug, name)
        assert inspect.getdoc(thing), name


def test_the_stub_names_what_the_module_has():
    stub = (importlib.resources.files(wug) / "_wug.pyi").read_text()
    for name in vars(wug._wug):
        if not name.startswith("__"):
            assert f"class {name}" in stub or f"def {name}" in stub, name
