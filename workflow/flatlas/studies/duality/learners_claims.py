"""Decentralized learners (DPSGD) against synchronized ones (SSGD), in one layer of a net."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, LESS
from flatlas.studies.duality.spectra_claims import logs
from flatlas.studies.duality.trends import change, change_of_logs, difference
from flatlas.claims.nets import Sweep
from flatlas.statistics.means import mean

# The paper says n < 10 here.
BELOW_TEN = 9
AGAINST = "of DPSGD against SSGD"


def judge_learners(
    material: Material, sweep: str, layer: str, errors: str, within: str = "", about: str = ""
) -> list[Claim]:
    """The text's test `errors`, and a panel each of ΔL_n, σ_g,n and S_w,n.

    Claims of several nets are told apart: by what stands in front of their names, `within`, and
    behind what they say, `about`.
    """
    nets = Sweep(material, sweep, "learners.kind", ("ssgd", "dpsgd"))
    gap = nets.read(f"{layer}_directions", "gap", "n")
    sharpness = logs(nets.read(f"{layer}_directions", "sigma_g", "n"))
    return [
        nets.claim(
            f"{within}test_error",
            f"DPSGD has a lower test error than SSGD{about}",
            "test error of DPSGD less that of SSGD with the same images, in percentage points",
            LESS,
            difference,
            100 * nets.read(f"{layer}_summary", "test_error"),
            paper=errors,
        ),
        nets.claim(
            f"{within}gap",
            f"ΔL_n of DPSGD is reduced in the sharp directions, n < 10{about}",
            f"relative difference of ΔL summed over n < 10, {AGAINST}",
            LESS,
            change,
            gap[..., :BELOW_TEN].sum(-1),
        ),
        nets.claim(
            f"{within}sharpness",
            f"σ_g,n of DPSGD is smaller for n < 10{about}",
            f"relative difference of the geometric mean of σ_g over n < 10, {AGAINST}",
            LESS,
            change_of_logs,
            mean(sharpness[..., :BELOW_TEN], -1),
        ),
        nets.claim(
            f"{within}size",
            f"S_w is the same for both{about}",
            f"relative difference of S_w, {AGAINST}",
            BARELY,
            change,
            nets.read(f"{layer}_summary", "S_w"),
        ),
    ]
