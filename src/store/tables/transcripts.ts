import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * The positions in threads of answers that clients of OpenAI were sent, by chat and digest of the conversation up to the
 * answer (openai.md 5.2), and the same by thread, to remove them with it. The owner of the chat is part of the scope.
 */

export type Transcript = {
  thread_id: string;
  /** Number of the last message of the thread at the end of the answer. */
  seq: number;
  /** Digest of the message of the user that was answered. */
  asked: string;
  /** Milliseconds. */
  at: number;
};

/** What an answer belongs to. */
export type TranscriptPlace = { scope: string; chat: string; agent_id: string; digest: string };

export type TranscriptTable = {
  put(batch: Batch, place: TranscriptPlace, transcript: Transcript): void;
  /** Newest first, at most `limit`. */
  find(place: TranscriptPlace, limit: number): Transcript[];
  removeAll(batch: Batch, scope: string, thread_id: string): void;
};

/** The columns of a shipped row. */
export const transcriptColumns = ({ thread_id, at }: Transcript, [scope]: Key): Columns => ({
  scope: String(scope),
  b: thread_id,
  at,
});

export const createTranscriptTable = (env: Environment): TranscriptTable => {
  const rows = env.table<Transcript>('transcripts');
  const byThread = env.table<Omit<TranscriptPlace, 'scope'> & Pick<Transcript, 'at'>>('thread_transcripts');
  const keyOf = ({ scope, chat, agent_id, digest }: TranscriptPlace): Key => [
    scope,
    indexed(chat),
    indexed(agent_id),
    digest,
  ];
  return {
    put(batch, place, transcript) {
      const { scope, ...rest } = place;
      const { thread_id, seq, at } = transcript;
      checkId('scope', scope);
      checkId('thread id', thread_id);
      rows.put(batch, [...keyOf(place), at, thread_id], transcript);
      byThread.put(batch, [scope, thread_id, seq], { ...rest, at });
    },
    find: (place, limit) => Array.from(rows.values({ prefix: keyOf(place), reverse: true, limit })),
    removeAll(batch, scope, thread_id) {
      if (!isId(thread_id)) return;
      for (const { at, ...place } of byThread.values({ prefix: [scope, thread_id] }))
        rows.remove(batch, [...keyOf({ scope, ...place }), at, thread_id]);
      byThread.clear(batch, [scope, thread_id]);
    },
  };
};
