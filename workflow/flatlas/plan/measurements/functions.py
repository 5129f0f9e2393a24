"""The measures of P(f), how often random networks express a function f."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from flatlas.plan.bounds import Images
from flatlas.plan.columns import columns
from flatlas.plan.data_specs import FunctionsSpec, NoiseSpec
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.measurements.measurement import Many, Measurement
from flatlas.plan.source_sizes import images_seen, images_to_test_on
from flatlas.plan.spec import Distinct
from flatlas.plan.training_specs import RunSpec, given_to

# `heaviside` is the hard sign of the paper's text, `probit` what its program used.
Link = Literal["heaviside", "probit"]
ARC_COSINE = "dense nets with init he_normal or scaled_normal"


class OfFunction(Measurement):
    """What measures of P(f) share: a binary network, and the `link` of its GP prior."""

    link: Link = "probit"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The network must be binary."""
        if run.outputs != 1:
            yield (
                "measure",
                "is only for binary nets: list classes with label 1 in data.positive.",
            )


def _has_arc_cosine_kernel(run: RunSpec) -> bool:
    schemes = ("he_normal", "scaled_normal")
    return isinstance(run.net, DenseNet) and run.net.init.scheme in schemes


class GpPrior(OfFunction):
    """log P(f) of a binary network's function f on S and E, by EP under a GP prior.

    `arc_cosine`: for dense nets with `he_normal` or `scaled_normal`. `monte_carlo`: estimated with
    random networks, for every family. It takes all images of E, or the first `test_images`.
    """

    measure: Literal["gp_prior"]
    kernel: Literal["arc_cosine", "monte_carlo"] = "arc_cosine"
    test_images: Images | None = None

    tables: ClassVar = {
        "summary": columns(
            log10_p=(float, "log10 P(f)"),
            points=(int, "images of S and E that are taken"),
            merged=(int, "further images, each equal to one of these"),
            contradictions=(str, "equal images with different labels in f: `3=17, 4=20`"),
            sweeps=(int, "sweeps of expectation propagation"),
            residual=(float, "mean-square change of its sites in the last sweep"),
            converged=(bool, "whether that is within its tolerance"),
            jitter=(float, "number added to the diagonal of the correlations"),
            damping=(float, "share of each update that was taken at the end"),
            train_size=(int, "number of images in S"),
            train_error=(float, "share of S that is misclassified"),
            test_error=(float, "share of the taken images of E that is misclassified"),
        )
    }
    # Seven matrices were measured, with 3,000 and with 11,000 images.
    matrices = 8
    runtime = 240
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The network must have the kernel."""
        yield from super().misfits(run)
        if self.kernel == "arc_cosine" and not _has_arc_cosine_kernel(run):
            yield "kernel", f"is 'arc_cosine', which is for {ARC_COSINE}. Allowed: monte_carlo."
        if self.kernel == "monte_carlo" and isinstance(run.samples, NoiseSpec | FunctionsSpec):
            yield "kernel", "is 'monte_carlo', which needs a subset with true labels only."
        if self.kernel == "monte_carlo" and given_to(run.net):
            yield (
                "kernel",
                "is 'monte_carlo', for random nets; the weights of this net are given.",
            )
        if self.kernel == "monte_carlo" and self.test_images is not None:
            yield (
                "test_images",
                "is only for the kernel 'arc_cosine': a sampled one has all of E.",
            )


class OfArcCosineKernel(OfFunction):
    """What measures that need the arc-cosine kernel share."""

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The network must have the arc-cosine kernel."""
        yield from super().misfits(run)
        if not _has_arc_cosine_kernel(run):
            yield "measure", f"needs the arc-cosine kernel, which is for {ARC_COSINE}."


class Orthant(OfArcCosineKernel):
    """The exact prior of f on `sizes` of its images, beside EP and the variational bound."""

    measure: Literal["orthant"]
    sizes: Annotated[tuple[Images, ...], Many, Distinct]

    tables: ClassVar = {
        "summary": columns(
            size=(int, "number of images of S and E"),
            log10_p_ep=(float, "log10 P(f) by expectation propagation"),
            sweeps_ep=(int, "its sweeps"),
            residual_ep=(float, "mean-square change of its sites in the last sweep"),
            converged_ep=(bool, "whether that is within its tolerance"),
            log10_p_tilting=(float, "log10 P(f) by minimax tilting, exact but for sampling"),
            standard_error=(float, "standard error of log10_p_tilting"),
            iterations_tilting=(int, "steps of the search for its saddle point"),
            residual_tilting=(float, "largest derivative there"),
            converged_tilting=(bool, "whether that is within its tolerance"),
            log10_p_variational=(
                float,
                "variational lower bound of log10 P(f); NaN for a hard sign",
            ),
            iterations_variational=(int, "steps of its search"),
            residual_variational=(float, "relative change of the bound in the last step"),
            converged_variational=(bool, "whether that is within its tolerance"),
        )
    }
    runtime = 240
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """S and E must have so many images."""
        yield from super().misfits(run)
        # With functions, both are the same inputs.
        count = images_to_test_on if isinstance(run.samples, FunctionsSpec) else images_seen
        largest, most = max(self.sizes), count(run.samples)
        if largest > most:
            has = f"S and E have only {most:,}"
            yield "sizes", f"asks for {largest:,} images, but {has}. Allowed: at most {most:,}."


class BooleanPrior(Measurement):
    """P(f): how often random networks express the network's function f."""

    measure: Literal["boolean_prior"]

    # Counts are floats: a function that was not counted has NaN.
    tables: ClassVar = {
        "summary": columns(
            function=(str, "f on all inputs, in hexadecimal"),
            is_target=(bool, "whether f is the function to learn"),
            count=(float, "random networks that express f"),
            draws=(float, "random networks drawn"),
            probability=(float, "count / draws, an estimate of P(f)"),
            standard_error=(float, "standard error of the probability"),
            log10_p=(float, "log10 of the probability"),
        )
    }
    of_any_module = False

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The functions of random networks must have been counted."""
        if not isinstance(run.samples, FunctionsSpec):
            yield (
                "measure",
                "is only for functions that random nets express: set data.functions.",
            )
