"""What is released, and how: the workflow, the citation, the container and the conda recipe."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.check_dist import version

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SITE = PROJECT["urls"]["Documentation"]
TARGETS = {
    ("manylinux", "x86_64"),
    ("manylinux", "aarch64"),
    ("musllinux", "x86_64"),
    ("musllinux", "aarch64"),
    ("macos", "x86_64"),
    ("macos", "aarch64"),
}


def read(name: str) -> Any:
    """A file of the repository that is YAML."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


RELEASE = read(".github/workflows/release.yml")
JOBS = RELEASE["jobs"]


def steps(job: str, what: str) -> list[str]:
    """What the steps of a job use, or run, in their order."""
    return [step[what] for step in JOBS[job]["steps"] if what in step]


def place(job: str, said: str) -> int:
    """Where among the steps of a job the first one stands whose action or command begins so."""
    return next(
        n
        for n, step in enumerate(JOBS[job]["steps"])
        if (step.get("uses") or step.get("run", "")).startswith(said)
    )


def test_there_is_a_wheel_for_every_system_that_is_named() -> None:
    built = JOBS["wheels"]["strategy"]["matrix"]["include"]
    assert {(one["system"], one["target"]) for one in built} == TARGETS
    for one in built:
        assert one.get("libc") == ("musllinux_1_2" if one["system"] == "musllinux" else None)
        assert ("macos" in one["runner"]) == (one["system"] == "macos")
        assert one["runner"].endswith("-arm") == (one["target"] == "aarch64" and one["system"] != "macos")
    systems = {line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if "Operating System" in line}
    assert systems == {"Linux", "MacOS"}


def test_every_system_has_one_step_that_builds_its_wheel_with_a_profile_if_it_can_run_it() -> None:
    built = {}
    for step in JOBS["wheels"]["steps"]:
        said = step.get("run", "") + str(step.get("with", {}).get("args", ""))
        if "make wheel" in said or "--release" in said:
            built[step["if"]] = "make wheel" in said or "--pgo" in said.split()
    profiled = {"manylinux": True, "musllinux": False, "macos": True}
    assert built == {f"matrix.system == '{system}'": has for system, has in profiled.items()}
    told = str(JOBS["wheels"]["steps"])
    assert told.count("llvm-tools") == sum(profiled.values())


def test_the_profile_is_of_a_command_that_exists() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    program, script = tool["pgo-command"].split()
    assert program == "python"
    assert (ROOT / script).is_file()


@pytest.mark.parametrize("job", ["wheels", "sdist"])
def test_what_is_built_is_checked_and_tried_before_it_is_kept(job: str) -> None:
    checked, kept = place(job, "python scripts/check_dist.py"), place(job, "actions/upload-artifact")
    tried = [n for n, step in enumerate(JOBS[job]["steps"]) if "try_dist.py" in step.get("run", "")]
    assert tried
    assert checked < min(tried) <= max(tried) < kept
    assert JOBS[job]["steps"][kept]["with"]["if-no-files-found"] == "error"


def test_every_wheel_is_tried_on_its_own_system() -> None:
    conditions = [step["if"] for step in JOBS["wheels"]["steps"] if "try_dist.py" in step.get("run", "")]
    assert sorted(conditions) == ["matrix.system != 'musllinux'", "matrix.system == 'musllinux'"]


def test_nothing_is_published_that_was_not_built_or_is_called_otherwise() -> None:
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"publish"}
    assert JOBS["publish"]["if"] == "github.event_name == 'push'"
    assert RELEASE[True] == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}  # YAML reads "on" as true
    last = place("publish", "pypa/gh-action-pypi-publish")
    assert place("publish", "python scripts/check_dist.py --tag") < last
    assert place("publish", "actions/attest-build-provenance") < last
    assert last == len(JOBS["publish"]["steps"]) - 1


def test_pypi_trusts_the_workflow_and_there_is_no_password() -> None:
    assert RELEASE["permissions"] == {"contents": "read"}
    assert [name for name, job in JOBS.items() if "permissions" in job] == ["publish"]
    assert JOBS["publish"]["permissions"] == {
        "contents": "read",
        "id-token": "write",
        "attestations": "write",
    }
    assert JOBS["publish"]["environment"]["name"] == "pypi"
    publishing = JOBS["publish"]["steps"][-1]["with"]
    assert publishing == {"attestations": True}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_and_its_commands_can_be_read_by_a_shell(job: str) -> None:
    assert 0 < JOBS[job]["timeout-minutes"] <= 60
    for command in steps(job, "run"):
        read_only = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True, check=False)
        assert read_only.returncode == 0, read_only.stderr
        for script in re.findall(r"scripts/\w+\.py", command):
            assert (ROOT / script).exists()


WORKFLOWS = sorted(path for path in (ROOT / ".github").rglob("*.yml") if "uses:" in path.read_text())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_commit_with_its_version(path: Path) -> None:
    """A tag can be moved to other code, a commit cannot. Dependabot raises both."""
    branch = "pypa/gh-action-pypi-publish@release/v1"
    used = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    for action in (action for action in used if not action.startswith(branch)):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)


def test_dependencies_of_every_lock_and_workflow_are_kept_new() -> None:
    updates = {
        (one["package-ecosystem"], directory)
        for one in read(".github/dependabot.yml")["updates"]
        for directory in one.get("directories", [one.get("directory")])
    }
    assert updates == {
        ("cargo", "/"),
        ("cargo", "/fuzz"),
        ("pip", "/"),
        ("npm", "/web"),
        ("github-actions", "/"),
        ("github-actions", "/.github/actions/check"),
    }
    for ecosystem, directory in updates - {("github-actions", "/")}:
        has = {"cargo": "Cargo.toml", "pip": "pyproject.toml", "npm": "package.json"}
        assert (ROOT / directory.lstrip("/") / has.get(ecosystem, "action.yml")).is_file()


