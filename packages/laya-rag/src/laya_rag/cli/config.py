"""`laya config`: the settings in force, and where each came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from laya_rag.cli.finding import ConfigOption, JsonOption, SetOption, load
from laya_rag.cli.output import console, print_json, printable, reporting_errors

if TYPE_CHECKING:
    from laya_rag.config import LoadedSettings


@reporting_errors
def config(
    config: ConfigOption = None, sets: SetOption = None, as_json: JsonOption = False
) -> None:
    """Print every setting, its value, and where that came from.

    Flags win over environment variables (LAYA_RAG_SEARCH__KEEP=3), those over the settings file
    (laya.toml in the current folder, or --config), that over the defaults. An unknown key is an
    error that names its file and line or its variable.

    Examples:

        laya config
        laya config --json | jq '.settings[] | select(.from != "default")'

    """  # noqa: D412
    loaded = load(config, sets, {})
    if as_json:
        print_json(
            {
                "version": 1,
                "settings": [
                    {
                        "key": item.key,
                        "value": item.value,
                        "from": item.layer,
                        "source": item.source or None,
                    }
                    for item in loaded.origins
                ],
            }
        )
    else:
        _print(loaded)


def _print(loaded: LoadedSettings) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold")
    for item in loaded.origins:
        value = json.dumps(item.value, ensure_ascii=False)
        source = item.source or item.layer
        style = "" if item.source else "dim"
        table.add_row(*(Text(printable(text), style=style) for text in (item.key, value, source)))
    console().print(table)
