"""The last lines of a successful run: networks without a solution, and without a comparison."""

from types import SimpleNamespace

import pandas as pd
import pytest

from flatlas.plan.lookup import Job
from flatlas.report.ending import PLACED, ending
from flatlas.store.tables import write_table


@pytest.fixture
def ended(tmp_path):
    """The last lines after figures that draw all of these runs, only the first, and none."""

    def lines(*runs):
        files = []
        for number, reasons in enumerate(runs):
            files.append(str(tmp_path / f"{number}.csv"))
            converged = [reason == "rule met" for reason in reasons]
            write_table(files[-1], pd.DataFrame({"reason": reasons, "converged": converged}))
        jobs = {}
        for name, drawn in {"a": files, "b": files[:1], "c": []}.items():
            picture = tmp_path / f"{name}.png"
            picture.touch()
            inputs = {"outcomes": drawn} if drawn else {}
            jobs[name] = Job(name, "figure", inputs, {"png": str(picture)}, {}, [], 1, 1, {})
        plan = SimpleNamespace(figures=[*jobs], jobs=jobs, judged=True)
        return ending(plan, {*jobs}, None)

    return lines


def test_networks_without_a_solution_are_counted_once_with_their_reasons(ended):
    doubt = "error near chance"
    *_, line = ended(["rule met", "diverged"], ["diverged", "rule met", doubt])
    assert "3 of 5" in line
    assert "diverged: 2" in line and f"{doubt}: 1" in line


def test_without_such_networks_there_is_no_line(ended):
    assert len(ended(["rule met"], ["rule met"])) == 1


@pytest.mark.parametrize(("networks", "lines"), [([0, 0], 1), ([0, 7], 0), ([], 0)])
def test_without_a_comparison_the_last_lines_say_why(tmp_path, networks, lines):
    table, picture = str(tmp_path / "place.csv"), tmp_path / "place.png"
    write_table(table, pd.DataFrame({"networks": networks}).assign(why="another loss"))
    picture.touch()
    job = Job(PLACED, "figure", {}, {"png": str(picture), "csv": table}, {}, [], 1, 1, {})
    plan = SimpleNamespace(figures=[PLACED], jobs={PLACED: job}, judged=True)
    assert sum("another loss" in line for line in ending(plan, {PLACED}, None)) == lines
