"""The files of a finished study have the columns that are declared for them."""

import re

from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.tables import FILES, PLACE
from flatlas.store.tables import read_table

MEASURED = {
    f"results/measures/{name}/<id>/{table}.parquet": PLACE | columns
    for name, measure in MEASURES.items()
    for table, columns in measure.tables.items()
}


def pattern(path):
    """`<id>` is any name, `{runs,recordings}` is either."""
    either = re.sub(r"\{(.*?)\}", lambda one: f"({one[1].replace(',', '|')})", path)
    return re.sub("<.*?>", "[^/]+", either.replace(".", r"\."))


def test_each_file_has_the_declared_columns(finished):
    seen = set()
    declared = FILES | MEASURED
    for file in [
        *finished.root.glob("results/**/*.parquet"),
        *finished.root.glob("results/**/*.csv"),
    ]:
        name = file.relative_to(finished.root).as_posix()
        (path,) = [one for one in declared if re.fullmatch(pattern(one), name)] or [None]
        if path is None:
            # The points of a figure.
            assert file.with_suffix(".png").is_file(), f"{name} is declared nowhere"
        else:
            assert [*read_table(file)] == [*declared[path]], name
            seen.add(path)
    assert len(seen) == 8
