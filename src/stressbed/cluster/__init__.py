"""Runs whose jobs go through a queue: what keeps them together while they wait there.

`frozen`: jobs use the code and the plan that the run was started with.
`owners`, `orphans`: a run that takes over from a killed one ends that one's jobs first.
`polls`: a question that the queue does not answer loses no job.
`start`: all three, when a run begins.
"""
