"""Read one data source into four arrays."""

from pathlib import Path

from pydantic import TypeAdapter

from flatlas.jobs.job import Job
from flatlas.data.images import write_images
from flatlas.data.sources import load_source
from flatlas.plan.data_specs import Pictures, SourceSpec

with Job(globals().get("snakemake"), "source") as job:
    spec = TypeAdapter(SourceSpec).validate_python(job.params.spec)
    root, root_from = Path(job.resources["data_root"]), job.resources["data_root_from"]
    images = load_source(spec, root, root_from, job.progress)
    normalize = spec.normalize if isinstance(spec, Pictures) else None
    write_images(job.output.images, images, normalize)
    job.record(train_images=len(images.train_images), test_images=len(images.test_images))
