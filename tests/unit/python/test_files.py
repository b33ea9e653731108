"""Files that are whole or not there, and what is left of those who wrote them."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fullpipe import ResultError, files

OLD, NEW = b"old", b"new" * 1000


def fail(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_that_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "figure.svg"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ResultError, match=r"figure\.svg: cannot be written: No space left on device$"):
        files.write(path, NEW)
    assert [(found, found.read_bytes()) for found in tmp_path.iterdir()] == [(path, OLD)]


def test_a_folder_of_the_name_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "figure.svg").mkdir()
    with pytest.raises(ResultError, match=r"figure\.svg: cannot be written: Is a directory$"):
        files.write(tmp_path / "figure.svg", NEW)


def test_of_a_link_the_file_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file, link = tmp_path / "data" / "file", tmp_path / "link"
    file.write_bytes(OLD)
    file.chmod(0o604)
    link.symlink_to(file)
    files.write(link, NEW)
    assert (link.is_symlink(), file.read_bytes(), file.stat().st_mode & 0o777) == (True, NEW, 0o604)


def test_a_device_is_written_to_as_it_is() -> None:
    files.write(Path(os.devnull), NEW)
    assert not Path(os.devnull).is_file()


LIMITED = """
import resource, sys
from pathlib import Path
from fullpipe import ResultError
from fullpipe import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.write(Path(sys.argv[1]), bytes(2000))
except ResultError as error:
    print(error)
"""


def test_a_file_beyond_the_limit_of_sizes_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from fullpipe import files
with files.hidden(Path(sys.argv[1])) as place:
    (place / "draft").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_goes_with_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    files.write(tmp_path / "file", NEW)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_what_a_living_writer_has_stays(tmp_path: Path) -> None:
    with files.hidden(tmp_path) as place:
        os.utime(place, (0, 0))
        files.remove_leftovers(tmp_path)
        assert place.is_dir()


@pytest.mark.parametrize(("age_s", "stays"), [(60, True), (2 * 86_400, False)])
def test_what_was_left_on_another_machine_goes_after_a_day(tmp_path: Path, age_s: float, stays: bool) -> None:
    place = tmp_path / f"{files.HIDDEN}another-0"
    place.mkdir()
    then = time.time() - age_s
    os.utime(place, (then, then))
    files.remove_leftovers(tmp_path)
    assert place.exists() == stays


@pytest.mark.parametrize(("age_s", "stays"), [(60, True), (2 * 86_400, False)])
def test_without_locks_age_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age_s: float, stays: bool
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with files.hidden(tmp_path) as place:
        then = time.time() - age_s
        os.utime(place, (then, then))
        files.remove_leftovers(tmp_path)
        assert place.exists() == stays


def test_other_hidden_files_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / f"{files.HIDDEN}link").symlink_to(tmp_path / "data")
    before = sorted(tmp_path.iterdir())
    files.remove_leftovers(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_taken_for_a_leftover_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, taken = fcntl.flock, []

    def first_is_taken(descriptor: int, how: int) -> None:
        if not taken:
            taken.append(descriptor)
            raise BlockingIOError
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", first_is_taken)
    with files.hidden(tmp_path) as place:
        assert list(tmp_path.iterdir()) == [place]
