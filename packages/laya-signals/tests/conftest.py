"""Settings for Hypothesis."""

from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("laya-signals", deadline=None)
settings.load_profile("laya-signals")
