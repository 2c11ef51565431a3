"""The plugin of MT-NLP, which has no options."""

from __future__ import annotations

from harness.plugins import Kit, Options, Suite, SuitePlugin


class MtNlpOptions(Options):
    """``[mtnlp]``: no keys."""


def make(options: MtNlpOptions, kit: Kit) -> Suite:
    """Return the suite."""
    from harness.suites.mtnlp.suite import MtNlp

    return MtNlp(control=kit.control, labels=kit.task.labels, seed=kit.seed)


plugin = SuitePlugin(
    name="mtnlp",
    about="a noun for a person replaced by its counterpart or qualified, at one place of a text (baseline)",
    options=MtNlpOptions,
    make=make,
)
