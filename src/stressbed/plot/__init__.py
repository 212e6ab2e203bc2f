"""From analysed tables to figures, each as PDF, SVG and PNG, and its data as CSV."""

VERSION = "1"
