"""A leaderboard as a folder of pages, and as a bundle for Codabench."""
