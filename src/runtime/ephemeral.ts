import type { ResolvedAgent } from '../loop/agent.ts';
import { openTickets } from '../loop/calls.ts';
import type { StepCall } from '../loop/turn.ts';
import type { Message, ToolCall } from '../schema/message.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Resume, ResumeMode, Run, RunAdapter } from '../schema/run.ts';
import { type Attach, createChannel } from './channel.ts';
import type { RunTraces, RuntimeDeps, RuntimeObserver } from './deps.ts';
import { beginStream, type Execution, type RunOwner } from './execution.ts';
import { historyOf } from './ledger.ts';
import { abandonRun, releaseRun } from './run-control.ts';
import { newRun } from './run-records.ts';
import { createExecution, startExecution } from './run-start.ts';
import type { DecisionInput } from './submission.ts';
import { unstoredLedger } from './unstored.ts';
import { acceptDecision } from './wait.ts';

/**
 * Runs that nobody keeps: the client brings the whole history with each request and takes away what came of it.
 *
 * Guarantees: the execution of every other run, live in the inspection of actors, and not one read or write of the
 * store. A call that waits for a decision ends the run; the next request brings the call and the decision, and a run
 * of another id goes on. Without the client there is nobody whom a run could be for: it is cancelled when its signal
 * fires. Nothing survives the process.
 * Relies on the client for what it says of earlier calls.
 */

export type EphemeralInput = {
  scope: string;
  thread_id: string;
  agent: ResolvedAgent;
  adapter: RunAdapter;
  /** The oldest first, with the calls of assistant messages and their results. */
  messages: readonly Message[];
  waiting: readonly WaitingCall[];
  attach: Attach;
  signal: AbortSignal;
  /** What the stream says of a failure, in the words of whoever answers for the run. */
  failed(reason: string): string;
  /** Those who measure the run, in place of those of every run. */
  observed?: { traces: RunTraces; observe: RuntimeObserver };
  /** How often an inference that failed is begun, as of a dispatch; without, as the settings say. */
  attempts?: number;
};

/** A call of the last assistant message that has no result; without a decision it keeps waiting. */
export type WaitingCall = {
  call: ToolCall;
  ticket_id: string;
  resume_mode: ResumeMode;
  decision?: Omit<DecisionInput, 'tool_call_id'>;
};

/** With an end; for a decision; or because the service stops. */
type End = 'ended' | 'suspended' | 'released';

export type EphemeralRun = {
  run_id: string;
  /** Resolves when its stream has ended. */
  done: Promise<End>;
  /** What has come of it so far. */
  state(): EphemeralState;
};

export type EphemeralState = {
  run: Run;
  /** The whole history, with what the run has added. */
  messages: readonly Message[];
  /** Why it failed. */
  failure: unknown;
  /** Calls that wait for a decision. */
  waiting: readonly WaitingCall[];
};

export type EphemeralRuns = {
  /** @throws Unavailable when the service stops; Conflict or Unprocessable for a decision that is not accepted */
  start(input: EphemeralInput): EphemeralRun;
  live(): number;
  /** No new ones. */
  close(): void;
  /** Lets go of those that live; their streams are told the reason. */
  release(reason: string): void;
};

export const createEphemeralRuns = (deps: RuntimeDeps): EphemeralRuns => {
  const live = new Set<Execution>();
  let closed = false;
  return {
    start(input) {
      if (closed) throw new Unavailable('service is shutting down');
      let tell = (_end: End): void => {};
      const done = new Promise<End>((resolve) => {
        tell = resolve;
      });
      const execution = createFor(deps, input, (end) => {
        live.delete(execution);
        input.signal.removeEventListener('abort', cancel);
        tell(end);
      });
      const cancel = (): void => execution.actor?.send({ type: 'CANCEL' });
      live.add(execution);
      input.attach(execution.stream.channel());
      beginStream(execution, false);
      startExecution(execution);
      input.signal.addEventListener('abort', cancel);
      if (input.signal.aborted) cancel();
      return { run_id: execution.run_id, done, state: () => stateOf(execution) };
    },
    live: () => live.size,
    close: () => {
      closed = true;
    },
    release(reason) {
      for (const execution of live) releaseRun(execution, reason);
    },
  };
};

