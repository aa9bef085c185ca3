import type { InputBlock } from '../schema/message.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { framesOf, type OpenRun, openRun, type TestRun } from './run.ts';

/** What a test asks of the service, by its public routes. */

export type RunInput = {
  /** What the user says: a text, or texts and files. */
  message: string | readonly InputBlock[];
  /** Default: the first agent. */
  agent?: string;
  /** Goes on with this thread; default: a new one. */
  thread?: string;
};

export type Decision = {
  action?: 'resume' | 'cancel';
  /** What the call gets; `{ approved: true }` where a permission is asked for, which is the default. */
  payload?: unknown;
  /** Of the call that was shown, or of the edited call. */
  digest?: string;
};

/** Sends a request to the service. */
export type Send = (path: string, init?: RequestInit) => Promise<Response>;

const post = (send: Send, path: string, body: object): Promise<Response> =>
  send(path, { method: 'POST', body: JSON.stringify(body) });

/** @throws when the run is refused */
export const startRun = async (
  send: Send,
  agentId: string | undefined,
  input: string | RunInput,
): Promise<OpenRun> => {
  const { message, agent = agentId, thread } = typeof input === 'string' ? { message: input } : input;
  const body = { agentId: agent, threadId: thread, messages: [{ role: 'user', content: message }] };
  const response = await post(send, '/v1/runs', body);
  if (!response.ok) throw new Error(`the run is refused: ${await response.text()}`);
  return openRun(runEvents(response));
};

async function* runEvents(response: Response): AsyncGenerator<RunEvent, void> {
  // The service says of this stream in its API description that these are its frames.
  for await (const frame of framesOf(response)) yield frame as RunEvent;
}

/** @throws when the decision is refused */
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
  const said = await answer.text();
  if (!answer.ok) {
    await log.body?.cancel();
    throw new Error(`the decision on '${callId}' is refused: ${said}`);
  }
  return openRun(loggedEvents(log), events).end();
};

/** The events of a run as they stand in its log, up to its next end or wait. */
async function* loggedEvents(response: Response): AsyncGenerator<RunEvent, void> {
  for await (const frame of framesOf(response)) {
    // The same for the log; the payload of an event of a run is what its stream has.
    const { event_kind, payload } = frame as { event_kind: string; payload: RunEvent };
    if (event_kind === 'ToolPermissionRequested' || !('event_type' in payload)) continue;
    yield payload;
    if (payload.event_type === 'run_finish') return;
  }
}
