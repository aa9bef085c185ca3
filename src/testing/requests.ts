import type { InputBlock } from '../schema/message.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { framesOf, type OpenRun, openRun, type TestRun } from './run.ts';

/** Requests of a test to the public routes of the service. */

/**
 * The input of a run of a test.
 *
 * @example
 * ```ts
 * const run = await troupe.run({ message: 'And tomorrow?', thread: 'first' } satisfies RunInput);
 * ```
 */
export type RunInput = {
  /** The user message: a text, or texts and files. */
  message: string | readonly InputBlock[];
  /** Default: the first agent. */
  agent?: string;
  /** Continues this thread; default: a new one. */
  thread?: string;
};

/**
 * A decision on a pending call of a test. Default: the call is resumed and approved.
 *
 * @example
 * ```ts
 * const waiting = await troupe.run('Send 500 to Ada');
 * const refusal: Decision = { action: 'cancel' };
 * const { calls } = await troupe.decide(waiting, 'call_1', refusal);
 * ```
 */
export type Decision = {
  action?: 'resume' | 'cancel';
  /** Payload for the call; the default is `{ approved: true }` for a permission. */
  payload?: unknown;
  /** Digest of the displayed call, or of the edited call. */
  digest?: string;
};

/** Sends a request to the service. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

const post = (send: Send, path: string, body: object): Promise<Response> =>
  send(path, { method: 'POST', body: JSON.stringify(body) });

/** @throws when the run is rejected */
export const startRun = async (
  send: Send,
  agentId: string | undefined,
  input: string | RunInput,
): Promise<OpenRun> => {
  const { message, agent = agentId, thread } = typeof input === 'string' ? { message: input } : input;
  const body = { agentId: agent, threadId: thread, messages: [{ role: 'user', content: message }] };
  const response = await post(send, '/v1/runs', body);
  if (!response.ok) throw new Error(`the run was rejected: ${await response.text()}`);
  return openRun(runEvents(response));
};

async function* runEvents(response: Response): AsyncGenerator<RunEvent, void> {
  // The API description of the service documents these frames.
  for await (const frame of framesOf(response)) yield frame as RunEvent;
}

/** @throws when the decision is rejected */
export const decide = async (
  send: Send,
  { id, events }: TestRun,
  callId: string,
  decision: Decision = {},
): Promise<TestRun> => {
  const { action = 'resume', payload = { approved: action === 'resume' }, digest } = decision;
  const run = `/v1/runs/${encodeURIComponent(id)}`;
  const log = await send(`${run}/events/stream`);
  const answer = await post(send, `${run}/decision`, { toolCallId: callId, action, payload, digest });
  const reason = await answer.text();
  if (!answer.ok) {
    await log.body?.cancel();
    throw new Error(`the decision on '${callId}' was rejected: ${reason}`);
  }
  return openRun(loggedEvents(log), events).end();
};

/** Yields the events of a run from its log, up to its next end or wait. */
async function* loggedEvents(response: Response): AsyncGenerator<RunEvent, void> {
  for await (const frame of framesOf(response)) {
    // The API description also documents the log; the payload of a run event has the form of the stream.
    const { event_kind, payload } = frame as { event_kind: string; payload: RunEvent };
    if (event_kind === 'ToolPermissionRequested' || !('event_type' in payload)) continue;
    yield payload;
    if (payload.event_type === 'run_finish') return;
  }
}
