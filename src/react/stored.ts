import type { UIMessage } from 'ai';
import { call, path } from '../client/connection.ts';
import { NotFound } from '../client/errors.ts';
import type { ThreadChat } from './thread.ts';

/** What the service has of a thread. Each asks it. @throws TroupeError, ConnectionLost */

type Active = { active_run: { status: string } | null };
type Stored = { record: string; messages: UIMessage[]; status: string | undefined };

/** In this order: what changes in between is noticed at the next look, and a run that ends is looked at again. */
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

/** Undefined for what there is not. */
export const ifThere = <Answer>(asked: Promise<Answer>): Promise<Answer | undefined> =>
  asked.catch((error: unknown) => {
    if (error instanceof NotFound) return undefined;
    throw error;
  });

/** The thread as the service has it, which each change of it changes; empty while nobody has said anything. */
const recordOf = async (thread: ThreadChat): Promise<string> => {
  const { chat, connection, seen } = thread;
  // Browsers tell their users of whatever is not there, so that is asked for in another way.
  if (!seen && (await lastMessages(thread, 1)).length === 0) return '';
  const record = await ifThere(call(connection, 'GET', path`/v1/threads/${chat.id}`));
  return record === undefined ? '' : JSON.stringify(record);
};

/** Of an error that a stream has told: a service that stopped takes its runs up again, and they may end well. */
export const hasFailed = async ({ chat, connection }: ThreadChat): Promise<boolean> => {
  const latest = path`/v1/threads/${chat.id}/runs/latest`;
  const run = await ifThere(call<{ termination_reason?: { type: string } }>(connection, 'GET', latest));
  return run?.termination_reason?.type === 'error';
};

/** Whether nobody has changed the thread since it was read. */
export const isUnchanged = async (thread: ThreadChat): Promise<boolean> => {
  const { seen } = thread;
  return (await recordOf(thread)) === seen;
};
