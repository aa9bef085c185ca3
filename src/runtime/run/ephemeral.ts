import type { ResolvedAgent } from '../../loop/agent.ts';
import { openTickets } from '../../loop/calls.ts';
import type { StepCall } from '../../loop/turn.ts';
import type { Resume, RunAdapter } from '../../schema/activation.ts';
import type { Message, ToolCall } from '../../schema/message.ts';
import { Unavailable } from '../../schema/outcome.ts';
import type { ResumeMode, Run } from '../../schema/run.ts';
import type { BudgetMeter, RunTraces, RuntimeDeps, RuntimeObserver, UsageBook } from '../deps.ts';
import { unstoredLedger } from '../ledger/in-memory.ts';
import { historyOf } from '../ledger/ledger.ts';
import { acceptFiles } from '../thread/accept-files.ts';
import { refuseExcessRuns, refuseExhausted } from '../thread/exhausted.ts';
import type { DecisionInput } from '../thread/submission.ts';
import { acceptDecision } from '../thread/tickets.ts';
import { startActor } from './actor.ts';
import { abandonRun, releaseRun } from './control.ts';
import { createExecution } from './create-execution.ts';
import { beginStream, type Execution, type RunOwner } from './execution.ts';
import { type Attach, createChannel } from './live-channel.ts';
import { payerOf, type Spender } from './payer.ts';
import { newRun } from './transitions.ts';

/**
 * Runs that are not stored: the client sends the whole history with each request and receives the result.
 *
 * Guarantees: the same execution as for every other run, visible in the inspection of actors, without any read or write
 * of the store. A call that waits for a decision ends the run; the next request contains the call and the decision, and
 * a run with a new id continues. When its signal fires, the client has disconnected and the run is cancelled. Nothing
 * survives the process.
 * Relies on the client for the details of earlier calls.
 */

export type EphemeralInput = {
  scope: string;
  thread_id: string;
  agent: ResolvedAgent;
  adapter: RunAdapter;
  /** Oldest first, with the calls of assistant messages and their results. */
  messages: readonly Message[];
  waiting: readonly WaitingCall[];
  attach: Attach;
  signal: AbortSignal;
  /** The user and the key that its inferences are charged to; undefined for a replayed script, which costs nothing. */
  spender: Spender | undefined;
  /** Returns the public text of a failure for the stream. */
  failed(reason: string): string;
  /** Traces and observer of the run, in place of the general ones. */
  observed?: { traces: RunTraces; observe: RuntimeObserver };
  /** The maximum number of attempts of a failing inference, as for a dispatch; defaults to the settings. */
  attempts?: number;
};

/** A call of the last assistant message without a result; without a decision it keeps waiting. */
export type WaitingCall = {
  call: ToolCall;
  ticket_id: string;
  resume_mode: ResumeMode;
  decision?: Omit<DecisionInput, 'tool_call_id'>;
};

/** `ended`: with an ending; `suspended`: waits for a decision; `released`: the service stops. */
type End = 'ended' | 'suspended' | 'released';

export type EphemeralRun = {
  run_id: string;
  /** Resolves when its stream has ended. */
  done: Promise<End>;
  state(): EphemeralState;
};

export type EphemeralState = {
  run: Run;
  /** The whole history, including the messages that the run has added. */
  messages: readonly Message[];
  failure: unknown;
  /** Calls that wait for a decision. */
  waiting: readonly WaitingCall[];
};

export type EphemeralRuns = {
  /** @throws Unavailable when the service stops; Conflict or Unprocessable for a decision that is not accepted */
  start(input: EphemeralInput): EphemeralRun;
  live(): number;
  /** Rejects new runs. */
  close(): void;
  /** Releases the live runs; their streams end with the reason. */
  release(reason: string): void;
};

