"""The sweeps by which the paper varies one thing alone: the key in each, and its symbol."""

SWEPT = {
    "alpha": ("optimizer.lr", "α"),
    "batch": ("batch", "B"),
    "decay": ("penalty.coefficient", "β"),
    "init": ("net.init.scale", "s"),
    "dropout": ("net.dropout", "d"),
}
