import { outcomeOf } from '../../schema/run-query.ts';
import { CutOff } from '../data/cut-off.ts';
import {
  anything,
  fields,
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
  ...fields(text, 'id', 'tool', 'agent_id', 'resume_mode'),
  arguments: anything,
  digest: optional(text),
  deciders: optional(text),
});

const Ticket = object({
  ...fields(text, 'ticket_id', 'tool_call_id', 'tool_name', 'resume_mode'),
  arguments: anything,
  ...fields(optional(text), 'reason', 'message', 'digest', 'deciders'),
  tickets: optional(list(TicketBelow)),
  updated_at: number,
});
export type Ticket = ReturnType<typeof Ticket>;

const Waiting = object({ reason: text, tickets: withDefault(list(Ticket), []), message: optional(text) });

const Termination = object({ type: text, value: anything });

const Trace = object({
  ...fields(withDefault(text, ''), 'origin', 'adapter', 'run_mode'),
  parent_tool_call_id: optional(text),
});

export const Run = object({
  ...fields(text, 'run_id', 'thread_id', 'agent_id', 'status'),
  ...fields(optional(text), 'parent_run_id', 'resolution_id', 'user', 'final_output', 'dispatch_id'),
  termination_reason: optional(Termination),
  structured_output: anything,
  ...fields(optional(number), 'output_repairs', 'started_at', 'finished_at', 'started_at_ms'),
  error_payload: optional(object({ message: text })),
  waiting: optional(Waiting),
  activation: optional(object({ trace: optional(Trace) })),
  created_at: number,
  ...fields(optional(number), 'finished_at_ms', 'cost_usd'),
  updated_at: number,
  ...fields(withDefault(number, 0), 'steps', 'input_tokens', 'output_tokens'),
  cut_off: optional(CutOff),
  preview: optional(text),
  state: anything,
});
export type Run = ReturnType<typeof Run>;

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
