"""What is looked at in every file: findings, characters, lines that do not belong together."""
