"""The minus sign."""


def with_minus(text: str) -> str:
    """A text of numbers with minus signs for its hyphens, as on the axes of figures."""
    return text.replace("-", "−")