const createFor = (
  deps: RuntimeDeps,
  { scope, thread_id, agent, adapter, messages, waiting, failed, observed, attempts }: EphemeralInput,
  ended: (end: End) => void,
): Execution => {
  const at = deps.clock.now();
  const run = newRun({
    run_id: deps.ids.uuid(),
    thread_id,
    agent_id: agent.spec.id,
    resolution_id: agent.resolution_id,
    origin: 'user',
    adapter,
    mode: 'foreground',
    at,
  });
  const own: RuntimeDeps = {
    ...deps,
    runs: undefined,
    traces: observed?.traces,
    observe: observed?.observe ?? deps.observe,
    ...(attempts !== undefined && { settings: withAttempts(deps, attempts) }),
  };
  const execution = createExecution(own, {
    owner: ownerOf(failed, ended),
    ledger: unstoredLedger(own, { scope, id: thread_id, history: messages }),
    agent,
    run,
    dispatch: undefined,
    channel: createChannel({ held: false }),
    isHeard: false,
    compactor: undefined,
    tasks: undefined,
    mail: undefined,
    from: 'created',
  });
  const { turn } = execution;
  turn.calls = waiting.map((each) => restored(each, at));
  for (const each of waiting) {
    const resume = decided(deps, each, at);
    if (resume) turn.decisions.set(each.call.id, resume);
  }
  execution.entry = waiting.length > 0 ? 'decisions' : 'inference';
  // Whatever becomes of it, its stream says so.
  execution.released = GIVEN_UP;
  return execution;
};

const withAttempts = ({ settings }: RuntimeDeps, max_attempts: number): RuntimeDeps['settings'] => ({
  ...settings,
  mailbox: { ...settings.mailbox, max_attempts },
});

const stateOf = ({ run, ledger, failure, turn }: Execution): EphemeralState => ({
  run,
  messages: historyOf(ledger),
  failure,
  waiting: openTickets(turn.calls).flatMap(({ call, ticket }) =>
    ticket ? [{ call, ticket_id: ticket.id, resume_mode: ticket.resume_mode }] : [],
  ),
});

const GIVEN_UP = 'the run was given up';

const ownerOf = (worded: RunOwner['worded'], ended: (end: End) => void): RunOwner => {
  let isParked = false;
  return {
    isObserved: false,
    progressed() {},
    parked(execution) {
      isParked = true;
      // Nobody waits here: the next request brings what is waited for. What it waits for has been said.
      execution.released = undefined;
      abandonRun(execution);
    },
    settled: (_execution, how) => ended(isParked ? 'suspended' : how),
    streamLeft: (_execution, channel) => channel.close(),
    leftOver() {},
    worded,
  };
};

const restored = ({ call, ticket_id, resume_mode }: WaitingCall, updated_at: number): StepCall => ({
  call,
  malformed: undefined,
  status: 'suspended',
  updated_at,
  ticket: { id: ticket_id, reason: `tool:${call.name}`, resume_mode },
  edited: undefined,
  passed: false,
  kept: undefined,
  returned: undefined,
  ran: undefined,
});

/** @throws Conflict, Unprocessable */
const decided = (
  { ids }: RuntimeDeps,
  { call, ticket_id, resume_mode, decision }: WaitingCall,
  updated_at: number,
): Resume | undefined => {
  if (!decision) return undefined;
  const ticket = {
    run_id: '',
    ticket_id,
    tool_call_id: call.id,
    tool_name: call.name,
    arguments: call.arguments,
    resume_mode,
    updated_at,
  };
  const { resume } = acceptDecision({ ticket }, { tool_call_id: ticket_id, ...decision });
  return { decision_id: ids.uuid(), ...resume, updated_at };
};
