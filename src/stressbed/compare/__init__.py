"""Two runs side by side: the same model before and after a change."""
