import assert from 'node:assert/strict';
import { type Interrupt, type Message, HttpAgent as NewAgent, type ResumeEntry } from '@ag-ui/client';
import { type AGUIEvent, EventType } from '@ag-ui/core';
import { EventSchema } from '@ag-ui/core/schemas';
import { HttpAgent as OldAgent, EventSchemas as OldEventSchema } from 'ag-ui-client-0';
import { createAgUiEncoder } from '../../../src/protocols/ag-ui/encoder.ts';
import { splitFrames } from '../../../src/protocols/split-frames.ts';
import type { Encoder } from '../../../src/runtime/run/live-channel.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';

/** Streams as the official clients read them: version 1, and the last but one before it. */

/** The keys that an event may have (chat-and-agui.md 12). */
const KEYS: Record<string, { all: string[]; may?: string[] }> = {
  RUN_STARTED: { all: ['threadId', 'runId'], may: ['parentRunId'] },
  RUN_FINISHED: { all: ['threadId', 'runId'], may: ['result', 'outcome', 'interrupt'] },
  RUN_ERROR: { all: ['message'], may: ['code'] },
  STEP_STARTED: { all: ['stepName'] },
  STEP_FINISHED: { all: ['stepName'] },
  TEXT_MESSAGE_START: { all: ['messageId', 'role'] },
  TEXT_MESSAGE_CONTENT: { all: ['messageId', 'delta'] },
  TEXT_MESSAGE_END: { all: ['messageId'] },
  REASONING_MESSAGE_START: { all: ['messageId', 'role'] },
  REASONING_MESSAGE_CONTENT: { all: ['messageId', 'delta'] },
  REASONING_MESSAGE_END: { all: ['messageId'] },
  REASONING_ENCRYPTED_VALUE: { all: ['subtype', 'entityId', 'encryptedValue'] },
  TOOL_CALL_START: { all: ['toolCallId', 'toolCallName', 'parentMessageId'] },
  TOOL_CALL_ARGS: { all: ['toolCallId', 'delta'] },
  TOOL_CALL_END: { all: ['toolCallId'] },
  TOOL_CALL_RESULT: { all: ['messageId', 'toolCallId', 'content', 'role'] },
  STATE_SNAPSHOT: { all: ['snapshot'] },
  STATE_DELTA: { all: ['delta'] },
  MESSAGES_SNAPSHOT: { all: ['messages'] },
  ACTIVITY_SNAPSHOT: { all: ['messageId', 'activityType', 'content'], may: ['replace'] },
  ACTIVITY_DELTA: { all: ['messageId', 'activityType', 'patch'] },
};

const checkKeys = (event: object & { type: string }): void => {
  const rule = KEYS[event.type];
  assert.ok(rule, `no such event: ${event.type}`);
  const { type, ...rest } = event;
  const allowed = [...rule.all, ...(rule.may ?? [])];
  for (const key of rule.all) assert.ok(key in rest, `${type} lacks ${key}`);
  for (const [key, value] of Object.entries(rest)) {
    assert.ok(allowed.includes(key), `${type} has ${key}`);
    assert.notEqual(value, null, `${type} has null in ${key}`);
  }
};

/** An event, with the key of clients without interrupts. */
export type WireEvent = AGUIEvent & { interrupt?: unknown };

/** The events in some frames, each validated by the official schemas. */
export const eventsOf = (frames: string): WireEvent[] =>
  splitFrames(frames).map((frame) => {
    const json = /^data: (\{.*\})\n\n$/s.exec(frame)?.[1];
    assert.ok(json !== undefined, `not a frame: ${frame}`);
    const event = JSON.parse(json);
    for (const schema of [EventSchema, OldEventSchema]) {
      const { success, error } = schema.safeParse(event);
      assert.ok(success, `${frame}${error?.message}`);
    }
    checkKeys(event);
    if ('delta' in event) assert.notEqual(event.delta, '', 'early clients refuse an empty delta');
    return event;
  });

export const encodeAll = (events: readonly RunEvent[], encoder: Encoder = createAgUiEncoder()): string =>
  events.map((event) => encoder.event(event)).join('');

export const VERSIONS = [NewAgent, OldAgent];

export type Version = (typeof VERSIONS)[number];

export type Played = {
  messages: Message[];
  state: unknown;
  result: unknown;
  interrupts: Interrupt[];
  /** The error of the client, if any. */
  error: string | undefined;
};

/** A client with a conversation, which receives the frames of a response without a server. */
export const createClient = (Agent: Version = NewAgent, messages: Message[] = []) => {
  let frames = '';
  const sent: Record<string, unknown>[] = [];
  const agent = new Agent({
    url: 'http://127.0.0.1/v1/ag-ui/run',
    threadId: 'T',
    // The messages of both versions are identical in these tests.
    initialMessages: messages as never[],
    fetch: async (_url, { body }) => {
      sent.push(JSON.parse(String(body)));
      return new Response(frames, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  // The messages of both versions are identical in these tests.
  const held = (): Message[] => structuredClone(agent.messages) as Message[];
  return {
    agent,
    sent,
    messages: held,
    async play(response: string, options: { resume?: ResumeEntry[] } = {}): Promise<Played> {
      frames = response;
      const { result, error } = await quietly(() => agent.runAgent(options));
      return {
        messages: held(),
        state: agent.state,
        result,
        interrupts: agent.pendingInterrupts,
        error,
      };
    },
  };
};

/** The client warns about everything it cannot apply; the legacy key must be the only one. */
export const quietly = async (run: () => Promise<{ result: unknown }>) => {
  const { warn, error } = console;
  const warnings: string[] = [];
  console.warn = (...said: unknown[]) => warnings.push(said.join(' '));
  console.error = () => {};
  try {
    const { result } = await run();
    return { result, error: undefined };
  } catch (error) {
    return { result: undefined, error: error instanceof Error ? error.message : String(error) };
  } finally {
    Object.assign(console, { warn, error });
    const others = warnings.filter((line) => !line.includes("'/interrupt' on RUN_FINISHED"));
    assert.deepEqual(others, []);
  }
};

/** The state after a response, which is the same for every version. */
export const play = async (frames: string, messages: Message[] = []): Promise<Played> => {
  eventsOf(frames);
  const [first, ...others] = await inTurn(VERSIONS, (Agent) => createClient(Agent, messages).play(frames));
  assert.ok(first);
  for (const other of others) assert.deepEqual(other, first);
  return first;
};

const inTurn = async <In, Out>(values: readonly In[], act: (value: In) => Promise<Out>): Promise<Out[]> => {
  const results: Out[] = [];
  for (const value of values) results.push(await act(value));
  return results;
};

/** Types of events with their distinguishing id or text. */
export const summary = (frames: string): string[] =>
  eventsOf(frames).map((event) => {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
      case EventType.REASONING_MESSAGE_CONTENT:
        return `${event.type} ${event.messageId} ${event.delta}`;
      case EventType.TOOL_CALL_ARGS:
        return `${event.type} ${event.toolCallId} ${event.delta}`;
      case EventType.TOOL_CALL_RESULT:
        return `${event.type} ${event.toolCallId} ${event.content}`;
      case EventType.STEP_STARTED:
      case EventType.STEP_FINISHED:
        return `${event.type} ${event.stepName}`;
      case EventType.RUN_STARTED:
        return `${event.type} ${event.runId}`;
      case EventType.RUN_ERROR:
        return `${event.type} ${event.message}`;
      default:
        if ('toolCallId' in event) return `${event.type} ${event.toolCallId}`;
        return 'messageId' in event ? `${event.type} ${event.messageId}` : event.type;
    }
  });
