"""Sample the kernel matrix of a net's architecture and initialization on every draw of a subset."""

import torch

from flatlas.jobs.job import Job
from flatlas.data.samples import load_samples
from flatlas.device import device_facts
from flatlas.gaussian_process.kernels import sampled_kernel
from flatlas.nets import build_net
from flatlas.plan.kernel_specs import KernelSpec
from flatlas.store.large_arrays import writing_array

with Job(globals().get("snakemake"), "kernel") as job:
    device = job.device
    spec = KernelSpec.model_validate(job.params.spec)
    seeds = spec.samples.seeds
    samples = load_samples(job.input.images, job.input.samples, seeds)
    net = build_net(spec.net, spec.input_shape, outputs=1)
    points = samples.inputs.shape[1] + samples.test_inputs.shape[1]
    with writing_array(job.output.kernel, (len(seeds), points, points)) as matrices:
        for draw, seed in enumerate(seeds):
            drawn = samples.of(seed)
            images = torch.cat(
                [torch.from_numpy(part[0]) for part in (drawn.inputs, drawn.test_inputs)]
            )
            kernel = sampled_kernel(net, images.to(device, torch.float64), seed)
            matrices[draw] = kernel.cpu().numpy()
            job.progress(draw + 1, len(seeds), seed=seed)
    job.record(**device_facts(device))
