# Everything is installed into .venv; but for a cache nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
HOROVOD := $(VENV)/horovod

.PHONY: demo test lint clean
demo: $(READY)
	$(VENV)/bin/python examples/demo.py

# Compiled beforehand, also where Python is told not to: hundreds of processes start in the tests.
test: $(READY) $(HOROVOD)
	$(VENV)/bin/python -m compileall -q src
	$(VENV)/bin/python -m pytest

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# torch comes first and by its pin alone: a wider request would pull gigabytes of CUDA.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install -q -c constraints.txt torch
	$(VENV)/bin/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@

# Built for that torch, which takes minutes; the wheel stays in the user's cache for the next time.
$(HOROVOD): $(READY) src/trainera/install/horovod.py
	PIP_CONSTRAINT=constraints.txt $(VENV)/bin/trainera engines install horovod
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
