"""What a run comes to, in words: findings, verdicts, and which statistics they rest on."""
