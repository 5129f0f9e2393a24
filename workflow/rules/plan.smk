# The plan, resolved once; the rules look everything up in it. See workflow/flatlas/plan/.

from snakemake.exceptions import WorkflowError

from flatlas.errors import FlatlasError
from flatlas.plan import paths
from flatlas.plan.cleaning import own_and_shared
from flatlas.plan.code import (
    figure_code,
    functions_code,
    kernel_code,
    measure_code,
    source_code,
    stage_code,
    training_code,
)
from flatlas.plan.documents import read_yaml
from flatlas.plan.drawings import check_drawings
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.named_modules import check_modules
from flatlas.plan.needs import gpu_request, growing
from flatlas.plan.originals import originals
from flatlas.plan.pages import (
    all_claims,
    claims_of,
    judged_studies,
    report_files,
    report_studies,
    scorecards,
    told_jobs,
    written,
)
from flatlas.plan.resolve import resolve
from flatlas.plan.stages import stages
from flatlas.plan.targets import check_targets, targets_of
from flatlas.plan.work import jobs_of_targets

# profiles/slurm-gres has this among its default resources.
BY_GRES = "gpus_by_gres" in (workflow.resource_settings.default_resources or ())

CONFIG = LIBRARY.parent / "config"
PRESETS = sorted((CONFIG / "presets").glob("*.yaml"))

try:
    # Snakemake has read these, but takes the last of two equal keys without a word.
    for file in workflow.configfiles:
        read_yaml(Path(file))
    PLAN = resolve(config, CONFIG)
    check_drawings(PLAN)
    check_modules(PLAN)
except FlatlasError as error:
    raise WorkflowError(str(error)) from None
