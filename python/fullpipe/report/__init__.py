"""Reports to hand over: one page with the question, the answer, tables, figures and commands to repeat it.

The modules that read runs and files return a `Document`; `html` and `markdown` write the document."""
