"""Text for the person who opens a pack."""

from __future__ import annotations

from fullpipe.commit import with_commit
from fullpipe.report.packs.study import Study
from fullpipe.runs import version


def read_me(study: Study) -> str:
    """Return README.md of the pack of a study."""
    code = " --allow-python" if study.has_code else ""
    files = [f"- `files/{each}`" for each in study.files]
    engines = dict.fromkeys(
        f"{run.engine.name} {run.engine.version}, model {run.engine.model_version}" for run in study.runs
    )
    head = f"""# A study to run again

{len(study.runs):,} runs of {study.points:,} scenarios, by fullpipe {with_commit(version("fullpipe"))}.
Engine: {"; ".join(engines)}.

```sh
fullpipe rerun FILE --compare --out again{code}
```

This makes all runs again in the folder `again`. It says whether every table is equal to the byte,
or what differs first. `study.json` has the scenarios, seeds, versions and checksums.
"""
    beside = ["The runs rest on these files:", "", *files, ""] if files else []
    warning = ["`--allow-python` runs the code in these files: read it first.", ""] if code else []
    return "\n".join([head, *beside, *warning])
