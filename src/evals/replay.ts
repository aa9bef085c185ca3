import type { ResolvedAgent } from '../loop/agent.ts';
import type { Replay as ReplayTrace, Traces } from '../observability/traces/traces.ts';
import {
  ADMIN,
  type EphemeralInput,
  type EphemeralRun,
  type ReplaySpans,
  type RunTraces,
  type RuntimeObserver,
  type WaitingCall,
} from '../runtime/index.ts';
import { type Clock, type Ids, monotonic } from '../schema/clock.ts';
import type { EvalMode } from '../schema/eval-run.ts';
import type { Json } from '../schema/json.ts';
import { type Message, textOf } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { EvaluationResult } from '../schema/trace.ts';
import { count, newTally, type Tally } from './tally.ts';

/**
 * An in-memory thread on which one cell is executed, with one run per turn (evals-and-traces.md 5.1). The runs are
 * ordinary executions; their statistics are counted from the facts of their traces.
 */

export type ReplayDeps = {
  clock: Clock;
  ids: Ids;
  run(input: EphemeralInput): EphemeralRun;
  observe: RuntimeObserver;
  /** Undefined if traces are disabled. */
  traces: Pick<Traces, 'replay'> | undefined;
  /** Creates the exported spans of one replay. */
  spans: (() => ReplaySpans) | undefined;
};

export type Replay = {
  readonly deps: ReplayDeps;
  readonly scope: string;
  readonly thread_id: string;
  readonly mode: EvalMode;
  readonly agent: ResolvedAgent;
  readonly signal: AbortSignal;
  readonly tally: Tally;
  /** User texts of the turns executed so far. */
  readonly inputs: string[];
  /** One per turn, in order. */
  readonly traces: { run_id: string; trace: ReplayTrace }[];
  readonly spans: ReplaySpans | undefined;
  messages: readonly Message[];
  /** Text of the last turn; empty if it failed. */
  answer: string;
  /** Result of the last run. */
  structured_output: Json | undefined;
  duration_ms: number;
  /** The reason why the last turn failed. */
  error: string | undefined;
};

export const createReplay = (
  deps: ReplayDeps,
  of: Pick<Replay, 'scope' | 'thread_id' | 'mode' | 'agent' | 'signal'>,
): Replay => ({
  deps,
  ...of,
  tally: newTally(),
  inputs: [],
  traces: [],
  spans: deps.spans?.(),
  messages: [],
  answer: '',
  structured_output: undefined,
  duration_ms: 0,
  error: undefined,
});

/** Returns false if the turn failed. @throws the reason of the signal, or Unavailable when the service stops */
export const playTurn = async (replay: Replay, input: string): Promise<boolean> => {
  const { deps, signal } = replay;
  const startedAt = monotonic(deps.clock);
  replay.inputs.push(input);
  replay.messages = [
    ...replay.messages,
    { id: deps.ids.uuid(), role: 'user', content: [{ type: 'text', text: input }] },
  ];
  const observed = { traces: tracesOf(replay), observe: deps.observe };
  let waiting: WaitingCall[] = [];
  for (;;) {
    signal.throwIfAborted();
    const run = deps.run(inputOf(replay, waiting, observed));
    const end = await run.done;
    signal.throwIfAborted();
    if (end === 'released') throw new Unavailable('service is shutting down');
    const state = run.state();
    replay.messages = state.messages;
    if (end === 'ended') {
      replay.duration_ms += Math.round(monotonic(deps.clock) - startedAt);
      replay.error = errorOf(state.run);
      replay.structured_output = state.run.structured_output;
      replay.answer = replay.error === undefined ? lastAnswer(state.messages, input) : '';
      return replay.error === undefined;
    }
    // The execution was suspended with calls that will never be decided.
    waiting = state.waiting.map((call) => ({ ...call, decision: DENIED }));
  }
};

const DENIED: NonNullable<WaitingCall['decision']> = {
  action: 'cancel',
  payload: null,
  reason: 'an evaluation has no user to ask',
};

const inputOf = (
  { scope, thread_id, agent, mode, messages, signal }: Replay,
  waiting: readonly WaitingCall[],
  observed: NonNullable<EphemeralInput['observed']>,
): EphemeralInput => ({
  scope,
  thread_id,
  agent,
  adapter: 'internal',
  messages,
  waiting,
  signal,
  observed,
  attempts: 1,
  spender: mode === 'live' ? ADMIN : undefined,
  failed: (reason) => reason,
  attach() {},
});

/** The runs of one turn form one trace, under the id of the first. */
const tracesOf = (replay: Replay): RunTraces => {
  const { deps, mode, tally, spans } = replay;
  let trace: ReplayTrace | undefined;
  const nothing = (): void => {};
  return {
    observes: () => true,
    open(run) {
      if (!trace && deps.traces) {
        trace = deps.traces.replay(run, mode === 'live');
        replay.traces.push({ run_id: run.run_id, trace });
      }
      const span = spans?.runs.open(run);
      return {
        note(agent, fact) {
          count(tally, agent.spec.id, fact);
          const recorded = fact.type === 'inference' ? { ...fact, provider: mode } : fact;
          trace?.note(agent, recorded);
          span?.note(agent, recorded);
        },
        contextAt: (place) => span?.contextAt?.(place),
        write: nothing,
        leave: nothing,
        end: (batch, ended) => span?.end(batch, ended),
        close: () => span?.close(),
      };
    },
    ended: nothing,
  };
};

const errorOf = ({ termination_reason: termination }: Run): string | undefined => {
  switch (termination?.type) {
    case 'error':
      return termination.value;
    case 'blocked':
      return `the run was blocked: ${termination.value}`;
    case 'cancelled':
      return 'the run was cancelled';
    default:
      return undefined;
  }
};

/** Text of the last assistant message after the last input. */
const lastAnswer = (messages: readonly Message[], input: string): string => {
  const inputIndex = messages.findLastIndex(
    ({ role, content }) => role === 'user' && textOf(content) === input,
  );
  const answer = messages.slice(inputIndex + 1).findLast(({ role }) => role === 'assistant');
  return answer ? textOf(answer.content) : '';
};

/** Writes the traces, the first one with the verdict; returns the id of the first one unless it is empty. */
export const storeTraces = async (
  { traces, spans }: Replay,
  verdict: EvaluationResult | undefined,
): Promise<string | undefined> => {
  spans?.settle(verdict);
  let first: string | undefined;
  for (const [index, { run_id, trace }] of traces.entries()) {
    const isThere = await trace.store(index === 0 ? verdict : undefined);
    if (index === 0 && isThere) first = run_id;
  }
  return first;
};
