"""What a reader gets: the page that holds everything, what it cost, how two trees compare."""
