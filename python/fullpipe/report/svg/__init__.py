"""Figures as SVG without scripts and without styles of their own: a page colours them by class."""
