"""The page of the user's trained networks, and its numbers as a table."""

from pathlib import Path

import pandas as pd

from flatlas.jobs.job import Job
from flatlas.evidence.material import gather
from flatlas.report.captions import caption
from flatlas.report.doubts import doubts_about
from flatlas.report.my_model import MyModel, my_model_page
from flatlas.store.atomic import write_text
from flatlas.store.provenance import provenance_of, read_provenance
from flatlas.store.tables import read_table, write_table
from flatlas.studies.my_model.numbers import ACCURACY, WEIGHTS, accuracy, measured, readable


def measure_options(tables):
    """The options of each measure; they are the same for every network."""
    return {
        name.removesuffix("_summary"): read_provenance(provenance_of(Path(first)))["spec"][
            "options"
        ]
        for name, (first, *_) in tables.items()
        if name.endswith("_summary")
    }


def names_of(numbers):
    """The name of each network: its file, and its seed if there are several."""
    nets = numbers[[WEIGHTS, "seed"]].drop_duplicates()
    several = nets["seed"].nunique() > 1
    return [
        f"{file}, seed {seed}" if several else file for file, seed in nets.itertuples(index=False)
    ]


with Job(globals().get("snakemake"), "my model") as job:
    tables = dict(vars(job.input))
    others = {name: tables.pop(name) for name in ("samples", "picture")}
    material = gather(tables, job.params.spec["points"])
    # Every network has the same images.
    images = read_table(others["samples"]).query("seed == 0")["part"].value_counts().to_dict()
    numbers = pd.concat([accuracy(material, images), measured(material)], ignore_index=True)
    picture = Path(others["picture"])
    files = [Path(job.output.csv), picture.with_suffix(".pdf"), picture.with_suffix(".csv")]
    model = MyModel(
        shows=job.params.spec["shows"],
        nets=names_of(numbers),
        doubts=doubts_about(material.trainings, material.trainings[WEIGHTS]),
        images=images,
        numbers=numbers,
        accuracy=ACCURACY,
        measures=readable(measure_options(tables)),
        picture=picture,
        caption=caption(job.params.caption),
        files=[file.name for file in files],
    )
    write_table(job.output.csv, numbers)
    write_text(job.output.html, my_model_page(model))
    job.record()
