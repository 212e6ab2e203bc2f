"""One table per question, with its statistic: pure functions of a run's studies."""
