"""`dragoman mcp`: tools of an assistant, by the Model Context Protocol over standard input and output."""

from __future__ import annotations

import inspect
import json
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from dragoman import __version__
from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import model_option
from dragoman.cli.streams import STDOUT, say
from dragoman.errors import DataError
from dragoman.machine.signals import ending_signals

if TYPE_CHECKING:
    from dragoman.server.agent_tools import AgentTools


def mcp(
    model: Annotated[
        list[str] | None, model_option("; may be repeated, the preferred one first; default: all installed")
    ] = None,
) -> None:
    """Give an assistant tools to translate (MCP).

    The assistant starts this command, if its settings have:

    \b
    {"mcpServers": {"dragoman": {"command": "dragoman", "args": ["mcp"]}}}

    The tools are translate, detect and languages. The assistant's messages come and go by standard input and output.
    """
    require_package("mcp", "mcp", "mcp_types", "fastapi", "uvicorn", "python_multipart", "prometheus_client")
    if sys.stdin is None or sys.stdout is None:
        raise DataError("standard input or output is closed", advice="let an assistant start this command")
    import anyio

    from dragoman.server.agent_tools import AgentTools

    tools = AgentTools(model or [])
    if sys.stdin.isatty():
        say("an assistant should start this command; it speaks JSON; Ctrl-D ends")
    for number in ending_signals():
        signal.signal(number, signal.SIG_DFL)  # the thread that reads standard input cannot be interrupted
    try:
        anyio.run(_serve, tools)
    except BaseExceptionGroup as group:
        error: BaseException | None = group.subgroup(OSError)
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if not isinstance(error, OSError):
            raise
        error.filename = STDOUT
        raise error from None


async def _serve(tools: AgentTools) -> None:
    """Answer until the client closes standard input."""
    import mcp_types as types
    from anyio import to_thread
    from mcp.server import Server
    from mcp.server.stdio import stdio_server

    from dragoman.server.api_errors import ApiError
    from dragoman.translator import StopCondition

    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    listed = [
        types.Tool(
            name=name, description=inspect.getdoc(takes), input_schema=takes.model_json_schema(), annotations=hints
        )
        for name, (takes, _) in tools.by_name.items()
    ]

    async def list_tools(*_: Any) -> Any:
        return types.ListToolsResult(tools=listed)

    async def call_tool(_: Any, asked: Any) -> Any:
        cancelled = threading.Event()
        stop = StopCondition(is_cancelled=cancelled.is_set)
        try:
            work = partial(tools.call, asked.name, asked.arguments or {}, stop)
            result = await to_thread.run_sync(work, abandon_on_cancel=True)
        except ApiError as error:
            return types.CallToolResult(content=[types.TextContent(text=error.message)], is_error=True)
        finally:
            cancelled.set()
        text = types.TextContent(text=json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=result)

    server = Server("dragoman", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as streams, _until_answered(*streams) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def _until_answered(incoming: Any, outgoing: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of a client; the one that is read ends only after every request has its answer."""
    import anyio
    import mcp_types as types

    (ask, asked), (answer, answers) = (anyio.create_memory_object_stream[Any]() for _ in range(2))
    unanswered, has_ended = set[Any](), anyio.Event()

    async def forward() -> None:
        async with incoming:
            async for each in incoming:
                message = getattr(each, "message", None)  # one that cannot be read has none
                if isinstance(message, types.JSONRPCRequest):
                    unanswered.add(message.id)
                elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
                    cancelled = (message.params or {}).get("requestId")  # whatever the client sent
                    unanswered.difference_update([each for each in unanswered if each == cancelled])
                await ask.send(each)
        has_ended.set()
        if not unanswered:
            ask.close()

    async def back() -> None:
        async with outgoing:
            async for each in answers:
                await outgoing.send(each)
                unanswered.discard(getattr(each.message, "id", None))
                if has_ended.is_set() and not unanswered:
                    ask.close()

    async with anyio.create_task_group() as tasks, answers:
        tasks.start_soon(forward)
        tasks.start_soon(back)
        yield asked, answer
        tasks.cancel_scope.cancel()
