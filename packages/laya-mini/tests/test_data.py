import hashlib
import json
import subprocess
import sys

import laya_mini


def data_files():
    skipped = {".py", ".typed", ".md", ".pyc"}
    return {
        path.relative_to(laya_mini.data_folder()).as_posix()
        for path in laya_mini.data_folder().rglob("*")
        if path.is_file() and path.suffix not in skipped and path.name != "hashes.json"
    }


def test_the_hash_list_names_every_data_file_and_no_other():
    assert set(laya_mini.hashes()) == data_files()


def test_every_data_file_has_its_recorded_hash():
    for name, digest in laya_mini.hashes().items():
        content = (laya_mini.data_folder() / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, name


def test_the_encoder_says_where_it_comes_from():
    config = json.loads((laya_mini.data_folder() / "encoder" / "config.json").read_text())
    assert config["source"]["license"] == "Apache-2.0"
    assert config["source"]["sha256"]["model.safetensors"].startswith("53aa51172d142c89")


def test_the_model_card_ships_with_the_data():
    assert "all-MiniLM-L6-v2" in (laya_mini.data_folder() / "MODEL_CARD.md").read_text()


def test_no_data_file_names_a_path_of_the_machine_that_built_it():
    for name in laya_mini.hashes():
        content = (laya_mini.data_folder() / name).read_bytes()
        for path in (b"/home/", b"/root/", b"/tmp/", b"/Users/", b"site-packages"):
            assert path not in content, (name, path)


def test_importing_needs_nothing_beyond_the_standard_library():
    check = "import sys, laya_mini; assert not {'numpy', 'onnxruntime'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
