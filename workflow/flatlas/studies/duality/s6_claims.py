"""Figure S6: the flatness F_n and σ_g."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING
from flatlas.claims.nets import Nets
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Over the directions in which the loss reaches twice its value."""
    nets = Nets(material, "base")
    flatness, sigma_g = (
        nets.read("flatness_directions", column, "n")[:, 0] for column in ("flatness", "sigma_g")
    )
    return [
        nets.claim(
            "inverse",
            "F_n is inversely correlated with σ²_g,n",
            "rank correlation of F_n with σ²_g,n over the directions that have an F_n; mean over"
            " nets",
            FALLING,
            mean,
            spearman(flatness, sigma_g**2),
        )
    ]
