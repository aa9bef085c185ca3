"""Executes every operation of the protocol with the official client, and prints the results.

Prints one JSON object per line: {"step": name, ...}. {"do": what} asks the test for an action that is not an operation.
At the end it reads the request bodies of a webhook from standard input, one per line.

Every response must match the definition of the protocol exactly. An unknown key is an error here, although the client
itself would accept it.
"""

import asyncio
import json
import sys

from google.protobuf import json_format

import a2a.client.transports.rest as rest
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a

URL, WEBHOOK = sys.argv[1:3]


def parse_strictly(data, message):
    if isinstance(data, str | bytes):
        return json_format.Parse(data, message)
    return json_format.ParseDict(data, message)


rest.parse_lenient = parse_strictly


def tell(step, **what):
    print(json.dumps({"step": step, **what}))


def do(what):
    print(json.dumps({"do": what}))


def state(task):
    return a2a.TaskState.Name(task.status.state).removeprefix("TASK_STATE_")


def text(parts):
    return "".join(part.text for part in parts)


def said(task):
    return [text(message.parts) for message in task.history]


def request(words="Hello", tenant="echo", configuration=None, **message):
    return a2a.SendMessageRequest(
        tenant=tenant,
        message=a2a.Message(
            message_id="m-1", role=a2a.ROLE_USER, parts=[a2a.Part(text=words)], **message
        ),
        configuration=configuration or a2a.SendMessageConfiguration(),
    )


AT_ONCE = a2a.SendMessageConfiguration(return_immediately=True)


async def last(events):
    return [event async for event in events][-1]


async def name_of(awaitable):
    try:
        await awaitable
    except Exception as error:  # The test checks only the name of the error.
        return type(error).__name__
    return "no error"


