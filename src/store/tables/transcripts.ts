import type { Thread } from '../../schema/thread.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * The positions in threads of answers that clients of OpenAI were sent, by chat and digest of the conversation up to the
 * answer (openai.md 5.2). The owner of the chat is part of the scope. The resource of a thread is its chat, so the rows of
 * a thread are found among those of its chat when it is removed, and need no list.
 */

export type Transcript = {
  thread_id: string;
  /** Number of the last message of the thread at the end of the answer. */
  seq: number;
  /** Digest of the message of the user that was answered. */
  asked: string;
  /** An answer whose text is compared, because the client may know another part: its run, and the message before it. */
  answer?: { run_id: string; from_seq: number };
  /** Milliseconds. */
  at: number;
};

/** What an answer belongs to. */
export type TranscriptPlace = { scope: string; chat: string; agent_id: string; digest: string };

export type TranscriptTable = {
  put(batch: Batch, place: TranscriptPlace, transcript: Transcript): void;
  /** Newest first, at most `limit`. */
  find(place: TranscriptPlace, limit: number): Transcript[];
  /** Removes the positions in a thread. Cost: one key for each answer in its chat. */
  removeAll(batch: Batch, scope: string, thread: Pick<Thread, 'id' | 'resource_id'>): void;
};

/** The columns of a shipped row. */
export const transcriptColumns = ({ thread_id, at }: Transcript, [scope]: Key): Columns => ({
  scope: String(scope),
  b: thread_id,
  at,
});

export const createTranscriptTable = (env: Environment): TranscriptTable => {
  const rows = env.table<Transcript>('transcripts');
  const keyOf = ({ scope, chat, agent_id, digest }: TranscriptPlace): Key => [
    scope,
    indexed(chat),
    indexed(agent_id),
    digest,
  ];
  return {
    put(batch, place, transcript) {
      const { thread_id, at } = transcript;
      checkId('scope', place.scope);
      checkId('thread id', thread_id);
      rows.put(batch, [...keyOf(place), at, thread_id], transcript);
    },
    find: (place, limit) => Array.from(rows.values({ prefix: keyOf(place), reverse: true, limit })),
    removeAll(batch, scope, { id, resource_id }) {
      if (resource_id === undefined) return;
      for (const key of rows.keys({ prefix: [scope, indexed(resource_id)] }))
        if (key.at(-1) === id) rows.remove(batch, key);
    },
  };
};
