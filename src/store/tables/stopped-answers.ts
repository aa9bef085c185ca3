import type { Message } from '../../schema/message.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import type { Removals } from '../engine/removals.ts';

/**
 * The partial text of stopped answers. It is not part of a history and has no sequence number: it is stored with the
 * message before it, for clients that show a conversation to people.
 */

export type StoppedAnswer = {
  /** Sequence number of the message before it. */
  seq: number;
  run_id: string;
  message: Message;
  /** Seconds. */
  created_at: number;
};

export type StoppedTable = {
  put(batch: Batch, scope: string, thread_id: string, answer: StoppedAnswer): void;
  /** In order. Both ends are inclusive. */
  range(scope: string, thread_id: string, bounds: { from?: number; to?: number }): StoppedAnswer[];
  /** Removes the answers after this message, and after later ones up to another. */
  removeFrom(batch: Batch, scope: string, thread_id: string, seq: number, to?: number): void;
};

export const createStoppedTable = (env: Environment, removals: Pick<Removals, 'isMarked'>): StoppedTable => {
  const rows = env.table<StoppedAnswer>('stopped_answers');
  return {
    put(batch, scope, thread_id, answer) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      checkId('run id', answer.run_id);
      rows.put(batch, [scope, thread_id, answer.seq, answer.run_id], answer);
    },
    range: (scope, thread_id, { from, to }) =>
      isId(thread_id) && !removals.isMarked(scope, thread_id)
        ? Array.from(
            rows.values({
              prefix: [scope, thread_id],
              ...(from !== undefined && { from: [from] }),
              ...(to !== undefined && { to: [to] }),
            }),
          )
        : [],
    removeFrom(batch, scope, thread_id, seq, to) {
      const span = { prefix: [scope, thread_id], from: [seq], ...(to !== undefined && { to: [to] }) };
      for (const key of rows.keys(span)) rows.remove(batch, key);
    },
  };
};
