import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Messages of A2A clients by their fingerprint, so that a repeated message is recognized, even after a restart. A row
 * is kept for `KEPT_MS`; each new row removes up to two older ones, so the number of rows never exceeds the number of
 * messages accepted in that time.
 */

export type ReceivedMessage = {
  task_id: string;
  /** The id of the message in its thread. */
  message_id: string;
  /** Milliseconds. */
  accepted_at: number;
};

export type ReceivedTable = {
  get(scope: string, fingerprint: string, now: number): ReceivedMessage | undefined;
  put(batch: Batch, scope: string, fingerprint: string, message: ReceivedMessage): void;
};

/** The columns of a shipped row. */
export const receivedColumns = ({ accepted_at }: ReceivedMessage, [scope]: Key): Columns => ({
  scope: String(scope),
  at: accepted_at,
});

const KEPT_MS = 24 * 3_600_000;
const REMOVED_AT_ONCE = 2;

type ByTime = { scope: string; fingerprint: string };

export const createReceivedTable = (env: Environment): ReceivedTable => {
  const rows = env.table<ReceivedMessage>('received_messages');
  const times = env.table<ByTime>('received_message_times');
  return {
    get(scope, fingerprint, now) {
      const found = rows.get([scope, fingerprint]);
      return found && now - found.accepted_at < KEPT_MS ? found : undefined;
    },
    put(batch, scope, fingerprint, message) {
      checkId('scope', scope);
      for (const { key, value } of times.entries({ prefix: [], limit: REMOVED_AT_ONCE })) {
        if (Number(key[0]) > message.accepted_at - KEPT_MS) break;
        times.remove(batch, key);
        rows.remove(batch, [value.scope, value.fingerprint]);
      }
      rows.put(batch, [scope, fingerprint], message);
      times.put(batch, [message.accepted_at, scope, fingerprint], { scope, fingerprint });
    },
  };
};
