"""The user's trained networks, placed among those of the atlas."""
