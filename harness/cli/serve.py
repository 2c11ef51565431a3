"""``hinter serve``."""

from __future__ import annotations

import shlex
import signal

import click


@click.command("serve")
@click.argument("name")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED, metavar="[-- VLLM FLAGS]")
@click.option(
    "--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="The port of the server."
)
@click.option("--revision", help="The model's revision: a branch, a tag or a commit.")
@click.option(
    "--max-model-len", type=click.IntRange(1), help="The maximum number of tokens of prompt and answer."
)
@click.option("--dtype", help="The type of weights and activations, such as float32.")
def command(
    name: str,
    flags: tuple[str, ...],
    port: int,
    revision: str | None,
    max_model_len: int | None,
    dtype: str | None,
) -> int:
    """Run a vLLM server for the model NAME with the flags that audits need, until Ctrl-C.

    Prints its address and a command that uses it once it is ready; its log goes to standard error. Arguments
    after -- are passed on to vllm serve.
    """
    from harness.errors import ModelError
    from harness.models.vllm_server import VllmServer
    from harness.models.vllm_settings import Settings

    name = name.removeprefix("vllm:")
    settings = Settings(name=name, revision=revision, max_model_len=max_model_len, dtype=dtype, flags=flags)
    server = VllmServer(settings, port, foreground=True)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        server.start()
        click.echo(server.url)
        click.echo(f"hinter run --model {shlex.quote(name)} --base-url {server.url}")
        end = server.wait()
    except KeyboardInterrupt:
        click.echo("hinter: stopping the server", err=True)
        return 130
    finally:
        server.stop()
        signal.signal(signal.SIGTERM, before)
    if not end.endswith("status 0"):
        raise ModelError(server.fault(end))
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
