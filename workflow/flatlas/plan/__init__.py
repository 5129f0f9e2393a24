"""What is to be computed: configuration in, typed and hashed specs out. Imports no torch."""
