"""Refuse jobs whose code or given weights changed after Snakemake took their fingerprint."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError
from flatlas.plan.fingerprint import edited_since

if TYPE_CHECKING:
    from snakemake.script import PythonScript


def refuse_edited_code() -> None:
    """Have Snakemake check the code of each local job before the job starts.

    The result would be recorded with the earlier code. If the edit was undone, the result would
    stay. Snakemake offers no way to check, so this replaces the method that starts a script.
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
