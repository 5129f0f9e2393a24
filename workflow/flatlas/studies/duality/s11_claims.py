"""Figure S11: solutions shrink most in flat directions."""

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS
from flatlas.studies.duality.spectra_claims import counted, flat, logs, sharpest
from flatlas.studies.duality.trends import change_of_logs
from flatlas.claims.nets import Sweep
from flatlas.statistics.means import mean

# Panel B is relative to s = 2.
REFERENCE = 2.0


def judge(material: Material) -> list[Claim]:
    """Panel A from no decay to the strongest; panel B from s = 2 to the smallest s."""
    decay = Sweep(material, "decay", "penalty.coefficient")
    planned = list(Sweep(material, "init", "net.init.scale").solutions)
    init = Sweep(material, "init", "net.init.scale", (REFERENCE, *planned[:1]))
    return [
        _shrinks(decay, "decay", "as β rises", "from no decay to the largest β"),
        _shrinks(init, "init", "as s falls", "from s = 2 to the smallest s"),
    ]


def _shrinks(sweep: Sweep, name: str, when: str, between: str) -> Claim:
    last = counted(sweep.read("hidden_directions", "gap", "n"))
    size = logs(sweep.read("hidden_directions", "sigma_w", "n"))
    return sweep.claim(
        name,
        f"σ_w,n shrinks more in flat directions than in sharp ones {when}",
        "geometric mean factor by which σ_w,n changes beyond n = 10, over that for n ≤ 10, less 1;"
        f" {between}",
        LESS,
        change_of_logs,
        mean(flat(size, last), -1) - sharpest(size),
    )
