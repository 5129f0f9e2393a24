"""The two kinds of learners, as the paper calls and colours them."""

from flatlas.figures.style import BLUE, RED

KIND = "learners.kind"
NAMES = {"ssgd": "SSGD", "dpsgd": "DPSGD"}
COLOURS = {"ssgd": BLUE, "dpsgd": RED}
