"""Count the functions that random nets express, and make the most frequent ones targets."""

import torch

from flatlas.jobs.job import Job
from flatlas.data.targets import label_by, most_frequent
from flatlas.device import torch_threads
from flatlas.nets import build_net
from flatlas.nets.functions import count_functions
from flatlas.plan.data_specs import FunctionsSpec
from flatlas.store.arrays import read_arrays
from flatlas.store.tables import write_table

with Job(globals().get("snakemake"), "functions") as job:
    spec = FunctionsSpec.model_validate(job.params.spec)
    images = read_arrays(job.input.images, ("train_images",))["train_images"]
    net = build_net(spec.net, images.shape[1:], outputs=1)
    inputs = torch.from_numpy(images).float() / 255
    counts = count_functions(net, inputs, spec.draws, job.progress)
    functions = most_frequent(counts, spec)
    write_table(job.output.functions, functions)
    write_table(job.output.samples, label_by(functions, len(images)))
    job.record(threads=torch_threads(), functions=len(counts))
