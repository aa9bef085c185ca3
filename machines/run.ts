import { assign, fromPromise, setup } from 'xstate';
import { running } from './run-running.ts';
import { begins, cancelled, deadLetter, invoked, notWritten } from './run-transitions.ts';
import {
  type Acted,
  BEGINNING,
  type Checkpointed,
  type Decided,
  endOf,
  type Inferred,
  isAwaited,
  type Outcome,
  type Parking,
  type RunContext,
  type RunEnd,
  type RunEnding,
  type RunEntry,
  type RunInput,
  type RunMachineEvent,
  type RunTag,
  type Validated,
} from './run-types.ts';
import { waiting } from './run-waiting.ts';

/**
 * One execution of an agent on a thread. Each working state invokes one service; the service returns a result, and the
 * transition decides the next state. Tags of the states are the wire representation of the run: its status, the reason
 * of its wait, and its task state. A state whose service writes the record carries the tags of the written record.
 *
 * The machine never reads `host`; it only passes it on to the services.
 */

/** `retryAfterMs`: the minimum delay. `heldBack`: nothing was tried, so no attempt is counted. */
type Failure = { transient?: boolean; final?: boolean; retryAfterMs?: number; heldBack?: boolean };

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const pauseOf = (error: unknown): number => (error as Failure | null)?.retryAfterMs ?? 0;

const endIn = ({ ending }: RunContext): RunEnd | undefined => ending && endOf(ending);

const unbound = () => Promise.reject(new Error('the service is bound by the runtime'));

/** Services receive the whole context: the host to work with, and the ending of the run. */
const service = <Output>() => fromPromise<Output, RunContext>(unbound);

/**
 * One execution of an agent on a thread (runtime.md 7.1). Tags of its states are the status of the run on the wire
 * and the reason of its wait.
 *
 * @example
 * ```ts
 * for (const { key, tags } of Object.values(runMachine.states)) console.log(key, tags);
 * ```
 */