class Walk:
    def __init__(self, plain, streaming):
        self.plain = plain
        self.streaming = streaming

    async def send(self, *args, **more):
        return (await last(self.plain.send_message(request(*args, **more)))).task

    async def until(self, id, *states):
        while True:
            task = await self.plain.get_task(a2a.GetTaskRequest(id=id))
            if state(task) in states:
                return task
            await asyncio.sleep(0.01)

    async def sending(self):
        done = await self.send()
        tell("send", state=state(done), said=said(done), artifact=text(done.artifacts[0].parts))
        begun = await self.send(configuration=AT_ONCE, tenant="slow")
        tell("send without waiting", state=state(begun))
        do("release")
        tell("get", state=state(await self.until(begun.id, "COMPLETED")))
        read = await self.plain.get_task(a2a.GetTaskRequest(id=done.id, history_length=1))
        tell("get with less history", said=said(read))

    async def conversing(self):
        first = await self.send("one", context_id="c")
        second = await self.send("two", tenant="", context_id="c")
        tell("turns", said=[said(first), said(second)], contexts=[first.context_id, second.context_id])
        asks = await self.send("Paint it", tenant="steps")
        done = await self.send("blue", tenant="steps", task_id=asks.id)
        tell("question", states=[state(asks), state(done)], said=said(done), same=asks.id == done.id)

    async def listing(self):
        await self.send("three", context_id="c")
        pages, token = [], ""
        while True:
            page = await self.plain.list_tasks(
                a2a.ListTasksRequest(context_id="c", page_size=1, page_token=token, history_length=1)
            )
            pages.append([said(task) for task in page.tasks])
            token = page.next_page_token
            if not token:
                break
        of_tenant = await self.plain.list_tasks(a2a.ListTasksRequest(tenant="steps"))
        tell("list", pages=pages, total=page.total_size, of_tenant=of_tenant.total_size)

    async def streaming_it(self):
        states, words = [], ""
        async for event in self.streaming.send_message(request("stream")):
            if event.HasField("artifact_update"):
                words += text(event.artifact_update.artifact.parts)
            else:
                states.append(state(event.task if event.HasField("task") else event.status_update))
        tell("stream", states=states, text=words)

    async def subscribing(self):
        begun = await self.send(configuration=AT_ONCE, tenant="slow")
        await self.until(begun.id, "WORKING")
        events = self.streaming.subscribe(a2a.SubscribeToTaskRequest(id=begun.id))
        head = (await anext(events)).task
        do("release")
        states, words = [], text(head.artifacts[0].parts) if head.artifacts else ""
        async for event in events:
            if event.HasField("artifact_update"):
                update = event.artifact_update
                words = (words if update.append else "") + text(update.artifact.parts)
            else:
                states.append(state(event.status_update))
        tell("subscribe", first=state(head), states=states, text=words)

    async def cancelling(self):
        begun = await self.send(configuration=AT_ONCE, tenant="slow")
        await self.until(begun.id, "WORKING")
        await self.plain.cancel_task(a2a.CancelTaskRequest(id=begun.id))
        tell("cancel", state=state(await self.until(begun.id, "CANCELED")))

    async def pushing(self):
        push = a2a.TaskPushNotificationConfig(url=WEBHOOK, token="tok")
        configuration = a2a.SendMessageConfiguration(task_push_notification_config=push)
        task_id = (await self.send(configuration=configuration)).id
        made = await self.plain.create_task_push_notification_config(
            a2a.TaskPushNotificationConfig(task_id=task_id, id="second", url=WEBHOOK)
        )
        named = {"task_id": task_id, "id": made.id}
        read = await self.plain.get_task_push_notification_config(
            a2a.GetTaskPushNotificationConfigRequest(**named)
        )

        async def ids():
            asked = a2a.ListTaskPushNotificationConfigsRequest(task_id=task_id)
            listed = await self.plain.list_task_push_notification_configs(asked)
            return [config.id for config in listed.configs]

        before = await ids()
        delete = a2a.DeleteTaskPushNotificationConfigRequest(**named)
        deleted = await name_of(self.plain.delete_task_push_notification_config(delete))
        tell("push", url=read.url == WEBHOOK, before=len(before), after=len(await ids()), deleted=deleted)

    async def failing(self):
        done = await self.send()
        subscribe = self.streaming.subscribe(a2a.SubscribeToTaskRequest(id=done.id))
        config = a2a.TaskPushNotificationConfig(task_id=done.id, url="ftp://x")
        picture = a2a.SendMessageConfiguration(accepted_output_modes=["image/png"])
        tell(
            "errors",
            unknown=await name_of(self.plain.get_task(a2a.GetTaskRequest(id="nobody"))),
            over=await name_of(self.plain.cancel_task(a2a.CancelTaskRequest(id=done.id))),
            subscribed=await name_of(last(subscribe)),
            said=await name_of(self.send(task_id=done.id)),
            pushed=await name_of(self.plain.create_task_push_notification_config(config)),
            modes=await name_of(self.send(configuration=picture)),
            agent=await name_of(self.send(tenant="ghost")),
        )


async def main():
    def factory(streaming):
        return ClientFactory(ClientConfig(streaming=streaming, supported_protocol_bindings=["HTTP+JSON"]))

    plain = await factory(False).create_from_url(URL)
    streaming = await factory(True).create_from_url(URL)
    async with plain, streaming:
        card = await plain.get_extended_agent_card(a2a.GetExtendedAgentCardRequest())
        tell("card", name=card.name, url=card.supported_interfaces[0].url)
        walk = Walk(plain, streaming)
        await walk.sending()
        await walk.conversing()
        await walk.listing()
        await walk.streaming_it()
        await walk.subscribing()
        await walk.cancelling()
        await walk.pushing()
        await walk.failing()
    do("webhook")
    heard = [parse_strictly(line, a2a.StreamResponse()) for line in sys.stdin]
    tell("webhook", kinds=[event.WhichOneof("payload") for event in heard])


asyncio.run(main())
