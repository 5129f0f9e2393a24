# The few commands of daily life. `make` alone lists them.

PYTHON     ?= python3
CORES      ?= all
CORES_TEST ?= 2
ARGS       ?=

BIN    := .venv/bin
READY  := .venv/installed-requirements.txt

# One thread a process: tests run side by side, and sums come out the same on every machine.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1

STUDY      ?= duality
PRESET     ?= paper
FROM       ?=
WITHOUT    ?=
KEEP       ?=
CONFIGFILE ?=

.PHONY: help venv demo test pytest test-slurm lint style types bench docs site gallery costs lock clean clean-venv
.DEFAULT_GOAL := help

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12 chooses the Python of .venv, CORES=4 bounds demo, CORES_TEST=4 bounds test,"
	@echo "  ARGS='-k plan' goes to pytest, or to the benchmarks."

venv: $(READY)  ## make .venv from the lock (about 6.5 GB; the other targets do it by themselves)

# READY is a copy of the lock, written last: without it no .venv counts as finished, however full it
# looks. A newer lock with the same content, as after a git checkout, installs nothing.
$(READY): envs/requirements.txt
	@if cmp -s envs/requirements.txt $@; then touch $@; exit 0; fi; \
	found=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); \
	case "$$found" in \
	3.11|3.12|3.13) ;; \
	*) echo "flatlas needs Python 3.11, 3.12 or 3.13, but '$(PYTHON)' is $${found:-not a Python that runs}:" \
	        "choose another, as in 'make venv PYTHON=python3.12'." >&2; exit 1 ;; \
	esac; \
	set -e; \
	echo "Making .venv with Python $$found; this takes about 6.5 GB of disk and a few minutes, once."; \
	rm -f $@; \
	$(PYTHON) -m venv --clear .venv; \
	$(BIN)/python -m pip install --require-hashes -r envs/requirements.txt; \
	$(BIN)/python -m pip check; \
	cp envs/requirements.txt $@.part; \
	mv $@.part $@

demo: $(READY)  ## every figure, small and offline, and the report that shows them
	$(BIN)/snakemake --cores $(CORES) all --config preset=demo
	@echo "Open results/demo/report.html in a browser."

# Types take one core for most of a minute, so they are checked beside the tests.
test: style  ## lint, and every test that this machine can run
	@$(MAKE) --no-print-directory -j 2 types pytest

pytest: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(CORES_TEST) --dist worksteal $(ARGS)

test-slurm: $(READY)  ## the tests of a cluster, on a SLURM brought up for them (as root)
	$(ONE_THREAD) $(BIN)/python tests/slurm/cluster.py $(BIN)/python -m pytest -n 2 tests/slurm $(ARGS)

lint: style types  ## style, formatting and types, in Python and in the rules

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

types: $(READY)
	$(BIN)/mypy

bench: $(READY)  ## how long the stages take
	$(ONE_THREAD) $(BIN)/python -m benchmarks $(ARGS)

docs: $(READY)  ## the made parts of pages (keys, columns, figures, verdicts) and the galleries' pages
	$(BIN)/python docs/made

site: $(READY)  ## results/site: docs, galleries, claims and explorer as a static site
	$(BIN)/python docs/site
	@echo "Open results/site/index.html in a browser."

gallery: $(READY)  ## docs/gallery/STUDY from the figures of PRESET
	$(BIN)/python docs/gallery/collect.py $(STUDY) $(PRESET) --from "$(FROM)" --without "$(WITHOUT)" \
	    --keep "$(KEEP)" $(if $(CONFIGFILE),--configfile "$(CONFIGFILE)")

# Without a --configfile, because times count for the shipped configuration only.
costs: $(READY)  ## docs/figures.md with the times of all that ran here at PRESET
	$(BIN)/snakemake --cores 1 costs --config preset=$(PRESET)
	$(BIN)/python docs/made/keep_costs.py $(PRESET)
	$(BIN)/python docs/made

# Pins that still fit are kept; `make lock UPGRADE=--upgrade` updates everything. `fewest` gives one
# version of a package for all Pythons, so that the conda environments can repeat it.
lock:  ## write envs/requirements.txt, and the same pins in the conda environments
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(PYTHON) -m venv "$$dir"; \
	"$$dir/bin/python" -m pip install --quiet uv; \
	env -u UV_FIND_LINKS -u UV_INDEX -u UV_EXTRA_INDEX_URL "$$dir/bin/uv" pip compile --quiet $(UPGRADE) \
	    --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	    --no-config --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	    --output-file envs/requirements.txt envs/requirements.in; \
	for file in envs/compute.yaml envs/figures.yaml; do \
	    awk -F == 'NR == FNR { if (/^[a-z]/) { split($$2, word, " "); pin[$$1] = word[1] } next } \
	        /^ +- [a-z-]+==/ { name = $$1; sub(/^ +- /, "", name); print $$1 "==" pin[name]; next } \
	        { print }' envs/requirements.txt $$file > "$$dir/pinned"; \
	    cp "$$dir/pinned" $$file; \
	done

clean:  ## delete the caches of the tools; keep .venv and every result
	rm -rf .pytest_cache .mypy_cache .ruff_cache
	find . -path ./.venv -prune -o -path ./results -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Kept: .venv (make clean-venv deletes it), results/ and Snakemake's memory of them in .snakemake/;"
	@echo "those two hold hours of computing, so deleting them is left to your own hand."

clean-venv:  ## delete .venv
	rm -rf .venv
