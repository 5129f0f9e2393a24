"""Every generated part of a page, by its name."""

from claims import CLAIMS
from columns import COLUMNS
from figures import FIGURES
from large_nets import LARGE_NETS
from library import LIBRARY
from settings import SETTINGS
from verdicts import VERDICTS

PARTS = {**CLAIMS, **COLUMNS, **SETTINGS, **FIGURES, **LARGE_NETS, **LIBRARY, **VERDICTS}
