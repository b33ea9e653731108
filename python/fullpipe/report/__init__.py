"""Reports to hand over: one page with the question, the answer, tables, figures and what repeats it.

What reads runs and files gives a `Document`; `html` and `markdown` write it."""
