import { setup } from 'xstate';

/**
 * One leg of a response of the OpenAI routes (openai-responses.md 12): the work that one request starts, until its run ends or
 * requires an action. The status on the wire and the last event of a stream are tags of its states.
 *
 * A leg that clients follow is an actor; for stored rows the functions below query the machine.
 */

/** Statuses as on the wire. */
export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

/** The last event of a stream, by the end of its leg; a cancelled leg has no event in the protocol. */
type LastEvent = 'response.completed' | 'response.incomplete' | 'response.failed';

/** `terminal`: never changes again. */
type ResponseTag = ResponseStatus | LastEvent | 'terminal';

/** The terminations of a run (runtime.md 2.7) that end a leg. */
export type LegTermination = {
  type: 'natural_end' | 'behavior_requested' | 'stopped' | 'blocked' | 'error' | 'cancelled';
  /** The code of `stopped`. */
  code?: string | undefined;
  /** Whether the last completion was cut off at its limit of tokens. */
  truncated?: boolean | undefined;
};

export type ResponseEvent =
  /** The run is claimed, or continues. */
  | { type: 'START' }
  /** The run waits for its client, an approval or input. */
  | { type: 'PAUSE' }
  | { type: 'END'; termination: LegTermination }
  | { type: 'CANCEL' }
  /** The process stops; another one continues the run. */
  | { type: 'RELEASE' };

/** Codes of a stop that the agent has asked for. */
const WANTED: readonly string[] = ['stop_on_tool', 'content_match'];

const isCancelled = ({ event }: { event: ResponseEvent }): boolean =>
  event.type === 'END' && event.termination.type === 'cancelled';

const isFailed = ({ event }: { event: ResponseEvent }): boolean =>
  event.type === 'END' && event.termination.type === 'error';

const isIncomplete = ({ event }: { event: ResponseEvent }): boolean => {
  if (event.type !== 'END') return false;
  const { type, code = '', truncated = false } = event.termination;
  return truncated || type === 'blocked' || (type === 'stopped' && !WANTED.includes(code));
};

const cancelled = (description: string) => ({ target: 'cancelled', description }) as const;

/**
 * One leg of a response of the OpenAI routes (openai-responses.md 12). Tags of its states are the statuses of the protocol, the
 * last event of a stream, and `terminal`.
 *
 * @example
 * ```ts
 * import { initialTransition, transition } from 'xstate';
 *
 * const [queued] = initialTransition(responseMachine);
 * const [working] = transition(responseMachine, queued, { type: 'START' });
 * const [completed] = transition(responseMachine, working, { type: 'PAUSE' });
 * console.log(completed.hasTag('completed'), completed.hasTag('terminal')); // true true
 * ```
 */
export const responseMachine = setup({
  types: {} as { events: ResponseEvent; tags: ResponseTag },
  guards: { isCancelled, isFailed, isIncomplete },
}).createMachine({
  id: 'response',
  description: 'A leg of a response, from the accepted request to its last event.',
  initial: 'queued',
  states: {
    queued: {
      tags: ['queued'],
      description: 'Accepted and durable; its run has not started or continued yet.',
      on: {
        START: { target: 'inProgress', description: 'Its run starts or continues.' },
        CANCEL: cancelled('Cancelled, or superseded by other work of its thread, before it started.'),
        END: [
          { guard: 'isCancelled', ...cancelled('Its run was cancelled before it started.') },
          { target: 'failed', description: 'Its run was abandoned before it started.' },
        ],
      },
    },
    inProgress: {
      tags: ['in_progress'],
      description: 'Its run executes, is repeated, or waits for background tasks or time.',
      on: {
        PAUSE: {
          target: 'completed',
          description:
            'The client, a person or a remote agent has to act; the next request starts another leg.',
        },
        RELEASE: {
          target: 'queued',
          description: 'The service stops, and another process continues the run.',
        },
        CANCEL: cancelled('Cancelled by a client while its run executed.'),
        END: [
          { guard: 'isCancelled', ...cancelled('Its run was cancelled, or superseded by newer work.') },
          {
            guard: 'isFailed',
            target: 'failed',
            description: 'The model, the store or another service failed permanently.',
          },
          {
            guard: 'isIncomplete',
            target: 'incomplete',
            description: 'A limit ended its run, a rule forbade a call, or the last completion was cut off.',
          },
          { target: 'completed', description: 'The agent has completed its response.' },
        ],
      },
    },
    completed: {
      type: 'final',
      tags: ['completed', 'response.completed', 'terminal'],
      description: 'Its output is complete, or contains what the client has to act on.',
    },
    incomplete: {
      type: 'final',
      tags: ['incomplete', 'response.incomplete', 'terminal'],
      description: 'Its output is partial; `incomplete_details` contains the reason.',
    },
    failed: {
      type: 'final',
      tags: ['failed', 'response.failed', 'terminal'],
      description: 'Its run failed; `error` contains the reason.',
    },
    cancelled: {
      type: 'final',
      tags: ['cancelled', 'response.incomplete', 'terminal'],
      description: 'Stopped by a client, an operator, or newer work of its thread.',
    },
  },
});

const VALUE = {
  queued: 'queued',
  in_progress: 'inProgress',
  completed: 'completed',
  incomplete: 'incomplete',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<ResponseStatus, string>;

// The keys of `VALUE` are exactly the statuses.
export const RESPONSE_STATUSES = Object.keys(VALUE) as [ResponseStatus, ...ResponseStatus[]];

/** Returns value and context of a stored leg, from which `advance` computes its transitions. */
export const legAt = (status: ResponseStatus) => ({ value: VALUE[status], context: {} }) as const;

const snapshots = new Map<ResponseStatus, ReturnType<typeof responseMachine.resolveState>>();

/** Snapshots are immutable, and resolving one costs as much as a transition. */
const snapshotAt = (status: ResponseStatus) => {
  const known = snapshots.get(status);
  if (known) return known;
  const snapshot = responseMachine.resolveState(legAt(status));
  snapshots.set(status, snapshot);
  return snapshot;
};

/** Returns the status in which a snapshot of the machine is. */
export const statusOf = (snapshot: { hasTag(tag: ResponseStatus): boolean }): ResponseStatus => {
  const status = RESPONSE_STATUSES.find((tag) => snapshot.hasTag(tag));
  if (!status) throw new Error('a state of the response machine has no status');
  return status;
};

/** Whether the leg never changes again. */
export const isTerminalLeg = (status: ResponseStatus): boolean => snapshotAt(status).hasTag('terminal');

/** Whether a client may cancel the leg. */
export const isCancellable = (status: ResponseStatus): boolean => snapshotAt(status).can({ type: 'CANCEL' });

const LAST_EVENTS = [
  'response.completed',
  'response.incomplete',
  'response.failed',
] as const satisfies LastEvent[];

/** Returns the last event of the stream of a leg with this status; undefined while it continues. */
export const lastEventOf = (status: ResponseStatus): LastEvent | undefined =>
  LAST_EVENTS.find((tag) => snapshotAt(status).hasTag(tag));