export const runMachine = setup({
  types: {} as { context: RunContext; events: RunMachineEvent; input: RunInput; tags: RunTag },
  actors: {
    decide: service<Decided>(),
    infer: service<Inferred>(),
    act: service<Acted>(),
    validate: service<Validated>(),
    checkpoint: service<Checkpointed>(),
    reschedule: service<void>(),
    reclaim: service<{ entry: RunEntry }>(),
    park: fromPromise<void, Parking>(unbound),
    conclude: service<void>(),
    finish: service<void>(),
  },
  delays: {
    /** The runtime provides the delay from its settings; without a runtime, retries are immediate. */
    retryDelay: 0,
  },
  guards: {
    carriesDecisions: (_, { entry }: { entry: RunEntry }) => entry === 'decisions',
    hasUnfinishedCalls: (_, { entry }: { entry: RunEntry }) => entry === 'unfinished_calls',
    isStopped: (_, { kind }: Inferred | Decided) => kind === 'stopped',
    asksForTools: (_, { kind }: Inferred) => kind === 'calls',
    isTruncated: (_, { kind }: Inferred) => kind === 'truncated',
    hasPendingWork: (_, { kind }: Outcome) => kind === 'pending_work',
    hasAnswered: (_, { kind }: Outcome) => kind === 'answered',
    mustRepair: (_, { kind }: Outcome) => kind === 'repair',
    isExhausted: (_, { kind }: Outcome) => kind === 'exhausted',
    needsDecision: (_, found: Outcome) => 'waits' in found && found.waits === 'forDecision',
    needsAuthentication: (_, found: Outcome) => 'waits' in found && found.waits === 'forAuthentication',
    needsBudget: (_, found: Outcome) => 'waits' in found && found.waits === 'forBudget',
    needsInput: (_, found: Outcome) => 'waits' in found && found.waits === 'forInput',
    isSuspendedNoMore: ({ context }, { kind }: Outcome) => kind === 'suspended' && isAwaited(context),
    isBlocked: (_, { kind }: Outcome) => kind === 'blocked',
    isCancelled: ({ context }) => endIn(context) === 'cancelled',
    isForbidden: ({ context }) => endIn(context) === 'blocked',
    hasFailed: ({ context }) => endIn(context) === 'failed',
    isSteered: ({ context }) => context.steered,
    isAwaited: ({ context }) => isAwaited(context),
    isUnchecked: (_, checkpointed: Checkpointed) => checkpointed.over && checkpointed.unchecked === true,
    isOver: (_, { over }: Checkpointed) => over,
    isOverButWaits: (_, checkpointed: Checkpointed) => checkpointed.over && checkpointed.waits === true,
    /** Whether the run has a schema for its result. The runtime binds this guard; without a host there is no schema. */
    mustValidate: () => false,
    /** Whether work remains between the answer and the last commit. The runtime binds this guard. */
    mustConclude: () => true,
    isFinal: (_, { error }: { error: unknown }) => (error as Failure | null)?.final === true,
    isHeldBack: ({ context }, { error }: { error: unknown }) =>
      (error as Failure | null)?.heldBack === true && context.heldBackMs < context.maxHeldBackMs,
    canRetry: ({ context }, { error }: { error: unknown }) =>
      (error as Failure | null)?.transient === true && context.attempt + 1 < context.maxAttempts,
  },
  actions: {
    end: assign({ ending: (_, { ending }: { ending: RunEnding }) => ending }),
    fail: assign({
      ending: (_, { error }: { error: unknown }): RunEnding => ({ type: 'error', value: reasonOf(error) }),
    }),
    steer: assign({ steered: true }),
    resume: assign({ decided: true }),
    takeInput: assign({ steered: false }),
    takeDecisions: assign({ steered: false, decided: false }),
    /** Input that arrived while decisions were applied was applied together with them. */
    settleDecisions: assign({ decided: false }),
    countAttempt: assign(({ context }, { error }: { error: unknown }) => ({
      attempt: context.attempt + 1,
      counted: true,
      pauseMs: pauseOf(error),
    })),
    holdBack: assign(({ context }, { error }: { error: unknown }) => ({
      counted: false,
      pauseMs: pauseOf(error),
      heldBackMs: context.heldBackMs + pauseOf(error),
    })),
    /** Reports to the thread that the run no longer executes. */
    reportParked: () => {},
  },
}).createMachine({
  id: 'run',
  description: 'One execution of an agent on a thread, from accepted input to its terminal event.',
  context: ({ input }) => ({ ...BEGINNING, ...input }),
  initial: 'created',
  states: {
    created: {
      tags: ['created', 'TASK_STATE_SUBMITTED'],
      description: 'Accepted and durable; waits for its dispatch to be claimed.',
      on: {
        CLAIM: begins(({ context }: { context: RunContext }) => ({ entry: context.entry })),
        CANCEL: cancelled('Withdrawn before it started.'),
        SUPERSEDE: cancelled('Superseded by an interrupt or a foreground run.'),
        DEAD_LETTER: deadLetter('Dead-lettered before it started.'),
      },
    },
    running,
    waiting,
    concluding: {
      tags: ['running', 'TASK_STATE_WORKING'],
      description:
        'The outcome is known: the last step is completed, end hooks run, messages to other agents are sent.',
      on: {
        CANCEL: cancelled('Cancelled before its end was complete.'),
        RELEASE: [
          {
            guard: 'isCancelled',
            target: 'ending',
            description: 'A cancelled run is not resumed: its end is written before the process releases it.',
          },
          { target: 'released', description: 'The service stops, or the lease is lost.' },
        ],
      },
      invoke: {
        ...invoked('conclude'),
        onDone: { target: 'ending', description: 'Only the end has to be committed.' },
        onError: notWritten('A phase or hook failed; the run ends with this error.'),
      },
    },
    ending: {
      tags: ['done'],
      description:
        'The last commit: messages, record, terminal event and pointers in one transaction. It cannot be cancelled.',
      invoke: {
        ...invoked('finish'),
        onDone: [
          { guard: 'isCancelled', target: 'cancelled', description: 'Durable; the terminal frame is sent.' },
          { guard: 'isForbidden', target: 'blocked', description: 'Durable; the terminal frame is sent.' },
          { guard: 'hasFailed', target: 'failed', description: 'Durable; the terminal frame is sent.' },
          { target: 'completed', description: 'Durable; the terminal frame is sent.' },
        ],
        onError: { target: 'released', description: 'The store rejected the commit; the lease will expire.' },
      },
    },
    completed: {
      type: 'final',
      tags: ['done', 'TASK_STATE_COMPLETED'],
      description: 'The run completed or reached one of its limits.',
    },
    cancelled: {
      type: 'final',
      tags: ['done', 'TASK_STATE_CANCELED'],
      description: 'Cancelled by a client, an operator or newer work.',
    },
    blocked: { type: 'final', tags: ['done', 'TASK_STATE_REJECTED'], description: 'A gate blocked the run.' },
    failed: {
      type: 'final',
      tags: ['done', 'TASK_STATE_FAILED'],
      description: 'The run ended with an error.',
    },
    released: {
      type: 'final',
      description: 'Released without an end. The record keeps its last commit; the next worker resumes it.',
    },
  },
});
