"""Responses with the official clients of Python.

Prints one JSON object per line: {"step": name, ...}. Every step uses a client as its documentation shows.
"""

import asyncio
import io
import json
import sys

from agents import (
    Agent,
    HostedMCPTool,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, BadRequestError, ConflictError, NotFoundError, OpenAI
from pydantic import BaseModel

BASE = f"{sys.argv[1]}/v1"
KEY = "unused"
PICK = {"type": "function", "name": "pick", "parameters": {"type": "object"}, "strict": False}


class Color(BaseModel):
    color: str


def show(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


def failure(kind, act):
    try:
        act()
    except kind as error:
        return {"status": error.status_code, "code": error.code, "param": error.param}


def with_openai():
    client = OpenAI(base_url=BASE, api_key=KEY)
    with client.responses.stream(model="echo", input="hi") as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    stored = client.responses.retrieve(final.id)
    show("stream", text=final.output_text, first=types[0], last=types[-1], same=stored.output_text == final.output_text)
    parsed = client.responses.parse(model="steps", input="Which color?", text_format=Color)
    show("parse", color=parsed.output_parsed.color)
    events = client.responses.retrieve(final.id, stream=True, starting_after=2)
    numbers = [event.sequence_number for event in events]
    show("reconnect", first=numbers[0], count=len(numbers), all=len(types))
    asked = client.responses.create(model="steps", input="a", tools=[PICK])
    call = next(item for item in asked.output if item.type == "function_call")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "red"}
    done = client.responses.create(model="steps", previous_response_id=asked.id, input=[output])
    show("function", name=call.name, text=done.output_text)


def with_resources():
    client = OpenAI(base_url=BASE, api_key=KEY)
    file = client.files.create(file=("a.txt", io.BytesIO(b"hello")), purpose="user_data")
    text = client.files.content(file.id).text
    content = [{"type": "input_text", "text": "See:"}, {"type": "input_file", "file_id": file.id}]
    answer = client.responses.create(model="echo", input=[{"role": "user", "content": content}])
    items = client.responses.input_items.list(answer.id).data
    listed = [each.id for each in client.files.list()]
    show("file", text=text, listed=file.id in listed, item=items[0].content[1].file_id == file.id)
    show("file missing", **failure(BadRequestError, lambda: client.responses.create(
        model="echo", input=[{"role": "user", "content": [{"type": "input_file", "file_id": "file-none"}]}])))
    show("file deleted", deleted=client.files.delete(file.id).deleted,
         **failure(NotFoundError, lambda: client.files.retrieve(file.id)))
    conversation = client.conversations.create(items=[{"role": "user", "content": "one"}], metadata={"topic": "a"})
    client.responses.create(model="echo", conversation=conversation.id, input="two")
    roles = [item.role for item in client.conversations.items.list(conversation.id, order="asc")]
    show("conversation", roles=roles, topic=client.conversations.retrieve(conversation.id).metadata["topic"])


def with_failures():
    client = OpenAI(base_url=BASE, api_key=KEY)
    running = client.responses.create(model="slow", input="hi", background=True)
    busy = OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
    show("errors",
         missing=failure(NotFoundError, lambda: client.responses.retrieve("resp_none")),
         model=failure(NotFoundError, lambda: client.responses.create(model="none", input="hi")),
         invalid=failure(BadRequestError, lambda: client.responses.create(model="echo", input="hi", temperature=9)),
         locked=failure(ConflictError, lambda: busy.responses.create(
             model="slow", input="hi", conversation=running.conversation.id)))
    show("background", status=running.status, cancelled=client.responses.cancel(running.id).status)
    stream = client.responses.create(model="slow", input="hi", stream=True)
    for event in stream:
        if event.type == "response.created":
            response = event.response
        if event.type == "response.output_text.delta":
            break
    stream.close()
    while client.responses.retrieve(response.id).status == "in_progress":
        pass
    show("abort", status=client.responses.retrieve(response.id).status)


def with_langchain():
    @tool
    def pick(color: str) -> str:
        """Lets the user pick a color."""
        return f"picked {color}"

    def model(name, **more):
        return ChatOpenAI(model=name, base_url=BASE, api_key=KEY, use_responses_api=True, **more)

    bound = model("steps").bind_tools([pick])
    messages = [HumanMessage("Which color?")]
    asked = bound.invoke(messages)
    messages += [asked, *(pick.invoke(call) for call in asked.tool_calls)]
    answer = bound.invoke(messages)
    show("langchain tools", calls=[call["name"] for call in asked.tool_calls], text=answer.text)
    messages += [answer, HumanMessage("two")]
    show("langchain history", text=model("echo").invoke(messages).text)
    chained = model("echo", use_previous_response_id=True)
    first = chained.invoke("one")
    show("langchain chain", text=chained.invoke([HumanMessage("one"), first, HumanMessage("two")]).text)
    chunks = list(model("echo", stream_usage=True).stream("hi"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    show("langchain stream", text=whole.text, total=whole.usage_metadata["total_tokens"])
    structured = model("steps").with_structured_output(Color, method="json_schema")
    show("langchain structured", color=structured.invoke("Which color?").color)
    called = model("steps").invoke("Note it.")
    show("langchain own tool", calls=called.tool_calls, text=called.text)


async def with_agents():
    @function_tool
    def pick(color: str) -> str:
        """Lets the user pick a color."""
        return f"picked {color}"

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=BASE, api_key=KEY)

    def agent(model, name="caller", **more):
        return Agent(name=name, model=OpenAIResponsesModel(model, client), **more)

    async def thread_of(result):
        return (await client.responses.retrieve(result.last_response_id)).conversation.id

    result = await Runner.run(agent("steps", tools=[pick]), "Which color?")
    show("agents tools", text=result.final_output)
    streamed = Runner.run_streamed(agent("steps"), "Note it.")
    async for _ in streamed.stream_events():
        pass
    show("agents own tool", text=streamed.final_output, items=[item.type for item in streamed.new_items])

    first = await Runner.run(agent("echo"), "one")
    second = await Runner.run(agent("echo"), "two", previous_response_id=first.last_response_id)
    third = await Runner.run(agent("echo"), "three", conversation_id=await thread_of(first))
    threads = [await thread_of(each) for each in (first, second, third)]
    show("agents thread", text=third.final_output, threads=len(set(threads)))

    first = await Runner.run(agent("echo"), "one")
    history = first.to_input_list() + [{"role": "user", "content": "two"}]
    second = await Runner.run(agent("echo"), history)
    changed = json.loads(json.dumps(history).replace("echo: one", "other"))
    third = await Runner.run(agent("echo"), changed)
    threads = [await thread_of(each) for each in (first, second, third)]
    show("agents history", text=third.final_output, same=threads[0] == threads[1], changed=threads[0] != threads[2])

    session = SQLiteSession("a")
    first = await Runner.run(agent("echo"), "one", session=session)
    second = await Runner.run(agent("echo"), "two", session=session)
    kept = OpenAIConversationsSession(openai_client=client)
    await Runner.run(agent("echo"), "one", session=kept)
    last = await Runner.run(agent("echo"), "two", session=kept)
    show("agents sessions", text=last.final_output, same=await thread_of(first) == await thread_of(second),
         items=len(await kept.get_items()))

    hosted = HostedMCPTool(tool_config={
        "type": "mcp", "server_label": "troupe", "server_url": "http://unused.invalid", "require_approval": "always"})
    for name in ("approve", "reject"):
        asking = agent("steps", tools=[hosted])
        asked = await Runner.run(asking, "Risk it.")
        state = asked.to_state()
        getattr(state, name)(asked.interruptions[0])
        result = await Runner.run(asking, state)
        show(f"agents {name}", text=result.final_output, asked=len(asked.interruptions))

    target = agent("echo", name="target")
    result = await Runner.run(agent("steps", handoffs=[target]), "hi")
    show("agents handoff", text=result.final_output, agent=result.last_agent.name)


with_openai()
with_resources()
with_failures()
with_langchain()
asyncio.run(with_agents())