def test_owners_of_code_are_of_folders_that_exist() -> None:
    lines = (ROOT / ".github/CODEOWNERS").read_text(encoding="utf-8").splitlines()
    for path, *owners in (line.split() for line in lines if line and not line.startswith("#")):
        assert owners
        assert path == "*" or (ROOT / path.strip("/")).exists()


def test_the_citation_says_what_the_package_says() -> None:
    citation = read("CITATION.cff")
    assert citation["version"] == version()
    assert citation["cff-version"] == "1.2.0"
    assert " OR ".join(citation["license"]) == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [one["name"] for one in PROJECT["authors"]]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert {"message", "title", "type"} <= set(citation)


def test_the_documentation_is_published_where_the_package_says() -> None:
    assert f"site_url: {SITE}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    jobs = read(".github/workflows/docs.yml")["jobs"]
    assert [step["run"] for step in jobs["build"]["steps"] if "run" in step][-1].startswith("make docs ")
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}
    for step in (step for job in jobs.values() for step in job["steps"] if "uses" in step):
        assert step["uses"].startswith("actions/")


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_to_files_of_the_repository_or_to_pages_of_its_site(name: str) -> None:
    """Pages that are made from the code are in the site alone."""
    text = (ROOT / name).read_text(encoding="utf-8")
    start = re.compile(r"https://(github|raw\.githubusercontent)\.com/fullpipe/fullpipe/(blob/)?main/")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {path for file in tracked.stdout.splitlines() for path in (file, *map(str, Path(file).parents))}
    targets = [start.sub("", link.partition("#")[0]) for link in re.findall(r"\]\(([^)]+)\)", text)]
    own = [target for target in targets if target and not target.startswith("https://")]
    assert own
    assert [target for target in own if target.rstrip("/") not in files] == []
    pages = {target.removeprefix(SITE).strip("/") for target in targets if target.startswith(SITE)}
    assert pages <= {"", "reference/plan", "reference/results"}


def test_the_urls_lead_to_files() -> None:
    start = f"{PROJECT['urls']['Source']}/blob/main/"
    files = [url.removeprefix(start) for url in PROJECT["urls"].values() if url.startswith(start)]
    assert len(files) == 1
    assert all((ROOT / name).exists() for name in files)


@pytest.mark.parametrize("name", ["wrong-result", "failure"])
def test_a_form_of_issues_asks_for_what_is_needed(name: str) -> None:
    form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["validations"]["required"] for field in fields)
    assert "fullpipe --version" in str(fields)


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = read("conda/recipe.yaml")
    called = {"matplotlib-base": "matplotlib"}
    needed = {}
    for line in recipe["requirements"]["run"]:
        name, _, bounds = line.partition(" ")
        needed[called.get(name, name)] = bounds
    assert needed.pop("python") == PROJECT["requires-python"]
    assert [f"{name}{bounds}" for name, bounds in needed.items()] == PROJECT["dependencies"]
    [maturin] = [one for one in recipe["requirements"]["host"] if one.startswith("maturin")]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert [maturin.replace(" ", "")] == build["requires"]
    assert recipe["context"]["version"] == version()
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {where}" for name, where in PROJECT["scripts"].items()
    ]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert set(PROJECT["license-files"]) < set(recipe["about"]["license_file"])


def instructions() -> list[tuple[str, str]]:
    """Those of the Dockerfile, in their order."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    return [
        (line.partition(" ")[0], line.partition(" ")[2])
        for line in lines
        if line and not line.startswith("#")
    ]


ELSEWHERE = ("apt-get ", "curl ", "useradd ")
"""Commands that change a system, which a container has to itself."""


def test_the_container_has_no_rights_and_runs_the_command() -> None:
    found = instructions()
    last = [one for one, _ in found][::-1].index("FROM")
    final = dict(found[-last:])
    assert (final["USER"], final["ENTRYPOINT"]) == ("fullpipe", '["fullpipe"]')
    assert [text for kind, text in found if kind == "FROM"][-1] == "python:3.13-slim"
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "target"} <= set(ignored)


def test_the_commands_of_the_container_are_those_that_exist() -> None:
    runs = [text for kind, text in instructions() if kind == "RUN"]
    own = [text for text in runs if not text.startswith(ELSEWHERE)]
    assert [text.split()[0] for text in own] == ["pip", "maturin", "pip"]
    for text in runs:
        assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_the_commands_of_the_container_make_what_it_runs(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not request.config.getoption("--long"):
        pytest.skip("compiles everything; --long does it")
    environment = tmp_path / "venv"
    subprocess.run(["python", str(ROOT / "scripts/make_venv.py"), str(environment)], check=True)
    monkeypatch.setenv("PATH", f"{environment}/bin", prepend=":")
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_LTO", "off")
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(ROOT / "target" / "sdist"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    folder = tmp_path
    for kind, text in instructions():
        here = re.sub(r"(?<!\S)/(src|wheels|work)\b", rf"{tmp_path}/\1", text)
        if kind == "COPY" and "--from" not in text:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "src")], check=True)
        elif kind == "WORKDIR":
            folder = Path(here)
            folder.mkdir(exist_ok=True)
        elif kind == "RUN" and not text.startswith(ELSEWHERE):
            subprocess.run(["bash", "-euc", here], cwd=folder, check=True)
    made = subprocess.run([environment / "bin/fullpipe", "demo"], cwd=folder, check=True)
    assert made.returncode == 0
    assert (folder / "demo.png").exists()
