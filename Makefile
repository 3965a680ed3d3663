# Everything is installed into .venv; but for a cache nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
HOROVOD := $(VENV)/horovod
KERAS3 := $(VENV)/keras3
KERAS2 := $(VENV)/keras2

.PHONY: demo test lint clean
demo: $(READY)
	$(VENV)/bin/python examples/demo.py

# Compiled beforehand, also where Python is told not to: hundreds of processes start in the tests.
test: $(READY) $(HOROVOD) $(KERAS3)/ready $(KERAS2)/ready
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

# Keras on JAX, in an environment of its own; TensorFlow is there for tf.data.
$(KERAS3)/ready: $(READY) constraints-keras3.txt
	$(PYTHON) -m venv $(KERAS3)
	$(KERAS3)/bin/python -m pip install -q -c constraints-keras3.txt -e '.[keras]' \
		tensorflow-cpu scikit-learn
	touch $@

# tf.keras 2 with a Horovod of its own, which takes minutes to build, too.
$(KERAS2)/ready: $(READY) constraints-keras2.txt src/trainera/install/horovod.py
	$(PYTHON) -m venv $(KERAS2)
	$(KERAS2)/bin/python -m pip install -q -c constraints-keras2.txt -e . tensorflow-cpu scikit-learn
	PIP_CONSTRAINT=constraints-keras2.txt $(KERAS2)/bin/trainera engines install horovod
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
