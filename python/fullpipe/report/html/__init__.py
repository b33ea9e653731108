"""A report as HTML."""
