import type { ResolvedAgent } from '../loop/agent.ts';
import type {
  EphemeralInput,
  EphemeralRun,
  ReplaySpans,
  RunTraces,
  RuntimeObserver,
  WaitingCall,
} from '../runtime/index.ts';
import { type Clock, type Ids, monotonic } from '../schema/clock.ts';
import type { EvalMode } from '../schema/eval-run.ts';
import type { Json } from '../schema/json.ts';
import { type Message, textOf } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { EvaluationResult } from '../schema/trace.ts';
import type { Replay as ReplayTrace, Traces } from '../traces/traces.ts';
import { count, newTally, type Tally } from './tally.ts';

/**
 * A thread in memory on which one cell is played, a run a turn (evals-and-traces.md 5.1). The runs are executions as
 * any other; what they did is counted from the facts of their traces.
 */

export type ReplayDeps = {
  clock: Clock;
  ids: Ids;
  run(input: EphemeralInput): EphemeralRun;
  observe: RuntimeObserver;
  /** Without it nothing is traced. */
  traces: Pick<Traces, 'replay'> | undefined;
  /** What leaves the service while it is played; for each replay its own. */
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
  /** What the user said in the turns that were played. */
  readonly inputs: string[];
  /** One for each turn, in their order. */
  readonly traces: { run_id: string; trace: ReplayTrace }[];
  readonly spans: ReplaySpans | undefined;
  messages: readonly Message[];
  /** Of the last turn; empty when it failed. */
  answer: string;
  /** Of the last run. */
  structured_output: Json | undefined;
  duration_ms: number;
  /** Why the last turn failed. */
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

/** False when the turn failed. @throws the reason of the signal, or Unavailable when the service stops */
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
    // The execution was parked with calls that nobody will ever decide.
    waiting = state.waiting.map((call) => ({ ...call, decision: DENIED }));
  }
};

const DENIED: NonNullable<WaitingCall['decision']> = {
  action: 'cancel',
  payload: null,
  reason: 'in an evaluation nobody is there to be asked',
};

const inputOf = (
  { scope, thread_id, agent, messages, signal }: Replay,
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
  failed: (reason) => reason,
  attach() {},
});

/** The runs of one turn are one trace, under the id of the first. */
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
          const told = fact.type === 'inference' ? { ...fact, provider: mode } : fact;
          trace?.note(agent, told);
          span?.note(agent, told);
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

/** Text of the last assistant message behind the last input. */
const lastAnswer = (messages: readonly Message[], input: string): string => {
  const asked = messages.findLastIndex(({ role, content }) => role === 'user' && textOf(content) === input);
  const answer = messages.slice(asked + 1).findLast(({ role }) => role === 'assistant');
  return answer ? textOf(answer.content) : '';
};

/** Writes the traces, the first one with the verdict; its id, if there is anything in it. */
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
