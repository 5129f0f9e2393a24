"""The names of the two layers of a torch module; the names of its weights begin with them.

They are outside `plan`, so that a change reruns every training of a module (plan/fingerprint.py).
"""

FEATURES, LAST = "features", "fc"
"""Everything below the last dense layer, and that layer."""
