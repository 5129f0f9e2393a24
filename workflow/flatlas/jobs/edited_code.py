"""What was edited while a command runs: local jobs are refused, results of a cluster forgotten."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError
from flatlas.jobs.messages import name_of
from flatlas.plan.fingerprint import edited_since
from flatlas.store.provenance import made_otherwise

if TYPE_CHECKING:
    from snakemake.dag import DAG
    from snakemake.persistence import PersistenceBase
    from snakemake.script import PythonScript


def refuse_edited_code() -> None:
    """Have Snakemake check the code of each local job before the job starts.

    A result of edited code would be recorded with the earlier code, and would stay if the edit is
    undone. Snakemake offers no way to check, so this replaces the method that starts a script.
    """
    # Imported here: the library works without Snakemake.
    from snakemake.script import PythonScript

    start = PythonScript.execute_script

    def execute_script(script: PythonScript, fname: str, edit: bool = False) -> None:
        if edited := edited_since(script.params.get("code", "")):
            raise _refused(script, edited)
        start(script, fname, edit)

    PythonScript.execute_script = execute_script


def _refused(script: "PythonScript", edited: list[str]) -> FlatlasError:
    """The error to raise; the job's log has it, too, as if the job had written it."""
    cause = (
        f"{', '.join(edited)} was edited after this command began: the result would be recorded "
        "with the earlier code."
    )
    now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
    Path(script.log[0]).write_text(f"{now} E {script.rulename} failed: {cause}\n", encoding="utf-8")
    return FlatlasError(cause)


def forget_edited_results(dag: "DAG", persistence: "PersistenceBase") -> str | None:
    """Drop the record of each finished job whose result has another spec or code than asked for.

    Returns a message about these jobs, if any. A job on a cluster reads configuration and code when
    it starts, but Snakemake records its result with the spec and code from when the command began.
    Without a record, the next command compares the provenance.
    """
    edited = []
    for job in dag.finished_jobs:
        provenance = job.output.get("provenance")
        asked = job.params.get("spec", {}), job.params.get("code")
        if provenance and made_otherwise(provenance, *asked):
            for file in job.output:
                persistence.cleanup_metadata(file)
            edited.append(name_of(job))
    if not edited:
        return None
    return (
        "Code or settings were edited after this command began, and these jobs used the edited "
        f"ones: {', '.join(sorted(edited))}. Give the same command again: it keeps the results "
        "that the current code and settings would make, and makes the others again."
    )
