import { seconds } from '../schema/clock.ts';
import type { ContentBlock } from '../schema/message.ts';
import { Conflict, Invalid, NotFound } from '../schema/outcome.ts';
import type { Boundary, DeliveryMode, PendingMessage } from '../schema/pending.ts';
import type { RuntimeDeps } from './deps.ts';
import { historyOf } from './ledger.ts';
import type { UserMessage } from './submission.ts';
import { userMessage } from './submission.ts';
import type { Use } from './supervisor.ts';
import type { Thread } from './thread.ts';
import { steerThread } from './thread-requests.ts';
import { commit, openWrite, restage, stage } from './write.ts';

/**
 * Messages that wait to join a history, for programs that embed the service (runtime.md 9.3). An edit names the
 * revision that it is based on; what has joined the history meanwhile cannot be edited any more.
 */

/** When the message joins; the rest of the mode has its defaults. */
export type Delivery = Partial<Omit<DeliveryMode, 'boundary'>> & {
  boundary: Exclude<Boundary, 'resume_input'>;
};

export type PendingEdits = {
  list(scope: string, thread_id: string): Promise<readonly PendingMessage[]>;
  /** Adds a message. It is delivered with the next boundary of its kind; it starts no run by itself. */
  add(scope: string, thread_id: string, message: UserMessage, delivery: Delivery): Promise<PendingMessage>;
  /** @throws NotFound, Conflict */
  update(scope: string, thread_id: string, at: PendingAt, content: ContentBlock[]): Promise<PendingMessage>;
  /** Moves it to a position, from 1. @throws NotFound, Conflict */
  reorder(scope: string, thread_id: string, at: PendingAt, position: number): Promise<void>;
  /** @throws NotFound, Conflict */
  remove(scope: string, thread_id: string, at: PendingAt): Promise<void>;
};

/** A message and the revision that the caller has seen. */
export type PendingAt = { pending_id: string; revision: number };

export const createPendingEdits = (
  { clock, ids }: Pick<RuntimeDeps, 'clock' | 'ids'>,
  use: Use,
): PendingEdits => {
  const inThread: Use = (scope, thread_id, act) =>
    use(scope, thread_id, (thread) => {
      if (!thread.ledger.record) throw new NotFound(`thread not found: ${thread_id}`);
      return act(thread);
    });

  /** Replaces what waits by a changed list, in one commit. */
  const rewrite = async (
    { ledger }: Thread,
    change: (entries: readonly PendingMessage[], at: number) => PendingMessage[],
  ): Promise<void> => {
    const write = openWrite(ledger, clock.now());
    restage(write, change(ledger.pending, seconds(write.at)));
    await commit(write, 'input');
  };

  return {
    list: (scope, thread_id) => inThread(scope, thread_id, ({ ledger }) => ledger.pending),
    add: (scope, thread_id, message, { granularity = 'batch', ...delivery }) =>
      inThread(scope, thread_id, async (thread) => {
        const { ledger } = thread;
        const write = openWrite(ledger, clock.now());
        const [staged] = stage(write, [userMessage(ids.uuid(), message)], { ...delivery, granularity });
        const durable = commit(write, 'input');
        if (delivery.boundary === 'next_step') steerThread(thread);
        await durable;
        if (!staged) throw new Invalid('a pending message needs content');
        return staged;
      }),
    update: (scope, thread_id, at, content) =>
      inThread(scope, thread_id, async (thread) => {
        const entry = entryAt(thread, at);
        const edited: PendingMessage = {
          ...entry,
          message: { ...entry.message, content },
          revision: entry.revision + 1,
          updated_at: seconds(clock.now()),
        };
        await rewrite(thread, (entries) => entries.map((other) => (other === entry ? edited : other)));
        return edited;
      }),
    reorder: (scope, thread_id, at, position) =>
      inThread(scope, thread_id, (thread) => {
        const entry = entryAt(thread, at);
        const size = thread.ledger.pending.length;
        if (!Number.isInteger(position) || position < 1 || position > size)
          throw new Invalid(`position must be an integer from 1 to ${size}, got ${position}`);
        return rewrite(thread, (entries, now) => {
          const others = entries.filter((other) => other !== entry);
          const moved = { ...entry, revision: entry.revision + 1, updated_at: now };
          return [...others.slice(0, position - 1), moved, ...others.slice(position - 1)];
        });
      }),
    remove: (scope, thread_id, at) =>
      inThread(scope, thread_id, (thread) => {
        const entry = entryAt(thread, at);
        return rewrite(thread, (entries) => entries.filter((other) => other !== entry));
      }),
  };
};

const entryAt = ({ ledger }: Thread, { pending_id, revision }: PendingAt): PendingMessage => {
  const entry = ledger.pending.find((other) => other.pending_id === pending_id);
  if (!entry) {
    const consumed = historyOf(ledger).some(({ id }) => id === pending_id);
    if (consumed) throw new Conflict(`pending message '${pending_id}' is already consumed`);
    throw new NotFound(`pending message not found: ${pending_id}`);
  }
  if (entry.revision !== revision)
    throw new Conflict(`version conflict: expected ${revision}, actual ${entry.revision}`);
  return entry;
};
