"""The options of the measures, as studies may set them: one file a family."""
