import type { UIMessage } from 'ai';
import { call, path } from '../client/connection.ts';
import { NotFound } from '../client/errors.ts';
import type { Run } from '../schema/run.ts';
import { failureOf } from '../schema/run-failure.ts';
import type { ThreadChat } from './thread.ts';

/** Reads the stored state of a thread; every function sends a request. @throws TroupeError, ConnectionLost */

type Active = { active_run: { status: string } | null };
type Stored = { record: string; messages: UIMessage[]; status: string | undefined };

/** Reads in this order: changes in between are detected by the next poll, and a run that ends is read again. */
export const readStored = async (thread: ThreadChat): Promise<Stored> => {
  const record = await recordOf(thread);
  const { chat, connection } = thread;
  const { active_run } = await call<Active>(connection, 'GET', path`/v1/threads/${chat.id}/runs/active`);
  return { record, messages: await lastMessages(thread, 200), status: active_run?.status };
};

const lastMessages = async ({ chat, connection }: ThreadChat, limit: number): Promise<UIMessage[]> => {
  const history = path`/v1/ai-sdk/threads/${chat.id}/messages`;
  const query = { order: 'desc', limit };
  const { messages } = await call<{ messages: UIMessage[] }>(connection, 'GET', history, { query });
  return messages.reverse();
};

/** Returns undefined instead of throwing NotFound. */
export const ifThere = <Answer>(request: Promise<Answer>): Promise<Answer | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });

/** Returns the thread record, which every change modifies; empty while the thread has no messages. */
const recordOf = async (thread: ThreadChat): Promise<string> => {
  const { chat, connection, seen } = thread;
  // Browsers log every 404, so the existence of a new thread is checked with another request.
  if (!seen && (await lastMessages(thread, 1)).length === 0) return '';
  const record = await ifThere(call(connection, 'GET', path`/v1/threads/${chat.id}`));
  return record === undefined ? '' : JSON.stringify(record);
};

/** Checks an error that a stream has reported: a stopped service resumes its runs, which may then succeed. */
export const hasFailed = async ({ chat, connection }: ThreadChat): Promise<boolean> => {
  const latest = path`/v1/threads/${chat.id}/runs/latest`;
  const run = await ifThere(call<Run>(connection, 'GET', latest));
  const end = run?.termination_reason;
  return end !== undefined && failureOf(end) !== undefined;
};

/** Returns whether the thread is unchanged since it was read. */
export const isUnchanged = async (thread: ThreadChat): Promise<boolean> => {
  const { seen } = thread;
  return (await recordOf(thread)) === seen;
};
