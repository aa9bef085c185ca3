import { outcomeOf } from '../../schema/run-query.ts';
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
import type { IconName } from '../design/Icon.tsx';
import type texts from './texts.json';

/** Runs as the service reports them. Times are in seconds, those of tickets and `_ms` in milliseconds. */

const TicketBelow = object({
  id: text,
  tool: text,
  arguments: anything,
  agent_id: text,
  resume_mode: text,
  digest: optional(text),
  deciders: optional(text),
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
  deciders: optional(text),
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
  user: optional(text),
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
  started_at_ms: optional(number),
  finished_at_ms: optional(number),
  updated_at: number,
  steps: withDefault(number, 0),
  input_tokens: withDefault(number, 0),
  output_tokens: withDefault(number, 0),
  cut_off: optional(CutOff),
  cost_usd: optional(number),
  preview: optional(text),
  state: anything,
});
export type Run = Guarded<typeof Run>;

export const runOf = (id: string): Resource<Run> => ({ path: pathOf`/v1/runs/${id}`, guard: Run });

export const runHref = (id: string): string => `/runs/${encodeURIComponent(id)}`;
export const threadHref = (id: string): string => `/threads/${encodeURIComponent(id)}`;

export const isOpen = ({ status }: Pick<Run, 'status'>): boolean => status !== 'done';

type RunText = keyof typeof texts;

const WAITS = [
  'tool_permission',
  'user_input',
  'background_tasks',
  'external_event',
  'rate_limit',
  'manual_pause',
] as const;

const LOOKS = {
  created: { tone: 'none', icon: 'clock' },
  running: { tone: 'info', icon: 'runs' },
  waiting: { tone: 'warn', icon: 'inbox' },
  done: { tone: 'none', icon: 'dot' },
  completed: { tone: 'success', icon: 'check' },
  stopped: { tone: 'warn', icon: 'stop' },
  cancelled: { tone: 'none', icon: 'close' },
  blocked: { tone: 'error', icon: 'lock' },
  failed: { tone: 'error', icon: 'error' },
} as const satisfies Record<string, { tone: Tone; icon: IconName }>;

const isKnown = (state: string): state is keyof typeof LOOKS => Object.hasOwn(LOOKS, state);

/** The status of a run, or its outcome once it has ended. */
export type RunState = {
  /** Undefined for a state unknown to this console. */
  text: RunText | undefined;
  kind: string;
  /** Why the run was stopped. */
  code: string | undefined;
  tone: Tone;
  icon: IconName | undefined;
};

type WithState = Pick<Run, 'status' | 'termination_reason'>;

export const stateOf = (run: WithState): RunState => {
  const { status, termination_reason: reason } = run;
  const state = outcomeOf(run) ?? reason?.type ?? status;
  const code = isObject(reason?.value) ? reason.value.code : undefined;
  return {
    text: isKnown(state) ? `state.${state}` : undefined,
    kind: state,
    code: typeof code === 'string' ? code.replaceAll('_', ' ') : undefined,
    ...(isKnown(state) ? LOOKS[state] : { tone: 'none', icon: undefined }),
  };
};

/** Why a run waits and for what, or how it ended and why. */
export type Reason = {
  /** The reason of a wait; undefined for one that is unknown to this console. */
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
  return (
    termination_reason && {
      kind: termination_reason.type,
      text: undefined,
      detail: detailOf(termination_reason.value) || (error_payload?.message ?? ''),
    }
  );
};

/** The note of a list next to the state, which names the code of a stop. */
export const noteOf = (run: Run): Omit<Reason, 'kind'> | undefined => {
  const reason = reasonOf(run);
  if (reason?.kind !== 'stopped' || run.waiting) return reason;
  const value = run.termination_reason?.value;
  return { ...reason, detail: isObject(value) && typeof value.detail === 'string' ? value.detail : '' };
};

/**
 * The duration in seconds; a run that has not ended is measured until `now` (milliseconds). It has the precision of a
 * second for runs of older versions.
 */
export const durationOf = (run: Run, now: number): number => {
  const from = run.started_at_ms ?? (run.started_at ?? run.created_at) * 1000;
  const to = isOpen(run) ? now : (run.finished_at_ms ?? (run.finished_at ?? run.updated_at) * 1000);
  return Math.max(0, to - from) / 1000;
};
