import type { LogEvent } from '../schema/log-events.ts';
import { type Entry, numberAt, textAt } from './entry.ts';
import type { Tone } from './paint.ts';

/** The outcome of a run, from its log line. */

export type RunEntry = {
  /** One word. */
  end: string;
  tone: Tone;
  /** Details in addition to the word. */
  detail: string | undefined;
  agent: string;
  model: string;
  thread: string;
  seconds: number;
  input: number;
  output: number;
};

const RUN_EVENTS: ReadonlySet<string> = new Set<LogEvent>(['run.ended', 'run.waiting', 'run.released']);

/** Returns undefined for lines about anything else. */
export const parseRunEntry = (entry: Entry): RunEntry | undefined =>
  RUN_EVENTS.has(entry.event)
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

const WAITING: LogEvent = 'run.waiting';
const RELEASED: LogEvent = 'run.released';

const FAILED = new Set(['permanent_error', 'dead_letter', 'transient_error']);

const endOf = (entry: Entry): End => {
  const reason = textAt(entry, 'reason') ?? '';
  const outcome = textAt(entry, 'outcome') ?? '';
  if (entry.event === WAITING) return { end: 'waiting', tone: 'yellow', detail: words(reason) };
  if (entry.event === RELEASED) return { end: 'released', tone: 'yellow', detail: undefined };
  if (outcome === 'cancelled' || outcome === 'superseded')
    return { end: outcome, tone: 'yellow', detail: undefined };
  if (reason === 'error' || FAILED.has(outcome)) return { end: 'failed', tone: 'red', detail: undefined };
  const [end = '', code] = reason.split(':');
  if (end === 'stopped' || end === 'blocked') return { end, tone: 'yellow', detail: words(code ?? '') };
  return { end: 'done', tone: 'green', detail: undefined };
};

const words = (code: string): string | undefined => code.replaceAll('_', ' ') || undefined;
