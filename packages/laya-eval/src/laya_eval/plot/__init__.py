"""Plots as SVG, without a plotting library."""
