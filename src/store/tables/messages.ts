import { typeOfMedia } from '../../schema/media.ts';
import type { Message } from '../../schema/message.ts';
import { type AnswerTexts, fillIn, type Path, putHollow } from '../engine/answers.ts';
import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';
import type { MediaTexts } from '../engine/media-texts.ts';
import type { Removals } from '../engine/removals.ts';
import type { Span } from '../engine/table.ts';
import type { FileTable } from './files.ts';

/** The history of a thread by sequence number, and the part of it that a run produced (runtime.md 4.1). */

export type MessageRow = {
  /** 1-based position in the history. */
  seq: number;
  message: Message;
  /** Seconds. */
  created_at: number;
  /** Number of external messages in the history up to and including this one. */
  external: number;
  /** Bytes of the messages in the history up to and including this one; rows of older versions have none. */
  bytes?: number;
};

/** Both ends are inclusive. */
export type MessageBounds = { from?: number; to?: number; reverse?: boolean; limit?: number };

export type MessageTable = {
  append(batch: Batch, scope: string, thread_id: string, rows: MessageRow[]): void;
  last(scope: string, thread_id: string): MessageRow | undefined;
  at(scope: string, thread_id: string, seq: number): MessageRow | undefined;
  range(scope: string, thread_id: string, bounds: MessageBounds): Iterable<MessageRow>;
  ofRun(scope: string, thread_id: string, run_id: string, bounds: MessageBounds): Iterable<MessageRow>;
  /** Returns the last message of the run up to a sequence number, with the number of its messages so far. */
  lastOfRun(scope: string, thread_id: string, run_id: string, upTo?: number): RunMark | undefined;
};

/** The answer of the run is filled in at `places`, see `answers.ts`. */
export type StoredMessage = MessageRow & { places?: Path[] };

/** The parts of messages that are not in their rows. */
type MessageSources = {
  answers: AnswerTexts;
  removals: Pick<Removals, 'isMarked'>;
  media: MediaTexts;
  files: Pick<FileTable, 'keepInThread'>;
};

export const createMessageTable = (env: Environment, sources: MessageSources): MessageTable => {
  const { removals } = sources;
  const rows = env.table<StoredMessage>('messages');
  const byRun = env.table<RunMark>('message_by_run');
  const counts = createNoteBoard<RunCount>();

  const hasRows = (scope: string, thread_id: string): boolean =>
    isId(thread_id) && !removals.isMarked(scope, thread_id);

  const lastOfRun: MessageTable['lastOfRun'] = (scope, thread_id, run_id, upTo) => {
    if (!hasRows(scope, thread_id) || !isId(run_id)) return undefined;
    const bounds = { reverse: true, limit: 1, ...(upTo !== undefined && { to: upTo }) };
    for (const mark of byRun.values(span([scope, thread_id, run_id], bounds))) return mark;
    return undefined;
  };

  const mark = (batch: Batch, scope: string, thread_id: string, { seq, message }: MessageRow): void => {
    const run_id = message.metadata?.run_id;
    if (run_id === undefined) return;
    checkId('run id', run_id);
    const key = [scope, thread_id, run_id];
    const name = key.join('\0');
    const before = counts.newest(batch, name) ?? lastOfRun(scope, thread_id, run_id) ?? NONE_YET;
    const count = before.count + 1;
    const external = before.external + (message.visibility === 'internal' ? 0 : 1);
    counts.note(batch, name, { count, external });
    byRun.put(batch, [...key, seq], { seq, count, external });
  };

  const at: MessageTable['at'] = (scope, thread_id, seq) => {
    const row = hasRows(scope, thread_id) ? rows.get([scope, thread_id, seq]) : undefined;
    return row && completed(sources, scope, row);
  };

  const put = (batch: Batch, scope: string, thread_id: string, row: MessageRow): void => {
    const { seq, created_at, external, bytes } = row;
    const message = withoutBytes(sources, batch, { scope, thread_id, row });
    const run_id = message.metadata?.run_id;
    putHollow(batch, { scope, run_id, value: message }, ({ value, places }) => {
      const stored = { seq, message: value, created_at, external, ...(bytes !== undefined && { bytes }) };
      rows.put(batch, [scope, thread_id, seq], places.length === 0 ? stored : { places, ...stored });
    });
  };

  return {
    append(batch, scope, thread_id, added) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      for (const row of added) {
        put(batch, scope, thread_id, row);
        mark(batch, scope, thread_id, row);
      }
    },
    last(scope, thread_id) {
      if (!hasRows(scope, thread_id)) return undefined;
      for (const row of rows.values({ prefix: [scope, thread_id], reverse: true, limit: 1 }))
        return completed(sources, scope, row);
      return undefined;
    },
    at,
    *range(scope, thread_id, bounds) {
      if (!hasRows(scope, thread_id)) return;
      for (const row of rows.values(span([scope, thread_id], bounds))) yield completed(sources, scope, row);
    },
    *ofRun(scope, thread_id, run_id, bounds) {
      if (!hasRows(scope, thread_id) || !isId(run_id)) return;
      for (const { seq } of byRun.values(span([scope, thread_id, run_id], bounds))) {
        const row = at(scope, thread_id, seq);
        if (row) yield row;
      }
    },
    lastOfRun,
  };
};

/** The bytes of large files become files of the thread. */
const withoutBytes = (
  { media, files }: MessageSources,
  batch: Batch,
  { scope, thread_id, row }: { scope: string; thread_id: string; row: MessageRow },
): Message => {
  const { message, created_at } = row;
  const content = media.hollow(batch, message.content, ({ sha256, bytes, block }) =>
    files.keepInThread(batch, {
      scope,
      thread_id,
      sha256,
      bytes,
      filename: block.title ?? block.type,
      media_type: typeOfMedia(block),
      created_at: created_at * 1000,
    }),
  );
  return content === message.content ? message : { ...message, content };
};

/** Completes a row, which was just read and has no other owner. */
const completed = ({ answers, media }: MessageSources, scope: string, row: StoredMessage): MessageRow => {
  const found = withAnswer(row, scope, answers);
  found.message.content = media.fill(found.message.content);
  return found;
};

/** Fills in the answer of the run. */
const withAnswer = (row: StoredMessage, scope: string, answers: AnswerTexts): MessageRow => {
  const { places, ...filled } = row;
  if (!places) return row;
  const { message } = filled;
  fillIn(message, places, answers.textOf(scope, message.metadata?.run_id ?? ''));
  return filled;
};

/** A message of a run, with the number of the run's messages up to and including this one. */
type RunMark = RunCount & { seq: number };

type RunCount = { count: number; external: number };

const NONE_YET: RunCount = { count: 0, external: 0 };

const span = (prefix: Key, { from, to, reverse, limit }: MessageBounds): Span => ({
  prefix,
  ...(from !== undefined && { from: [from] }),
  ...(to !== undefined && { to: [to] }),
  ...(reverse !== undefined && { reverse }),
  ...(limit !== undefined && { limit }),
});
