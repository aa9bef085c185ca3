import { CutOff } from '../data/cut-off.ts';
import {
  anything,
  type Guarded,
  isObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { pathOf } from '../data/request.ts';
import type { Tone } from '../design/Chip.tsx';
import type { texts } from './texts.ts';

/** Runs as the service tells of them. Times are seconds, those of tickets milliseconds. */

const TicketBelow = object({
  id: text,
  tool: text,
  arguments: anything,
  agent_id: text,
  resume_mode: text,
});

const Ticket = object({
  ticket_id: text,
  tool_call_id: text,
  tool_name: text,
  arguments: anything,
  resume_mode: text,
  reason: optional(text),
  message: optional(text),
  digest: optional(text),
  tickets: optional(list(TicketBelow)),
  updated_at: number,
});
export type Ticket = Guarded<typeof Ticket>;

const Waiting = object({ reason: text, tickets: withDefault(list(Ticket), []), message: optional(text) });

const Termination = object({ type: text, value: anything });

const Trace = object({
  origin: withDefault(text, ''),
  adapter: withDefault(text, ''),
  run_mode: withDefault(text, ''),
  parent_tool_call_id: optional(text),
});

export const Run = object({
  run_id: text,
  thread_id: text,
  agent_id: text,
  parent_run_id: optional(text),
  resolution_id: optional(text),
  status: text,
  termination_reason: optional(Termination),
  final_output: optional(text),
  structured_output: anything,
  output_repairs: optional(number),
  error_payload: optional(object({ message: text })),
  dispatch_id: optional(text),
  waiting: optional(Waiting),
  activation: optional(object({ trace: optional(Trace) })),
  created_at: number,
  started_at: optional(number),
  finished_at: optional(number),
  updated_at: number,
  steps: withDefault(number, 0),
  input_tokens: withDefault(number, 0),
  output_tokens: withDefault(number, 0),
  cut_off: optional(CutOff),
  cost_usd: optional(number),
  state: anything,
});
export type Run = Guarded<typeof Run>;

export const runOf = (id: string): Resource<Run> => ({ path: pathOf`/v1/runs/${id}`, guard: Run });

export const runHref = (id: string): string => `/runs/${encodeURIComponent(id)}`;
export const threadHref = (id: string): string => `/threads/${encodeURIComponent(id)}`;

export const STATUSES = ['created', 'running', 'waiting', 'done'] as const;

export const isOpen = ({ status }: Pick<Run, 'status'>): boolean => status !== 'done';

type RunText = keyof (typeof texts)['en'];

/** The word for a status, and for what the service may call one some day the word itself. */
export const statusText = (status: string): RunText | undefined =>
  STATUSES.find((known) => known === status) && (`status.${status}` as RunText);

const WAITS = [
  'tool_permission',
  'user_input',
  'background_tasks',
  'external_event',
  'rate_limit',
  'manual_pause',
] as const;

const ENDS = [
  'natural_end',
  'behavior_requested',
  'cancelled',
  'suspended',
  'stopped',
  'blocked',
  'error',
] as const;

/** Why it waits or has ended. */
export type Reason = {
  /** Undefined: a kind that this console does not know. */
  text: RunText | undefined;
  kind: string;
  detail: string;
};

const detailOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (!isObject(value)) return '';
  return [value.code, value.detail].filter((part) => typeof part === 'string').join(': ');
};

export const reasonOf = ({ waiting, termination_reason, error_payload }: Run): Reason | undefined => {
  if (waiting) {
    const known = WAITS.find((reason) => reason === waiting.reason);
    return {
      kind: waiting.reason,
      text: known && `waits.${known}`,
      detail: waiting.tickets.map(({ tool_name }) => tool_name).join(', ') || (waiting.message ?? ''),
    };
  }
  if (!termination_reason) return undefined;
  const known = ENDS.find((type) => type === termination_reason.type);
  return {
    kind: termination_reason.type,
    text: known && `end.${known}`,
    detail: detailOf(termination_reason.value) || (error_payload?.message ?? ''),
  };
};

const END_TONES: Readonly<Record<string, Tone>> = {
  natural_end: 'success',
  behavior_requested: 'success',
  stopped: 'warn',
  blocked: 'error',
  error: 'error',
};

export const toneOf = ({ status, termination_reason }: Pick<Run, 'status' | 'termination_reason'>): Tone => {
  if (status === 'running') return 'info';
  if (status === 'waiting') return 'warn';
  return (status === 'done' && END_TONES[termination_reason?.type ?? '']) || 'none';
};

/** Seconds; of one that goes on, until now (milliseconds). The service tells whole seconds: this is as exact. */
export const durationOf = (run: Run, now: number): number => {
  const from = run.started_at ?? run.created_at;
  const to = isOpen(run) ? now / 1000 : (run.finished_at ?? run.updated_at);
  return Math.max(0, to - from);
};
