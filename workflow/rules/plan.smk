# The plan, resolved once; the rules look up their jobs in it. See workflow/flatlas/plan/lookup.py.

from snakemake.settings.enums import RerunTrigger

from flatlas.errors import FlatlasError
from flatlas.jobs.output_cache import check_entries, warn_if_open
from flatlas.plan import paths
from flatlas.plan.code import code_of, stage_code
from flatlas.plan.lookup import lookup
from flatlas.plan.once import work_out_once
from flatlas.plan.originals import originals
from flatlas.plan.pages import (
    caption_of,
    claims_of,
    compared,
    page_of,
    read_by_costs,
    recorded_jobs,
    report_files,
    report_studies,
    results_of,
    scorecards,
    written,
)
from flatlas.plan.reading import where_set, with_places
from flatlas.plan.requests import memory_and_time, refuse_beyond_machine, gpu_request, growing
from flatlas.plan.targets import (
    check_config,
    check_names,
    check_cleaning,
    check_targets,
    targets_of,
)
from flatlas.store.provenance import made_otherwise, read_others

work_out_once()
check_entries()

# Rules whose results --cache shares. Without --cache, Snakemake would print a line for each of them.
CACHE = workflow.enable_cache

# profiles/slurm-gres has this among its default resources.
BY_GRES = "gpus_by_gres" in (workflow.resource_settings.default_resources or ())

CONFIG = LIBRARY.parent / "config"
PRESETS = sorted((CONFIG / "presets").glob("*.yaml"))

try:
    check_config(sys.argv)
    PLAN = lookup(config, CONFIG, workflow.configfiles)
except FlatlasError as error:
    raise WorkflowError(with_places(str(error), config, workflow.configfiles)) from None

if workflow.output_settings.dryrun:
    from flatlas.report.dry_run import end_with_table

    end_with_table(workflow, PLAN)

# Jobs by id.
JOBS = PLAN.jobs


def log_of(name):
    """The log of the job of a figure or page; each preset has its own."""
    return paths.LOG.format(stage="figures", name=f"{PLAN.preset}_{name}")


def request_of(job):
    """The resources that the job of a figure or table requests."""
    return {"mem_mb": growing(job.mem_mb), "runtime": growing(job.runtime)}


def originals_of(source):
    """What is known of a source's files, after the checks that are fast."""
    job = JOBS[source]
    return originals(
        job.spec,
        PLAN.data_root,
        where_set("data_root", config, workflow.configfiles),
        # Snakemake would not rerun for a changed parameter that depends on its own `output`.
        read=Path(job.outputs["images"]).is_file(),
    )


def unrecorded(file):
    """Whether a result exists of which Snakemake has no record.

    Snakemake compares parameters with its records, and keeps results without a record. With
    `--rerun-triggers mtime` the user may want that, and a job on a cluster only runs what it was given:
    there no result counts as unrecorded.
    """
    watched = RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers
    if not watched or not workflow.is_main_process or not Path(file).is_file():
        return False
    # Snakemake has no public function for this. tests/workflow/test_reruns.py fails if this one changes.
    return workflow.persistence._read_record(file) is None


def edited_on_cluster():
    """A message about results whose code or settings were edited meanwhile; local jobs refuse these."""
    if workflow.local_exec:
        return None
    from flatlas.jobs.edited_code import forget_edited_results

    return forget_edited_results(workflow.dag, workflow.persistence)


def inputs_of(name):
    """The inputs of a job, forced if its result has no record and another spec or code."""
    if name not in JOBS and not workflow.is_main_process:
        raise WorkflowError(
            f"The configuration was edited after this command began, and has no job {name} any more. Give "
            "the same command again, or undo the edit."
        )
    job = JOBS[name]
    provenance = job.outputs["provenance"]
    if unrecorded(provenance):
        if made_otherwise(provenance, job.spec, code_of(job)):
            workflow.dag.forcefiles.add(provenance)
    return job.inputs


def inputs_of_source(name):
    """The inputs of a data source's job, forced if its result has no record and was read from others.

    The command ends here if its originals can't be read.
    """
    if workflow.is_main_process:
        try:
            known = originals_of(name)
        except FlatlasError as error:
            # Snakemake would wrap any exception of a rule's function in its own, with a traceback.
            logger.error(str(error))
            sys.exit(1)
        provenance = JOBS[name].outputs["provenance"]
        if unrecorded(provenance) and read_others(provenance, known):
            workflow.dag.forcefiles.add(provenance)
    return inputs_of(name)


def inputs_of_page(file, inputs):
    """The inputs of a page, forced if `file`, one of its outputs, has no record: pages take seconds."""
    if unrecorded(file):
        workflow.dag.forcefiles.add(file)
    return inputs


def waits(page):
    """Whether a scorecard waits for its figures.

    With `complete: false` it does only if a target makes them all, since a scorecard must never start a
    training.
    """
    settings = workflow.dag_settings
    # A job on a cluster has neither targets nor the default one.
    targets = settings.targets or ([] if settings.target_jobs else ["all"])
    return PLAN.complete or "all" in targets or page.of in targets
