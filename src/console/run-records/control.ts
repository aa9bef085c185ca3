import { framesOf } from '../../client/connection.ts';
import type { InputBlock } from '../../schema/message.ts';
import { anything, number, object, text } from '../data/guard.ts';
import { invalidate } from '../data/queries.ts';
import { pathOf, send, sendRaw } from '../data/request.ts';
import { operator } from '../data/session.ts';
import type { Ticket } from './run.ts';

/** Operations on runs and threads. Each is durable once it has returned. @throws RequestError */

/** Refetches everything that shows runs. */
export const runsChanged = (): void => invalidate('/v1/runs', '/v1/threads');

export const cancelRun = async (id: string): Promise<void> => {
  await send({ method: 'POST', path: pathOf`/v1/runs/${id}/cancel` }, anything);
};

export const cancelThread = async (id: string): Promise<void> => {
  await send({ method: 'POST', path: pathOf`/v1/threads/${id}/cancel` }, anything);
};

/** @returns the number of queued dispatches that were dropped */
export const interruptThread = async (id: string): Promise<number> => {
  const Interrupted = object({ superseded_dispatches: number });
  const answer = await send({ method: 'POST', path: pathOf`/v1/threads/${id}/interrupt` }, Interrupted);
  return answer.superseded_dispatches;
};

export type Decision = {
  /** The ticket id identifies the call; a call id may refer to several tickets. */
  ticket: Pick<Ticket, 'ticket_id'>;
  digest: string;
  action: 'resume' | 'cancel';
  /** The value passed to the tool or to the model. */
  payload?: unknown;
  reason?: string | undefined;
};

/**
 * Decides on exactly the call that was shown: the service rejects the decision if the call has a different digest. The
 * event of the decision records the operator.
 */
export const decide = async (
  runId: string,
  { ticket, digest, action, payload, reason }: Decision,
): Promise<void> => {
  const who = operator.get();
  const body = {
    tool_call_id: ticket.ticket_id,
    action,
    digest,
    ...(payload !== undefined && { payload }),
    ...(reason && { reason }),
    ...(who !== '' && { decided_by: who }),
  };
  await send({ method: 'POST', path: pathOf`/v1/runs/${runId}/decision`, body }, anything);
};

export const INPUT_MODES = ['queue', 'live_then_queue', 'interrupt_then_queue', 'resume_open_run'] as const;
export type InputMode = (typeof INPUT_MODES)[number];

export type SaidMessage = { role: string; content: string | readonly InputBlock[] };

/** `files` are sent in addition to the text, which may be empty. */
export const userMessage = (said: string, files: readonly InputBlock[] = []): SaidMessage => {
  if (files.length === 0) return { role: 'user', content: said };
  const words: InputBlock[] = said.trim() === '' ? [] : [{ type: 'text', text: said }];
  return { role: 'user', content: [...words, ...files] };
};

export const sendInput = async (runId: string, said: string, mode: InputMode): Promise<void> => {
  const body = { messages: [userMessage(said)], mode };
  await send({ method: 'POST', path: pathOf`/v1/runs/${runId}/inputs`, body }, anything);
};

const Started = object({ run_id: text, thread_id: text });

/** Starts a run that continues without its stream, which is closed as soon as it has reported the run. */
export const startRun = async (request: {
  agentId: string;
  threadId?: string | undefined;
  messages: readonly SaidMessage[];
}): Promise<{ run_id: string; thread_id: string }> => {
  const stream = new AbortController();
  try {
    const response = await sendRaw({
      method: 'POST',
      path: '/v1/runs',
      body: request,
      signal: stream.signal,
    });
    for await (const { data } of framesOf(response)) return Started(data, 'run_start');
    throw new Error('the stream of the run ended before the run began');
  } finally {
    stream.abort();
    runsChanged();
  }
};
