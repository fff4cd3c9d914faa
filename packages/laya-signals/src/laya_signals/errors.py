"""Everything that `laya_signals` raises.

SignalError
├── ConfigError        a component's settings are wrong (unknown key, bad value)
├── RegistryError      a provider name is unknown, or what it builds does not fit the seam
├── MissingExtraError  a provider needs a package that only an extra installs
├── ModelError         a model folder is incomplete, altered, or cannot be loaded
└── EncodeError        a text cannot be turned into a usable vector
"""


class SignalError(Exception):
    """Base class of every error raised by `laya_signals`."""


class ConfigError(SignalError):
    """A component's settings are wrong; the message names the component and the key."""


class RegistryError(SignalError):
    """A provider name is unknown, or the object it builds does not implement the wanted seam."""


class MissingExtraError(SignalError):
    """A provider needs a package that is not installed; the message names the extra."""


class ModelError(SignalError):
    """A model's files are missing, altered, or unreadable; the message names the file."""


class EncodeError(SignalError):
    """A text has no usable vector; the message names its position or record id."""
