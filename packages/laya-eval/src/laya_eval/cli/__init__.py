"""Commands that this package adds to `laya`, through the entry points `laya.commands`."""
