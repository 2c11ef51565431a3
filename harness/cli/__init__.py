"""The command line: thin, one module a command, each imported only when it is used."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from difflib import get_close_matches

import click

COMMANDS = {
    "run": "Audit a model on texts: the main job.",
    "plan": "Count what a run would make and send; send nothing.",
    "generate": "Write the cases of a run and stop.",
    "check": "One text, every version of it, every answer, side by side.",
    "report": "Render a run's report again.",
    "explain": "Say which words make the answers of a run change.",
    "compare": "Two or more runs, or score files, side by side.",
    "fluency": "Say how fluent a run's originals and mutants are.",
    "coverage": "Say how many neurons of a classifier a run reaches.",
    "review": "A sheet of a run's texts for annotators, and what they say of them.",
    "tasks": "List tasks; with a NAME, show its prompt as it is sent.",
    "suites": "List test methods.",
    "models": "List systems under test.",
    "lexicon": "List, show, validate or import bias dictionaries.",
    "grammar": "Learn a reference grammar from a treebank.",
    "cache": "Look into, prune, export or import the response cache.",
    "export-batch": "Write a run's missing requests as a batch file.",
    "import-batch": "Take the replies of a batch file into the cache.",
    "doctor": "Say what is installed and what answers.",
    "serve": "Run a vLLM server with the right flags.",
}


CLOSED_PIPE = 141


class Lazy(click.Group):
    """A group whose commands are imported when called, so that ``--help`` is quick."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Where its reader is gone it ends as a shell expects, and never with 1, which says
        that a gate was crossed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is flushed at the end
            raise click.exceptions.Exit(CLOSED_PIPE) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"harness.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = " or ".join(map(repr, get_close_matches(args[0], COMMANDS)))
            meant = f" Did you mean {close}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hinter-harness", prog_name="hinter")
def app() -> None:
    """Find the biases of language models that accuracy hides, and that single-attribute tests miss.

    Exit codes: 0 done; 1 a --fail-above gate was crossed; 2 bad usage, configuration or input;
    3 partial, or too few answers to decide the gate; 70 a fault of hinter's own; 130 interrupted, the same
    command resumes.
    """


FAULT = 70  # EX_SOFTWARE of sysexits.h
DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE})


def main() -> None:
    """Run a command; what is wrong is one line on standard error.

    What the user can mend ends with exit code 2, a fault of ours with ``FAULT``.
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
        click.echo(f"hinter: {' '.join(error.format_message().split())}{hint}", err=True)
        sys.exit(2)
    except HarnessError as error:
        first, _, log = str(error).partition("\n")  # what follows is a server's log, as it wrote it
        click.echo(f"hinter: {' '.join(first.split())}" + (f"\n{log}" if log else ""), err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("hinter: interrupted", err=True)
        sys.exit(130)
    except Exception as error:
        if isinstance(error, OSError) and (error.filename is not None or error.errno in DISK):
            place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
            click.echo(f"hinter: {place}{error.strerror or error}", err=True)
            sys.exit(HarnessError.exit_code)
        click.echo(f"hinter: {_fault(error)}", err=True)
        sys.exit(FAULT)
    sys.exit(code if isinstance(code, int) else 0)


def _fault(error: Exception) -> str:
    """A fault of ours in one line, which says where its traceback is."""
    from harness import run_log

    return f"internal error: {run_log.summary(error)} ({run_log.traced(error)}); please report it"
