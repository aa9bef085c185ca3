import { type Actor, createActor, fromPromise } from 'xstate';
import { type RunContext, type RunEnding, type RunEntry, runMachine } from '../../machines/run.ts';
import { act } from '../loop/act.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { infer } from '../loop/infer.ts';
import { reopenStep, unfinishedCalls } from '../loop/recover.ts';
import { createRunState, setLifecycle } from '../loop/state.ts';
import { abandonStep, completeStep } from '../loop/step.ts';
import type { RunStream, Turn } from '../loop/turn.ts';
import { seconds } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import { type Message, textOf } from '../schema/message.ts';
import { Conflict } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { RunEvent, RunEventOf } from '../schema/run-event.ts';
import { kindsOf } from './capture.ts';
import type { Channel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { finishedRun, finishOf, outcomeOf, settleDispatch, statusReason, terminationOf } from './ending.ts';
import type { Ledger, Write } from './ledger.ts';
import { advanceDispatch, claim, dispatchFacts, identityOf, statusOf } from './records.ts';

/**
 * One execution of one run in this process: the run machine with its services, and what the loop gathers between
 * two commits. Each service that writes makes one commit; the last one holds the messages, the record, the
 * dispatch, the terminal event and the thread's pointers together, and only after it the terminal frame leaves.
 */

export type Execution = {
  readonly run_id: string;
  /** As the execution last wrote it. */
  dispatch(): Dispatch;
  readonly channel: Channel;
  /** Emits `run_start` into the channel; what it adds to the log goes into the write of the caller. */
  announce(write: Write): void;
  start(): void;
  cancel(): void;
  /** Lets go without an end; streams are told the reason. */
  release(reason: string): void;
};

export type ExecutionInput = {
  ledger: Ledger;
  agent: ResolvedAgent;
  run: Run;
  /** Claimed by this process. */
  dispatch: Dispatch;
  channel: Channel;
  /** The run has begun before: after a crash, or after a wait. */
  continued: boolean;
  /** Called once, when the run has ended, waits, or was let go. */
  onSettled(how: 'ended' | 'released'): void;
};

/** What the services of the machine work on: the context's `host`. */
type Host = {
  turn: Turn;
  checkpoint(): Promise<void>;
  reschedule(context: RunContext): Promise<void>;
  reclaim(): Promise<{ entry: RunEntry }>;
  finish(ending: RunEnding): Promise<void>;
  failed(error: unknown): void;
};

// The host of every run machine that this room starts is made by createExecution.
const hostOf = (context: RunContext): Host => context.host as Host;

/** The retry delay of a dispatch in ms (runtime.md 10.4 rule 5). */
const retryDelay = (settings: RuntimeDeps['settings']['mailbox'], attempt: number): number =>
  Math.min(settings.retry_cap_ms, settings.retry_base_ms * 2 ** Math.min(Math.max(attempt - 1, 0), 6));

/** The run machine with the services of this process; made once, since binding a machine is not cheap. */
export const bindRunMachine = (deps: RuntimeDeps) =>
  runMachine.provide({
    actors: {
      infer: fromPromise(async ({ input, signal }) => {
        const host = hostOf(input);
        try {
          return await infer(host.turn, signal);
        } catch (error) {
          if (!signal.aborted) host.failed(error);
          throw error;
        }
      }),
      act: fromPromise(({ input, signal }) => act(hostOf(input).turn, signal)),
      checkpoint: fromPromise(({ input }) => hostOf(input).checkpoint()),
      reschedule: fromPromise(({ input }) => hostOf(input).reschedule(input)),
      reclaim: fromPromise(({ input }) => hostOf(input).reclaim()),
      finish: fromPromise(({ input }) => hostOf(input).finish(input.ending ?? { type: 'natural_end' })),
    },
    delays: { retryDelay: ({ context }) => retryDelay(deps.settings.mailbox, context.attempt) },
  });

export type BoundRunMachine = ReturnType<typeof bindRunMachine>;

export const createExecution = (
  deps: RuntimeDeps,
  machine: BoundRunMachine,
  input: ExecutionInput,
): Execution => {
  const { clock, ids, settings } = deps;
  const { ledger, agent, channel } = input;
  const startedAt = clock.now();
  let { run, dispatch } = input;
  let captured: { kind: string; payload: RunEvent }[] = [];
  let failure: unknown;
  let released = 'the execution was given up';
  let actor: Actor<BoundRunMachine> | undefined;

  const capture = (event: RunEvent): void => {
    for (const kind of kindsOf(event, settings.event_capture_mode, input.continued)) {
      captured.push({ kind, payload: event });
    }
  };

  const full = settings.event_capture_mode === 'full_fidelity';
  const stream: RunStream = {
    emit(event) {
      capture(event);
      channel.emit(event);
    },
    text(delta) {
      if (full) capture({ event_type: 'text_delta', delta });
      channel.text(delta);
    },
    reasoning(delta) {
      if (full) capture({ event_type: 'reasoning_delta', delta });
      channel.reasoning(delta);
    },
    toolDelta(id, args_delta) {
      if (full) capture({ event_type: 'tool_call_delta', id, args_delta });
      channel.toolDelta(id, args_delta);
    },
  };

  const turn: Turn = {
    run_id: run.run_id,
    thread_id: run.thread_id,
    agent,
    clock,
    ids,
    stream,
    state: createRunState(run.state),
    observe: deps.observe,
    committed: ledger.history,
    produced: [],
    step: undefined,
    steps: run.steps,
    rounds: run.steps,
    continuations: 0,
    inputTokens: run.input_tokens,
    outputTokens: run.output_tokens,
    response: input.continued ? lastAnswer(ledger.history(), run.run_id) : '',
    checkpoint: () => commitProgress(),
  };

  const logCaptured = (write: Write): void => {
    for (const { kind, payload } of captured) {
      write.event(kind, payload, { run_id: run.run_id, correlation_id: dispatch.dispatch_id });
    }
    captured = [];
  };

  /** Messages, events and counters gathered since the last commit go into the write, in the order they came. */
  const gather = (write: Write): void => {
    logCaptured(write);
    const range = write.messages(turn.produced, run.run_id);
    turn.produced = [];
    const from_seq = run.output?.range?.from_seq ?? range?.from_seq;
    const to_seq = range?.to_seq ?? run.output?.range?.to_seq;
    run = {
      ...run,
      status: actor ? statusOf(actor.getSnapshot()) : run.status,
      ...(from_seq !== undefined &&
        to_seq !== undefined && { output: { thread_id: run.thread_id, range: { from_seq, to_seq } } }),
      steps: turn.steps,
      input_tokens: turn.inputTokens,
      output_tokens: turn.outputTokens,
      state: turn.state.snapshot(),
      updated_at: seconds(write.at),
    };
  };

  const commitProgress = (): Promise<void> => {
    const before = run;
    const write = ledger.open(clock.now());
    gather(write);
    write.run(run, before);
    return write.commit('progress');
  };

  const host: Host = {
    turn,
    checkpoint() {
      completeStep(turn);
      return commitProgress();
    },
    failed(error) {
      failure = error;
    },
    reschedule({ attempt }) {
      const delay = retryDelay(settings.mailbox, attempt);
      const error = failure instanceof Error ? failure.message : String(failure);
      abandonStep(turn, 'resumed from checkpoint');
      turn.produced = [];
      const before = dispatch;
      const write = ledger.open(clock.now());
      gather(write);
      dispatch = advanceDispatch(
        dispatch,
        { type: 'NACK', threadEpoch: ledger.epoch() },
        { last_error: error, available_at: write.at + delay, updated_at: write.at },
      );
      write.dispatch(dispatch, before);
      write.event(
        'RunRescheduled',
        { ...dispatchFacts(dispatch), reason: 'retry_backoff', error },
        { run_id: run.run_id, correlation_id: dispatch.dispatch_id },
      );
      return write.commit('progress');
    },
    async reclaim() {
      const before = dispatch;
      const write = ledger.open(clock.now());
      dispatch = claim(dispatch, ledger.epoch(), dispatch.dispatch_instance_id ?? ids.uuid(), write.at, {
        ...deps,
        lease_ms: settings.mailbox.lease_ms,
      });
      write.dispatch(dispatch, before);
      if (dispatch.status === 'Claimed') {
        write.event('RunSubmitted', dispatchFacts(dispatch), {
          run_id: run.run_id,
          correlation_id: dispatch.dispatch_id,
        });
      }
      await write.commit('progress');
      if (dispatch.status !== 'Claimed')
        throw new Conflict(`dispatch '${dispatch.dispatch_id}' is ${dispatch.status}`);
      return { entry: entry() };
    },
    async finish(ending) {
      const terminal = conclude(ending);
      const before = run;
      const write = ledger.open(clock.now());
      gather(write);
      // The terminal event is the last of its run, behind the messages of the same commit.
      capture(terminal);
      logCaptured(write);
      run = finishedRun(run, ending, turn, ledger.history(), write.at);
      write.run(run, before);
      const settled = settleDispatch(dispatch, run, failure, ledger.epoch(), write.at);
      write.dispatch(settled, dispatch);
      dispatch = settled;
      await write.commit('progress');
      channel.emit(terminal);
    },
  };

  /** The tail of the stream (runtime.md 6.3), up to the terminal event, which leaves after the commit. */
  const conclude = (ending: RunEnding): RunEventOf<'run_finish'> => {
    const termination = terminationOf(ending);
    if (ending.type === 'error') abandonStep(turn);
    else completeStep(turn);
    const status_reason = statusReason(termination);
    setLifecycle(turn.state, {
      run_id: run.run_id,
      status: 'done',
      status_reason,
      updated_at: clock.now(),
      step_count: turn.steps,
    });
    if (ending.type !== 'error')
      stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
    const terminal: RunEventOf<'run_finish'> = {
      event_type: 'run_finish',
      thread_id: run.thread_id,
      run_id: run.run_id,
      identity: identityOf(run),
      ...(ending.type !== 'error' && { result: { response: turn.response, status: 'done', status_reason } }),
      termination,
    };
    return terminal;
  };

  const settle = (): void => {
    const how = actor?.getSnapshot().value === 'ended' ? 'ended' : 'released';
    if (how === 'released') {
      abandonStep({ ...turn, stream: channel });
      channel.emit(finishOf(run, { type: 'error', value: released }));
    }
    channel.close();
    const outcome = outcomeOf(how, run, dispatch, failure);
    const now = clock.now();
    const runtime = (now - startedAt) / 1000;
    deps.observe.runs.ended(outcome, runtime);
    deps.observe.mailbox.completed(outcome, {
      enqueueToComplete: (now - dispatch.created_at) / 1000,
      runtime,
    });
    input.onSettled(how);
  };

  const entry = (): RunEntry => {
    const asked = unfinishedCalls(ledger.history(), run.run_id);
    if (!asked) return 'inference';
    reopenStep(turn, asked);
    return 'unfinished_calls';
  };

  return {
    run_id: run.run_id,
    dispatch: () => dispatch,
    channel,
    announce(write) {
      stream.emit({
        event_type: 'run_start',
        thread_id: run.thread_id,
        run_id: run.run_id,
        ...(run.parent_run_id !== null && { parent_run_id: run.parent_run_id }),
        identity: identityOf(run),
      });
      logCaptured(write);
    },
    start() {
      deps.observe.runs.started();
      const now = clock.now();
      deps.observe.mailbox.started({
        enqueueToStart: (now - dispatch.created_at) / 1000,
        claimToStart: (now - dispatch.updated_at) / 1000,
      });
      actor = createActor(machine, {
        input: {
          host,
          entry: entry(),
          attempt: dispatch.attempt_count,
          maxAttempts: dispatch.max_attempts,
        },
      });
      actor.subscribe({
        complete: settle,
        error(error) {
          deps.log.error({ err: error, run_id: run.run_id }, 'the run machine failed');
          settle();
        },
      });
      actor.start();
      actor.send({ type: 'CLAIM' });
    },
    cancel: () => actor?.send({ type: 'CANCEL' }),
    release(reason) {
      released = reason;
      actor?.send({ type: 'RELEASE' });
    },
  };
};

/** Text of the last assistant message of the run, for an execution that takes it up again. */
const lastAnswer = (history: readonly Message[], run_id: string): string => {
  const answer = history.findLast(
    (message) => message.role === 'assistant' && message.metadata?.run_id === run_id,
  );
  return answer ? textOf(answer.content) : '';
};
