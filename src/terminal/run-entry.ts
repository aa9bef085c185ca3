import { type Entry, numberAt, textAt } from './entry.ts';
import type { Tone } from './paint.ts';

/** What became of a run, from the line of the log that tells it. */

export type RunEntry = {
  /** One word. */
  end: string;
  tone: Tone;
  /** More than the word says. */
  detail: string | undefined;
  agent: string;
  model: string;
  thread: string;
  seconds: number;
  input: number;
  output: number;
};

const MESSAGES = new Set(['run ended', 'run waits', 'run let go']);

/** Undefined when the line tells of something else. */
export const runEntryOf = (entry: Entry): RunEntry | undefined =>
  MESSAGES.has(entry.msg) && entry.level === 'info'
    ? {
        ...endOf(entry),
        agent: textAt(entry, 'agent_id') ?? '',
        model: textAt(entry, 'model_id') ?? '',
        thread: textAt(entry, 'thread_id') ?? '',
        seconds: numberAt(entry, 'seconds') ?? 0,
        input: numberAt(entry, 'input_tokens') ?? 0,
        output: numberAt(entry, 'output_tokens') ?? 0,
      }
    : undefined;

type End = Pick<RunEntry, 'end' | 'tone' | 'detail'>;

const FAILED = new Set(['permanent_error', 'dead_letter', 'transient_error']);

const endOf = (entry: Entry): End => {
  const reason = textAt(entry, 'reason') ?? '';
  const outcome = textAt(entry, 'outcome') ?? '';
  if (entry.msg === 'run waits') return { end: 'waits', tone: 'yellow', detail: words(reason) };
  if (entry.msg === 'run let go') return { end: 'let go', tone: 'yellow', detail: undefined };
  if (outcome === 'cancelled' || outcome === 'superseded')
    return { end: outcome, tone: 'yellow', detail: undefined };
  if (reason === 'error' || FAILED.has(outcome)) return { end: 'failed', tone: 'red', detail: undefined };
  const [end = '', code] = reason.split(':');
  if (end === 'stopped' || end === 'blocked') return { end, tone: 'yellow', detail: words(code ?? '') };
  return { end: 'done', tone: 'green', detail: undefined };
};

const words = (code: string): string | undefined => code.replaceAll('_', ' ') || undefined;
