"""Finding a checkpoint: a folder, or the hub's cache when the hub may not be asked."""

import json
import os
import subprocess
import sys

import pytest
from laya_signals.decide.hub import open_checkpoint
from laya_signals.errors import ModelError
from laya_signals.model_file import digest_of

OLD, NEW = "1" * 40, "2" * 40


def write_config(folder, encoder):
    folder.mkdir(parents=True)
    (folder / "rl_agent_config.json").write_text(json.dumps({"encoder": encoder}))


@pytest.fixture
def cache(tmp_path):
    """A hub cache that holds two commits of one repository, `main` being the newer one."""
    repository = tmp_path / "hub" / "models--someone--laya"
    for commit in (OLD, NEW):
        write_config(repository / "snapshots" / commit, commit)
    write_config(repository / "snapshots" / NEW / "multilingual", "multilingual")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(NEW)
    return tmp_path / "hub"


def opened(cache, *requests):
    """For each request the encoder's name, or the error; in a process of its own."""
    code = (
        "import sys, json; from laya_signals.decide.hub import open_checkpoint\n"
        "from laya_signals.errors import ModelError\n"
        "for request in json.loads(sys.argv[1]):\n"
        "  try: print(open_checkpoint(**request).config.encoder)\n"
        "  except ModelError as error: print('ModelError:', error)"
    )
    # The hub's client reads these once, when it is imported.
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(requests)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_cache_answers_when_the_hub_may_not_be_asked(cache):
    newest, pinned, bundled, absent = opened(
        cache,
        {"model": "someone/laya"},
        {"model": "someone/laya", "revision": OLD},
        {"model": "someone/laya", "subfolder": "multilingual"},
        {"model": "someone/other", "revision": "v1"},
    )
    assert (newest, pinned, bundled) == (NEW, OLD, "multilingual")
    assert absent.startswith("ModelError: cannot get someone/other at revision 'v1' from the hub")
    assert "HF_HUB_OFFLINE" in absent


def test_a_folder_is_found_and_verified(tmp_path):
    write_config(tmp_path / "here", "local")
    digest = digest_of(tmp_path / "here" / "rl_agent_config.json")
    good = {"rl_agent_config.json": digest}
    assert open_checkpoint(str(tmp_path / "here"), hashes=good).config.encoder == "local"
    assert open_checkpoint(str(tmp_path), subfolder="here").config.encoder == "local"
    with pytest.raises(ModelError, match="altered"):
        open_checkpoint(str(tmp_path / "here"), hashes={"rl_agent_config.json": "0" * 64})


def test_a_folder_has_no_revision(tmp_path):
    write_config(tmp_path / "here", "local")
    with pytest.raises(ModelError, match="no revision 'main'"):
        open_checkpoint(str(tmp_path / "here"), revision="main")


@pytest.mark.parametrize("model", ["./nowhere", "/no/where", "no-such-folder", "a/b/c"])
def test_a_path_that_leads_nowhere_never_asks_the_hub(model):
    with pytest.raises(ModelError, match="there is no checkpoint folder"):
        open_checkpoint(model)


def test_a_missing_subfolder_is_named(tmp_path):
    with pytest.raises(ModelError, match="no folder german"):
        open_checkpoint(str(tmp_path), subfolder="german")
