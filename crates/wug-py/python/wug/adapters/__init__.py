"""wug's tasks for other libraries. None of them is a dependency: import the adapter of the one that you use.

- :mod:`wug.adapters.datasets`: an ``IterableDataset`` of Hugging Face's ``datasets``
- :mod:`wug.adapters.torch`: datasets of PyTorch
- :mod:`wug.adapters.reasoning_gym`: a ``ProceduralDataset`` for each benchmark
- :mod:`wug.adapters.verifiers`: an endless ``Taskset`` of ``verifiers.v1``
"""
