"""The user's trained network: its picture, and the numbers of its page."""
