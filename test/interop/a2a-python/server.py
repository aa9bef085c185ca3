"""An agent of the official server, whose answer depends on the text of the message.

`server.py PORT` prints {"port": ...} and then {"sent": text} for each message. Requests need the token. A line on
standard input lets one `slow` answer continue.
"""

import asyncio
import json
import logging
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

from a2a.helpers.proto_helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as a2a

TOKEN = "token-of-the-peer"


def tell(**what):
    print(json.dumps(what))


class Agent(AgentExecutor):
    def __init__(self):
        self.go = asyncio.Semaphore(0)

    async def execute(self, context, event_queue):
        words = context.get_user_input()
        tell(sent=words)
        if words == "message":
            return await event_queue.enqueue_event(new_text_message("at once", context_id=context.context_id))
        updates = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = a2a.TaskStatus(state=a2a.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(
                a2a.Task(id=context.task_id, context_id=context.context_id, status=status)
            )
        await updates.start_work()

        def says(text):
            return updates.new_agent_message([a2a.Part(text=text)])

        if words == "ask":
            await updates.requires_input(says("Which colour?"))
        elif words == "auth":
            await updates.requires_auth(says("Log in first"))
        elif words == "reject":
            await updates.reject(says("not my job"))
        elif words == "fail":
            await updates.failed(says("out of sheep"))
        else:
            await self.answer(words, updates)
            await updates.complete()

    async def answer(self, words, updates):
        more = {"artifact_id": "response", "name": "response"}
        if words == "file":
            part = a2a.Part(raw=b"wool", media_type="text/plain", filename="sheep.txt")
            return await updates.add_artifact([part], **more)
        if words == "slow":
            await updates.add_artifact([a2a.Part(text="one ")], append=False, last_chunk=False, **more)
            await self.go.acquire()
            return await updates.add_artifact([a2a.Part(text="two")], append=True, last_chunk=True, **more)
        return await updates.add_artifact([a2a.Part(text=f"{words} it is")], **more)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Guard:
    """Rejects requests without the token, except for the agent card."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        headers = dict(scope.get("headers", []))
        allowed = headers.get(b"authorization") == f"Bearer {TOKEN}".encode()
        if scope["type"] == "http" and not allowed and not scope["path"].startswith("/.well-known/"):
            error = {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "who are you"}}
            return await JSONResponse(error, 401)(scope, receive, send)
        await self.app(scope, receive, send)


async def main():
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    port = listening.getsockname()[1]
    card = a2a.AgentCard(
        name="Python agent",
        description="Speaks A2A",
        version="1",
        capabilities=a2a.AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            a2a.AgentInterface(
                url=f"http://127.0.0.1:{port}/a2a", protocol_binding="HTTP+JSON", protocol_version="1.0"
            )
        ],
    )
    agent = Agent()
    handler = DefaultRequestHandler(agent_executor=agent, task_store=InMemoryTaskStore(), agent_card=card)
    routes = create_agent_card_routes(card) + create_rest_routes(handler, path_prefix="/a2a")
    app = Starlette(routes=routes, middleware=[Middleware(Guard)])
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))

    async def obey():
        lines = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while await lines.readline():
            agent.go.release()

    loop = asyncio.get_running_loop()
    obeying = asyncio.create_task(obey())
    tell(port=port)
    await server.serve(sockets=[listening])
    obeying.cancel()


logging.disable(logging.CRITICAL)
asyncio.run(main())
