"""Place the user's networks among those of the atlas: a picture, a table, and a page of both."""

from pathlib import Path, PurePath

from flatlas.jobs.job import Job
from flatlas.evidence.material import Material, gather
from flatlas.plotting.style import add_note, save
from flatlas.report.atlas_mine import AtlasMine, atlas_mine_page
from flatlas.report.captions import caption
from flatlas.report.doubts import doubts_about
from flatlas.store.atomic import write_text
from flatlas.store.provenance import write_provenance
from flatlas.store.tables import read_table
from flatlas.studies.atlas.networks import networks
from flatlas.studies.atlas.quantities import QUANTITIES
from flatlas.studies.atlas_mine.place import draw
from flatlas.studies.atlas_mine.placed import images_of, placed


def names_of(points):
    """The name of each run: its checkpoint's, or the whole path if two have the same name."""
    files = {point["run"]: point["net.weights"] for point in points}
    stems = {run: PurePath(file).stem for run, file in files.items()}
    return stems if len({*stems.values()}) == len(stems) else files


def measured(material, spec, names):
    """The measure table of the user's networks."""
    mine = networks(material, spec["study"], spec["settings"], spec["types"])
    mine.insert(0, "net", mine["run"].map(names))
    if spec["same_as"]:
        mine["data.source"] = spec["same_as"]
    mine.attrs["options"] = spec["options"]
    return mine


with Job(globals().get("snakemake"), "atlas mine") as job:
    spec = job.params.spec
    tables = dict(vars(job.input))
    published = [read_table(file) for file in tables.pop("published")]
    material = gather(tables, spec["points"])
    names = names_of(spec["points"])
    mine = measured(material, spec, names)
    table = published[0] if published else None
    rows = placed(mine, table)
    shown = {"mine": mine, "placed": rows}
    drawing = draw(Material(shown if table is None else shown | {"published": table}))
    add_note(drawing.figure, spec["shows"])
    save(drawing, job.output)
    page = AtlasMine(
        shows=spec["shows"],
        images=images_of(table) if table is not None else "",
        rows=rows,
        doubts=doubts_about(material.trainings, material.trainings["run"].map(names)),
        labels={name: quantity.name for name, quantity in QUANTITIES.items()},
        picture=Path(job.output.png),
        caption=caption(job.params.caption),
    )
    write_text(job.output.html, atlas_mine_page(page))
    write_provenance(
        job.output.provenance_of_html,
        files=[job.output.html],
        spec=spec,
        code=job.params.code,
        seconds=job.seconds,
    )
    job.record(realizations=material.realizations())
