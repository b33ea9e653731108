"""Figures as SVG without scripts or styles. The style sheet of the page colours the elements by class."""
