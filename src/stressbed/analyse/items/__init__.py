"""What single items say: intervals within datasets, the worst items, what goes with their loss."""
