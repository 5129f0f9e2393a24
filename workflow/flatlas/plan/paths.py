"""Where each thing lies under results/. The only place that knows."""

from pathlib import Path

RESULTS = Path("results")

LOG = str(RESULTS / "logs" / "{stage}" / "{name}.log")
SOURCE = str(RESULTS / "data" / "sources" / "{source}" / "{file}")
SUBSET = str(RESULTS / "data" / "subsets" / "{samples}" / "{file}")
LABEL_NOISE = str(RESULTS / "data" / "label_noise" / "{samples}" / "{file}")
ATTACK_SET = str(RESULTS / "data" / "attack_sets" / "{samples}" / "{file}")
FUNCTIONS = str(RESULTS / "data" / "functions" / "{samples}" / "{file}")
RUN = str(RESULTS / "runs" / "{run}" / "{file}")
RECORDING = str(RESULTS / "recordings" / "{run}" / "{file}")
KERNEL = str(RESULTS / "kernels" / "{kernel}" / "{file}")
MEASURE = str(RESULTS / "measures" / "{measure}" / "{measurement}" / "{file}")
FIGURE = str(RESULTS / "{preset}" / "{study}" / "{figure}.{extension}")
PAGE = str(RESULTS / "{preset}" / "{page}.{extension}")
COMPARISON = str(RESULTS / "comparison.{extension}")
RESUME = str(RESULTS / "resume" / "{run}")
