"""The explorer of the made-up networks."""

import made_up_networks

from flatlas.explorer.networks import compared, variables
from flatlas.explorer.page import Explorer
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES


def explorer(nets):
    """What `explorer_page` makes a page of."""
    return Explorer(
        title=f"{len(nets)} made-up networks",
        networks=nets,
        variables=variables(nets, made_up_networks.AXES, QUANTITIES, BASELINES),
        axes=compared(nets, made_up_networks.AXES),
        claims=made_up_networks.claims(),
        again="snakemake {file} --config preset=laptop",
        report="report.html",
        curves=made_up_networks.curves(nets),
    )
