"""The command line: a thin layer with one module per command, imported only when the command runs."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from difflib import get_close_matches
from typing import NoReturn

import click

COMMANDS = {
    "run": "Audit a model on texts. This is the main command.",
    "plan": "Count what a run would generate and send, without sending anything.",
    "generate": "Generate and write the cases of a run, then stop.",
    "check": "Show every version of one text and its answer, side by side.",
    "report": "Render the report of a run again.",
    "guard": "Serve an endpoint that checks the answers of another as they are given.",
    "augment": "Write counterfactual rows for training, with gold labels, balanced over groups.",
    "flips": "Print all flips of a run, with both texts and both answers.",
    "view": "Show runs on a local web page: reports, comparisons, one text tried live.",
    "explain": "Explain which words make the answers of a run change.",
    "compare": "Compare two or more runs, or score files, side by side.",
    "fluency": "Measure how fluent the originals and mutants of a run are.",
    "judge": "Have a model read the mutants of a run, and leave out wrong ones.",
    "coverage": "Measure how many neurons of a classifier a run reaches.",
    "review": "Export texts of a run for human annotators; import their ratings.",
    "tasks": "List tasks; with NAME, show its prompt as it is sent.",
    "suites": "List test methods.",
    "models": "List systems under test.",
    "lexicon": "List, show, validate or import bias dictionaries.",
    "grammar": "Learn a reference grammar from a treebank.",
    "cache": "Inspect, prune, export or import the response cache.",
    "export-batch": "Write the missing requests of a run to a batch file.",
    "import-batch": "Import the replies of a batch into the cache.",
    "doctor": "Check the installation and whether the model answers.",
    "serve": "Run a vLLM server with the flags that audits need.",
}


CLOSED_PIPE = 141


class Lazy(click.Group):
    """A group whose commands are imported when called, so that ``--help`` is quick."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command.

        If the reader of its output is gone, exit as a shell expects; never with 1, which means that a gate
        was crossed.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            raise click.exceptions.Exit(CLOSED_PIPE) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"harness.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command, suggesting the closest names for an unknown one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = " or ".join(map(repr, get_close_matches(args[0], COMMANDS)))
            suggestion = f" Did you mean {close}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{suggestion}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hinter-harness", prog_name="hinter")
def app() -> None:
    """Find biases of language models that accuracy hides and single-attribute tests miss.

    Exit codes: 0 success; 1 a --fail-above gate was crossed; 2 bad usage, configuration or input;
    3 partial run, or too few answers to decide the gate; 70 internal error; 130 interrupted (run the same
    command again to resume).
    """


FAULT = 70  # EX_SOFTWARE of sysexits.h
PANIC = "PanicException"
"""A fault in the compiled code of polars. It is no ``Exception``, and would end the process with 1."""
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE})


def main() -> None:
    """Run a command and report an error as one line on standard error.

    Errors that the user can fix exit with code 2, internal errors with ``FAULT``.
    """
    from harness.errors import HarnessError

    try:
        code = app.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        _say(" ".join(error.format_message().split()) + hint)
        sys.exit(2)
    except HarnessError as error:
        first, _, log = str(error).partition("\n")  # the other lines are a server's log, verbatim
        _say(" ".join(first.split()), *log.splitlines())
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("hinter: interrupted", err=True)
        sys.exit(130)
    except OSError as error:
        if error.filename is None and error.errno not in DISK:
            _fault(error)
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        _say(f"{place}{error.strerror or error}")
        sys.exit(HarnessError.exit_code)
    except MemoryError:
        _say("out of memory: try fewer --workers or a larger machine; the same command resumes a run")
        sys.exit(HarnessError.exit_code)
    except Exception as error:
        _fault(error)
    except BaseException as error:
        if type(error).__name__ != PANIC:
            raise
        _fault(error)
    sys.exit(code if isinstance(code, int) else 0)


def _fault(error: BaseException) -> NoReturn:
    """Report an internal error in one line that says where its traceback is, and exit."""
    from harness import run_log

    line = f"{run_log.summary(error)} ({run_log.traced(error)})"
    _say(f"internal error: {line}; please report it")
    sys.exit(FAULT)


def _say(*lines: str) -> None:
    """Print a message, of one line as a rule, without secrets and control characters."""
    from harness.cli.output import say

    say("hinter: " + "\n".join(lines), err=True)
