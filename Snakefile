# flatlas: each figure of the flat-minima debate is a target. `snakemake --list-rules` names them.
#
#   snakemake duality_fig3                           one figure, at the scale of config/config.yaml
#   snakemake duality --config preset=laptop         a study, on real data
#   snakemake all                                    everything

import gc
import os
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.20")

# Nearly all objects that Snakemake makes from here on live to the end. Python would search them for
# garbage again and again, which takes a tenth of a dry run's time.
gc.freeze()
gc.set_threshold(100_000)


# The library lies beside this file, also for jobs on a cluster, which read this file again.
LIBRARY = Path(str(workflow.current_basedir)) / "workflow"
sys.path.insert(0, str(LIBRARY))

from snakemake.exceptions import WorkflowError

from flatlas.plan.reading import reading
from flatlas.search_path import search_path

if {"{", "}"} & {*str(LIBRARY)}:
    raise WorkflowError(
        f"The path {LIBRARY.parent} has braces, which Snakemake takes for wildcards. Rename the folder."
    )
if not Path("config/config.yaml").is_file():
    raise WorkflowError(
        f"There is no config/config.yaml in {Path.cwd()}. Start Snakemake in the repository's folder, or "
        "name that folder by --directory."
    )
if os.path.lexists("results") and not Path("results").is_dir():
    raise WorkflowError(
        f"results is a link to {os.readlink('results')}, which is no folder. Mount its disk, make the "
        "folder, or change the link."
        if Path("results").is_symlink()
        else "results is a file, but must be the folder of all results. Rename or move the file."
    )

# Snakemake alone names neither the file nor the line of a mistake.
with reading("config/config.yaml"):

    configfile: "config/config.yaml"


report: "workflow/report/overview.rst"


# glibc maps separate pages for every tensor above some size and unmaps them again, which takes a
# quarter of the time of a Hessian of a small PreResNet (docs/speed.md). With these settings a job
# reuses its memory for tensors of up to 32 MiB, glibc's largest threshold.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": 2**25, "MALLOC_TRIM_THRESHOLD_": 2**34}
os.environ.update(PYTHONPATH=search_path(), **{name: str(at) for name, at in MALLOC.items()})


include: "workflow/rules/plan.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/measures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/explorer.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/cleaning.smk"


onstart:
    global messages, stop_showing
    warn_if_open()
    if workflow.local_exec:
        try:
            refuse_beyond_machine(workflow.dag.needrun_jobs(), JOBS)
        except FlatlasError as error:
            raise WorkflowError(str(error)) from None
        # Snakemake limits how many jobs start per second. After each check of the ready jobs it
        # schedules another check, which schedules the next one, endlessly: after 260 jobs that took
        # half a core. One machine needs no limit, but no option removes it, so this code does; a
        # cluster keeps it. tests/workflow/test_environment.py fails when Snakemake stops doing so.
        workflow.scheduler.job_rate_limiter = None
        if PLAN.warm_start and not workflow.execution_settings.debug:
            from flatlas.jobs.warm_start import start_jobs_warm

            start_jobs_warm()
        from flatlas.jobs.edited_code import refuse_edited_code

        refuse_edited_code()
    # Imported here because a dry run needs neither.
    from flatlas.jobs.messages import Messages
    from flatlas.jobs.terminal import show_running

    messages = Messages(workflow.dag.needrun_jobs())
    logger.addFilter(messages)
    stop_showing = show_running(workflow.scheduler, messages)


onsuccess:
    stop_showing()
    from flatlas.report.ending import ending
    from snakemake.settings.enums import Quietness

    targets = {job.rule.name for job in workflow.dag.jobs}
    try:
        for line in ending(PLAN, targets, page_of(PLAN, targets)):
            logger.info(line, extra={"quietness": Quietness.PROGRESS})
    except FlatlasError as error:
        # The damaged table belongs to another figure, which this run did not need.
        logger.warning(str(error))
    if edited := edited_on_cluster():
        raise WorkflowError(edited)


onerror:
    stop_showing()
    for line in messages.failures(workflow.scheduler):
        logger.error(line)
    if edited := edited_on_cluster():
        logger.error(edited)


# Each figure is a target (workflow/rules/figures.smk). Below, each study becomes one, then everything.
for study in PLAN.studies:

    rule:
        name:
            study
        input:
            lambda wildcards, study=study: PLAN.studies[study].results,

    workflow.get_rule(study).docstring = f"Study: {PLAN.studies[study].title}"


rule all:
    """All studies, and all pages."""
    default_target: True
    input:
        lambda wildcards: [file for study in PLAN.studies.values() for file in study.results],
        rules.dag.output,
        rules.scorecard.output,
        rules.report.output,
        rules.explorer.output if "atlas_networks" in JOBS else [],


# Snakemake would not pass a bare --cache on to jobs on a cluster. Now it passes the names of rules.
if CACHE and not workflow.workflow_settings.cache:
    shared = (rule for rule in workflow.rules if rule.cache and rule.cache.output)
    workflow.workflow_settings.cache = [rule.name for rule in shared]

# Snakemake offers the targets (workflow.dag_settings.targets) only after it has read this file, and then
# fails on a mistyped one. So they are read from the command line; tests/workflow/test_environment.py
# fails when Snakemake offers them earlier.
NAMES = [rule.name for rule in workflow.rules if not rule.has_wildcards()]

try:
    check_targets(
        targets_of(sys.argv, known=NAMES),
        rules=NAMES,
        steps=[rule.name for rule in workflow.rules if rule.has_wildcards()],
        files=[
            *(str(file) for rule in workflow.rules for file in rule.output),
            *(file for job in JOBS.values() for file in job.outputs.values()),
        ],
        presets=[path.stem for path in PRESETS if path.stem != PLAN.preset],
    )
    # Snakemake's parser takes a while to build.
    if CLEANING & {*sys.argv}:
        check_cleaning(targets_of(sys.argv), CLEANING)
except FlatlasError as error:
    raise WorkflowError(str(error)) from None
