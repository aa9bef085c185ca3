import { seconds } from '../../schema/clock.ts';
import type { ContentBlock } from '../../schema/message.ts';
import { Conflict, Invalid, NotFound } from '../../schema/outcome.ts';
import type { Boundary, DeliveryMode, PendingMessage } from '../../schema/pending.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { historyOf } from '../ledger/ledger.ts';
import { restage, stage } from '../ledger/transaction.ts';
import { noteInput, steerRun } from '../run/control.ts';
import type { Use } from './actors.ts';
import { type Thread, writeNow } from './state.ts';
import type { UserMessage } from './submission.ts';
import { userMessage } from './submission.ts';

/**
 * Edits of pending messages of a history, for embedding programs (runtime.md 9.3). An edit names the revision that it
 * is based on; a message that has joined the history can no longer be edited.
 */

/**
 * The boundary at which an added message joins the history (runtime.md 9.1); the other fields have defaults.
 *
 * @example
 * ```ts
 * const delivery: Delivery = { boundary: 'next_step', barrier: true };
 * ```
 */
export type Delivery = Partial<Omit<DeliveryMode, 'boundary'>> & {
  boundary: Exclude<Boundary, 'resume_input'>;
};

/**
 * Lists, adds, changes, orders and removes messages that are waiting to join a history (runtime.md 9):
 * `troupe.pending`. `scope` is that of the thread.
 *
 * @example
 * ```ts
 * const [first] = await troupe.pending.list('default', 'first');
 * if (first) await troupe.pending.update('default', 'first', first, [{ type: 'text', text: 'Shorter, please.' }]);
 * ```
 */
export type PendingEdits = {
  /** Lists pending messages in their order. @throws NotFound */
  list(scope: string, thread_id: string): Promise<readonly PendingMessage[]>;
  /** Adds a message. It is delivered at the next boundary of its kind; it does not start a run. @throws NotFound */
  add(scope: string, thread_id: string, message: UserMessage, delivery: Delivery): Promise<PendingMessage>;
  /** Replaces the content of a message. @throws NotFound; Conflict if it has changed or joined */
  update(scope: string, thread_id: string, at: PendingAt, content: ContentBlock[]): Promise<PendingMessage>;
  /** Moves a message to a position, starting at 1. @throws NotFound; Conflict if it has changed or joined */
  reorder(scope: string, thread_id: string, at: PendingAt, position: number): Promise<void>;
  /** Removes a message. @throws NotFound; Conflict if it has changed or joined */
  remove(scope: string, thread_id: string, at: PendingAt): Promise<void>;
};

/**
 * A pending message and the revision that the caller has seen. A `PendingMessage` is one.
 *
 * @example
 * ```ts
 * const at: PendingAt = { pending_id: 'message-1', revision: 1 };
 * await troupe.pending.remove('default', 'first', at);
 * ```
 */
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

  return {
    list: (scope, thread_id) => inThread(scope, thread_id, ({ ledger }) => ledger.pending),
    add: (scope, thread_id, message, { granularity = 'batch', ...delivery }) =>
      inThread(scope, thread_id, async (thread) => {
        const write = writeNow(thread);
        const [staged] = stage(write, [userMessage(ids.uuid(), message)], { ...delivery, granularity });
        const { active } = thread;
        const steers = active && delivery.boundary === 'next_step';
        if (steers && (delivery.target_run_id ?? active.run_id) === active.run_id) noteInput(active, write);
        const durable = commit(write, 'input');
        if (steers) steerRun(active);
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

/** Replaces the pending messages with a changed list, in one commit. */
async function rewrite(
  thread: Thread,
  change: (entries: readonly PendingMessage[], at: number) => PendingMessage[],
): Promise<void> {
  const write = writeNow(thread);
  restage(write, change(thread.ledger.pending, seconds(write.at)));
  await commit(write, 'input');
}

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
