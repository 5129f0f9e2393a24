"""Figure 5: decentralized learners (DPSGD) against synchronized ones (SSGD)."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import BARELY, LESS
from flatlas.scorecard.duality.spectra import logs
from flatlas.scorecard.duality.trends import change, change_of_logs, difference
from flatlas.scorecard.nets import Sweep
from flatlas.statistics.means import mean
from flatlas.store.material import Material

# The paper says n < 10 here.
BELOW_TEN = 9
AGAINST = "of DPSGD against SSGD"


def judge(material: Material) -> list[Claim]:
    """The text's test errors, and panels A-C."""
    sweep = Sweep(material, "learners", "learners.kind", ("ssgd", "dpsgd"))
    gap = sweep.read("hidden_directions", "gap", "n")
    sharpness = logs(sweep.read("hidden_directions", "sigma_g", "n"))
    return [
        sweep.claim(
            "test_error",
            "DPSGD has a lower test error than SSGD",
            "test error of DPSGD less that of SSGD with the same images, in percentage points",
            LESS,
            difference,
            100 * sweep.read("hidden_summary", "test_error"),
            paper="2.3 % against 2.6 %: −0.3",
        ),
        sweep.claim(
            "gap",
            "ΔL_n of DPSGD is much reduced in the sharp directions, n < 10",
            f"relative difference of ΔL summed over n < 10, {AGAINST}",
            LESS,
            change,
            gap[..., :BELOW_TEN].sum(-1),
        ),
        sweep.claim(
            "sharpness",
            "σ_g,n of DPSGD is smaller for n < 10",
            f"relative difference of the geometric mean of σ_g over n < 10, {AGAINST}",
            LESS,
            change_of_logs,
            mean(sharpness[..., :BELOW_TEN], -1),
        ),
        sweep.claim(
            "size",
            "S_w is the same for both",
            f"relative difference of S_w, {AGAINST}",
            BARELY,
            change,
            sweep.read("hidden_summary", "S_w"),
        ),
    ]
