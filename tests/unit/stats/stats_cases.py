"""Published data that several tests of the statistics use."""

from __future__ import annotations

import numpy as np

# Hollander and Wolfe (1973): depression scale factor before and after a tranquilliser, nine patients.
BEFORE = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
AFTER = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
