"""Sources of images, and the images of each realization: subsets, attack sets, label noise."""