export const createEphemeralRuns = (deps: RuntimeDeps): EphemeralRuns => {
  const live = new Set<Execution>();
  let closed = false;
  return {
    start(given) {
      if (closed) throw new Unavailable('service is shutting down');
      const { scope, agent, spender } = given;
      const messages = acceptFiles(deps, scope, given.messages);
      const input = messages === given.messages ? given : { ...given, messages };
      if (spender) {
        refuseExhausted(deps, scope, agent, { spender, canWait: false });
        refuseExcessRuns(deps, scope, agent, { spender });
      }
      let resolveEnd = (_end: End): void => {};
      const done = new Promise<End>((resolve) => {
        resolveEnd = resolve;
      });
      const execution = createFor(deps, input, (end) => {
        live.delete(execution);
        input.signal.removeEventListener('abort', cancel);
        resolveEnd(end);
      });
      const cancel = (): void => execution.actor?.send({ type: 'CANCEL' });
      live.add(execution);
      if (spender) countUnstored(deps, { scope, agent, spender, run: execution.run });
      input.attach(execution.stream.channel());
      beginStream(execution, false);
      startActor(execution);
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

const createFor = (deps: RuntimeDeps, input: EphemeralInput, ended: (end: End) => void): Execution => {
  const { scope, thread_id, agent, adapter, messages, waiting, failed, observed, attempts, spender } = input;
  const at = deps.clock.now();
  const run = newRun({
    run_id: deps.ids.uuid(),
    thread_id,
    agent_id: agent.spec.id,
    resolution_id: agent.resolution_id,
    agent_version: agent.version,
    origin: 'user',
    adapter,
    mode: 'foreground',
    at,
  });
  const own: RuntimeDeps = {
    ...deps,
    runs: undefined,
    meter: spender && deps.meter && meterOf(deps.meter, spender),
    usage: spender && deps.usage && usageOf(deps.usage, spender),
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
    isAnnounced: false,
    compactor: undefined,
    tasks: undefined,
    mail: undefined,
    from: 'created',
    interrupted: false,
  });
  const { turn } = execution;
  turn.noteUsage({ agent: agent.spec.id, model: agent.model.id, runs: 1 });
  turn.calls = waiting.map((each) => restored(each, at));
  for (const each of waiting) {
    const resume = decided(deps, each, at);
    if (resume) turn.decisions.set(each.call.id, resume);
  }
  execution.entry = waiting.length > 0 ? 'decisions' : 'inference';
  // Every release must end the stream with a terminal event.
  execution.released = GIVEN_UP;
  return execution;
};

/** The count outlives the run, which is not stored. */
const countUnstored = (
  { meter, store, log }: RuntimeDeps,
  { scope, agent, spender, run }: { spender: Spender; run: Run } & Pick<EphemeralInput, 'scope' | 'agent'>,
): void => {
  const batch = store.batch('commons');
  const { spec, model } = agent;
  meter?.addRun(batch, { ...payerOf(scope, run), ...spender, agent: spec.id, model: model.id });
  if (batch.writes.length === 0) return;
  store.commit(batch).catch((err) => log.error('budget.commit_failed', { err }));
};

const meterOf = (meter: BudgetMeter, spender: Spender): BudgetMeter => ({
  ...meter,
  open: ({ payer, ...options }) => meter.open({ ...options, payer: { ...payer, ...spender } }),
});

const usageOf = (usage: UsageBook, { user }: Spender): UsageBook => ({
  ...usage,
  open: (options) => usage.open({ ...options, user }),
});

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

const GIVEN_UP = 'the run was abandoned';

const ownerOf = (publicReason: RunOwner['publicReason'], ended: (end: End) => void): RunOwner => {
  let isSuspended = false;
  return {
    isObserved: false,
    isStored: false,
    progressed() {},
    suspended(execution) {
      isSuspended = true;
      // No process waits for the decision: the next request contains it. The wait was already reported to the stream.
      execution.released = undefined;
      abandonRun(execution);
    },
    settled: (_execution, how) => ended(isSuspended ? 'suspended' : how),
    streamReleased: (_execution, channel) => channel.close(),
    requeueUnconsumed() {},
    publicReason,
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
    agent_id: '',
    user: undefined,
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
