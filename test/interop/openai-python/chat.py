"""Chat completions with the official clients of Python.

Prints one JSON object per line: {"step": name, ...}. Every step uses a client as its documentation shows.
"""

import asyncio
import json
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, NotFoundError, OpenAI
from pydantic import BaseModel

BASE = f"{sys.argv[1]}/v1"
KEY = "unused"


class Color(BaseModel):
    color: str


def show(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


def with_openai():
    client = OpenAI(base_url=BASE, api_key=KEY)
    show("models", ids=[model.id for model in client.models.list()])
    hi = [{"role": "user", "content": "hi"}]
    completion = client.chat.completions.create(model="echo", messages=hi)
    show("completion", text=completion.choices[0].message.content, total=completion.usage.total_tokens)
    with client.chat.completions.stream(model="echo", messages=hi) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    show("stream", text=final.choices[0].message.content, reason=final.choices[0].finish_reason)
    parsed = client.chat.completions.parse(model="steps", messages=hi, response_format=Color)
    show("parse", color=parsed.choices[0].message.parsed.color)
    try:
        client.chat.completions.create(model="unknown", messages=hi)
    except NotFoundError as error:
        show("unknown", code=error.code, param=error.param)


def with_langchain():
    @tool
    def pick(color: str) -> str:
        """Lets the user pick a color."""
        return f"picked {color}"

    model = ChatOpenAI(model="steps", base_url=BASE, api_key=KEY, stream_usage=True)
    bound = model.bind_tools([pick])
    messages = [HumanMessage("Which color?")]
    asked = bound.invoke(messages)
    messages += [asked, *(pick.invoke(call) for call in asked.tool_calls)]
    show("langchain tools", calls=[call["name"] for call in asked.tool_calls], text=bound.invoke(messages).text)
    chunks = list(ChatOpenAI(model="echo", base_url=BASE, api_key=KEY, stream_usage=True).stream("hi"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    show("langchain stream", text=whole.text, total=whole.usage_metadata["total_tokens"])
    structured = model.with_structured_output(Color, method="json_schema")
    show("langchain structured", color=structured.invoke("Which color?").color)


async def with_agents():
    @function_tool
    def pick(color: str) -> str:
        """Lets the user pick a color."""
        return f"picked {color}"

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=BASE, api_key=KEY)

    def agent(name, **more):
        return Agent(name="caller", model=OpenAIChatCompletionsModel(name, client), **more)

    result = await Runner.run(agent("steps", tools=[pick]), "Which color?")
    show("agents tools", text=result.final_output)
    streamed = Runner.run_streamed(agent("echo"), "hi")
    async for _ in streamed.stream_events():
        pass
    show("agents stream", text=streamed.final_output)


with_openai()
with_langchain()
asyncio.run(with_agents())
