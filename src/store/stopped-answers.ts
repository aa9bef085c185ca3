import type { Message } from '../schema/message.ts';
import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, isId } from './keys.ts';
import type { Removals } from './removals.ts';

/**
 * What was there of answers when they were stopped. It is no part of a history and has no number in it: it is kept
 * beside the message behind which it stands, for those who show a conversation to people.
 */

export type StoppedAnswer = {
  /** Of the message behind which it stands. */
  seq: number;
  run_id: string;
  message: Message;
  /** seconds */
  created_at: number;
};

export type StoppedTable = {
  put(batch: Batch, scope: string, thread_id: string, answer: StoppedAnswer): void;
  /** In their order. Both ends are included. */
  range(scope: string, thread_id: string, bounds: { from?: number; to?: number }): StoppedAnswer[];
  /** Those behind this message, and behind later ones. */
  removeFrom(batch: Batch, scope: string, thread_id: string, seq: number): void;
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
    removeFrom(batch, scope, thread_id, seq) {
      for (const key of rows.keys({ prefix: [scope, thread_id], from: [seq] })) rows.remove(batch, key);
    },
  };
};
