import { type Actor, createActor } from 'xstate';
import type { RunEnding, RunEntry } from '../../machines/run.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import type { Mailer, RunTasks } from '../loop/background.ts';
import { cancelCalls, findTicket } from '../loop/calls.ts';
import { InferenceFailed, isPausing } from '../loop/infer.ts';
import { hasMail, sendOut } from '../loop/outbox.ts';
import { runPhase } from '../loop/phases.ts';
import { recoverEntry } from '../loop/recover.ts';
import { turnMark } from '../loop/state.ts';
import { abandonStep, completeStep } from '../loop/step.ts';
import { mustWait, settleLostTasks } from '../loop/tasks.ts';
import type { StepCall, Turn } from '../loop/turn.ts';
import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import { Conflict } from '../schema/outcome.ts';
import type { PendingMessage } from '../schema/pending.ts';
import type { Resume, Run, WaitingTicket } from '../schema/run.ts';
import { atRest } from '../schema/run-state.ts';
import type { Attach, Channel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { finishOf, startOf } from './ending.ts';
import { lastWords, wordsOfWait } from './last-words.ts';
import type { Ledger, Write } from './ledger.ts';
import { observeEnd, observeStart } from './observe.ts';
import { selectPending, targetedAt } from './pending.ts';
import { claimChanges, claimedRun, hasEnded, logDispatch, statusOf } from './records.ts';
import { createRunRecord } from './run-record.ts';
import { type BoundRunMachine, type Host, retryDelay } from './run-services.ts';
import { createLoggedStream } from './run-stream.ts';
import { beginTurn, createTurn } from './turn.ts';
import { stageEvent } from './wake.ts';

/**
 * One execution of one run in this process: the run machine with its services. Each service that writes makes one
 * commit; the last one holds the messages, the record, the dispatch, the terminal event and the thread's pointers
 * together, and only after it the terminal frame leaves.
 */

export type Execution = {
  readonly run_id: string;
  /** As the execution last wrote them. */
  run(): Run;
  dispatch(): Dispatch;
  /** Emits `run_start`; what it adds to the log, and input that it begins with, go into the write of the caller. */
  announce(write: Write): void;
  start(): void;
  /** Its end is not being written yet. */
  stoppable(): boolean;
  /** False when it is too late. */
  cancel(): boolean;
  takesInput(): boolean;
  /** Input was staged for it. */
  steer(): void;
  /** The suspended call that a decision may be made on, by its id or that of its ticket. */
  ticket(id: string): StepCall | undefined;
  /** All that a decision may be made on. */
  tickets(): WaitingTicket[];
  /** Notes a decision in the record, with the write of the caller; `resume` then applies it. */
  note(write: Write, callId: string, decision: Resume, parked: boolean): void;
  resume(attach?: Attach): void;
  /** A reader for the rest of its stream. False when that has ended. */
  follow(attach: Attach): boolean;
  /** The wait ends by itself, with the write of the caller; `resume` then goes on. Must be parked. */
  wake(write: Write): void;
  renew(write: Write): void;
  /** The wait goes on without this process: its dispatch is consumed. Must be parked. */
  leave(write: Write): void;
  /** Ends silently; somebody else has written the end of the run. */
  drop(): void;
  /** It failed, and waits for its next try or attempt. */
  isPausing(): boolean;
  /** Gives its dispatch back without an end; streams are told the reason. */
  release(reason: string): void;
  /** Stops at once and writes nothing; who goes on from the last commit has its stream (`onStreamLeft`). */
  abandon(): void;
};

export type ExecutionInput = {
  ledger: Ledger;
  agent: ResolvedAgent;
  run: Run;
  /** Claimed by this process. */
  dispatch: Dispatch;
  channel: Channel;
  /** The readers of the channel had a `run_start`, from an execution that was abandoned. */
  isHeard: boolean;
  compactor: Turn['compactor'];
  tasks: RunTasks;
  mail: Mailer;
  /** How the run was before: not begun, interrupted by a crash, or waiting. */
  from: 'created' | 'running' | 'waiting';
  /** Something that it did is durable. */
  onProgress(): void;
  /** The run waits, and nothing executes. */
  onParked(): void;
  /** Called once, when the run has ended or was let go. */
  onSettled(how: 'ended' | 'released'): void;
  /** Called before that, when the run was let go and its stream has not ended. */
  onStreamLeft(channel: Channel): void;
  /** Input that this run will not take any more becomes work of its own, or history. */
  onLeftover(write: Write, entries: readonly PendingMessage[]): void;
};

export const createExecution = (
  deps: RuntimeDeps,
  machine: BoundRunMachine,
  input: ExecutionInput,
): Execution => {
  const { clock, ids, settings } = deps;
  const { ledger, from } = input;
  const { run_id, thread_id } = input.run;
  const startedAt = monotonic(clock);
  let failure: unknown;
  /** Why the service lets go of it. */
  let released: string | undefined;
  let isHeard = input.isHeard;
  let dropped = false;
  let counted = false;
  let actor: Actor<BoundRunMachine> | undefined;
  let gone = (): void => {};
  /** The tickets that readers of the log know of. */
  let reported = (from === 'waiting' && input.run.waiting?.ticket_ids?.join('\n')) || '';

  const stream = createLoggedStream(settings.event_capture_mode, {
    run_id,
    channel: input.channel,
    continued: from !== 'created',
    watch: deps.runs && {
      began: (channel) => deps.runs?.began(ledger.scope, run_id, channel),
      ended: () => deps.runs?.ended(ledger.scope, run_id),
    },
  });
  const turn = createTurn(deps, input, {
    stream,
    checkpoint: (boundary) => commitProgress(boundary),
    tell: ({ kind, payload }) => stream.tell(kind, payload),
  });
  const record = createRunRecord({
    ...input,
    turn,
    stream,
    status: () => (actor ? statusOf(actor.getSnapshot()) : input.run.status),
  });

  const commitProgress: Turn['checkpoint'] = async (boundary) => {
    const write = ledger.open(clock.now());
    record.gather(write);
    const taken = boundary ? record.takeInput(write, boundary) : 0;
    record.put(write);
    await write.commit('progress');
    input.onProgress();
    return { taken };
  };

  /** New input that continues the run begins another turn of it. */
  const beginStream = (afterWait: boolean): void => {
    if (afterWait && turn.hasInput()) beginTurn(turn);
    const mark = turnMark(turn.state);
    const start = { ...startOf(record.run()), ...(mark && { turn_id: mark.turn_id }) };
    if (isHeard) stream.log(start);
    else stream.emit(start);
    isHeard = false;
  };

  /** Mail is durable in the state of the thread before it leaves. */
  const sendMail = async (signal: AbortSignal, last = false): Promise<void> => {
    if (!hasMail(turn)) return;
    const write = ledger.open(clock.now());
    const kept = turn.state.takeKept();
    if (kept) write.keep(run_id, kept);
    await write.commit('progress');
    await sendOut(turn, signal, last);
  };

  const host: Host = {
    turn,
    async beginDeciding(signal) {
      await completeStep(turn, signal);
      if (stream.reopen()) beginStream(true);
    },
    answered() {
      if (selectPending(ledger.pending(), 'on_natural_end', run_id).length > 0)
        actor?.send({ type: 'STEER' });
    },
    async checkpoint(signal) {
      await completeStep(turn, signal);
      if (signal.aborted) return { over: false };
      const { taken } = await commitProgress(turn.answered ? 'on_natural_end' : 'next_step');
      if (taken > 0) turn.answered = false;
      await sendOut(turn, signal);
      return turn.answered ? { over: true, waits: await mustWait(turn, signal) } : { over: false };
    },
    failed(error) {
      const told = error instanceof InferenceFailed ? error.told : { err: error };
      deps.log.warn({ ...told, run_id }, 'an inference failed');
      failure = error;
    },
    broke: (err) => deps.log.error({ err, run_id }, 'what the run was doing failed'),
    reschedule({ attempt }) {
      const error = failure instanceof Error ? failure.message : String(failure);
      abandonStep(turn, { reason: RESUMED, error });
      turn.produced = [];
      const write = ledger.open(clock.now());
      record.gather(write);
      record.put(write);
      record.advance(
        write,
        { type: 'NACK', threadEpoch: ledger.epoch() },
        { last_error: error, available_at: write.at + retryDelay(settings.mailbox, attempt) },
      );
      logDispatch(write, 'RunRescheduled', record.dispatch(), { reason: 'retry_backoff', error });
      return write.commit('progress');
    },
    async reclaim() {
      const write = ledger.open(clock.now());
      const session_id = record.dispatch().dispatch_instance_id ?? ids.uuid();
      record.advance(
        write,
        { type: 'CLAIM', threadEpoch: ledger.epoch() },
        claimChanges(deps, session_id, write.at),
      );
      const dispatch = record.dispatch();
      if (dispatch.status === 'Claimed') logDispatch(write, 'RunSubmitted', dispatch);
      const found = recoverEntry(turn);
      if (found === 'inference') record.takeInput(write, 'next_step');
      record.put(write);
      await write.commit('progress');
      if (dispatch.status !== 'Claimed')
        throw new Conflict(`dispatch '${dispatch.dispatch_id}' is ${dispatch.status}`);
      return { entry: found };
    },
    async park(waits, signal) {
      await completeStep(turn, signal);
      await sendMail(signal);
      if (signal.aborted) return;
      const terminal = wordsOfWait(turn, record.run(), waits);
      const write = ledger.open(clock.now());
      record.gather(write);
      const waiting = record.waitingOn(waits);
      const tickets = waiting.ticket_ids?.join('\n') ?? '';
      // The same tickets again are no news to the log (runtime.md 13.5 rule 2).
      if (tickets !== reported || tickets === '') stream.log(terminal);
      reported = tickets;
      stream.flush(write, record.dispatch().dispatch_id);
      record.put(write, { waiting });
      record.advance(
        write,
        { type: 'RENEW', threadEpoch: ledger.epoch() },
        { lease_until: write.at + settings.mailbox.suspended_lease_ms, run_status: 'waiting' },
      );
      await write.commit('progress');
      if (signal.aborted) return;
      stream.channel().emit(terminal);
      stream.close();
    },
    parked() {
      count(false);
      input.onParked();
    },
    async conclude(ending, signal) {
      reopenFor(ending);
      if (ending.type !== 'error') await completeStep(turn, signal);
      await runPhase(turn, 'run_end', signal);
      turn.tasks?.end();
      if (ledger.record()) await sendMail(signal, true);
    },
    async finish(ending) {
      reopenFor(ending);
      turn.tasks?.end();
      const terminal = lastWords(turn, record.run(), ending);
      const write = ledger.open(clock.now());
      record.gather(write);
      takeLeftover(write);
      // The terminal event is the last of its run, behind the messages of the same commit.
      stream.log(terminal);
      stream.flush(write, record.dispatch().dispatch_id);
      record.finish(write, ending, failure);
      await write.commit('progress');
      stream.channel().emit(terminal);
    },
  };

  /** What tasks told is history and nothing else; other input becomes work of its own. */
  const takeLeftover = (write: Write): void => {
    const entries = targetedAt(ledger.pending(), run_id);
    const told = entries.filter(({ message }) => message.visibility === 'internal');
    const leftover = entries.filter((entry) => !told.includes(entry));
    if (told.length > 0) write.deliver(told, run_id);
    if (leftover.length > 0) input.onLeftover(write, leftover);
  };

  /** Tasks that an earlier process took with it. */
  const reportLostTasks = (write: Write): void => {
    const staged = targetedAt(ledger.pending(), run_id).map(({ message }) => message);
    for (const event of settleLostTasks(turn, staged, (id) => ledger.waiting().has(id)))
      stageEvent(write, run_id, event);
  };

  /** The end of a wait is told in a stream of its own; what was open is not executed any more. */
  const reopenFor = ({ type }: RunEnding): void => {
    if (stream.reopen()) beginStream(false);
    if (type === 'cancelled') cancelCalls(turn);
  };

  const leaveStream = (): void => {
    const channel = stream.channel();
    if (released !== undefined) {
      abandonStep({ ...turn, stream: channel });
      channel.emit(finishOf(record.run(), { type: 'error', value: released }));
      giveBack();
    } else if (stream.isOpen()) {
      // The run goes on, and its readers with it: as after any failure that is not its end (runtime.md 10.4).
      abandonStep({ ...turn, stream: channel }, { reason: RESUMED });
      stream.leave();
      input.onStreamLeft(channel);
    }
  };

  /** Nothing was lost and nobody failed: whoever takes it up next does so with the attempts that it has. */
  const giveBack = (): void => {
    const { status } = record.dispatch();
    // Between two attempts it is queued already.
    if (status !== 'Claimed' || !ledger.isSound()) return;
    const write = ledger.open(clock.now());
    record.advance(write, { type: 'RELEASE', threadEpoch: ledger.epoch() }, { available_at: write.at });
    logDispatch(write, 'RunRescheduled', record.dispatch(), { reason: 'released' });
    write.commit('progress').catch(() => {});
  };

  /** A run that waits executes nothing. */
  const count = (executes: boolean): void => {
    if (counted === executes) return;
    counted = executes;
    deps.observe.runs.executing(executes ? 1 : -1);
  };

  const settle = (): void => {
    count(false);
    if (dropped) return;
    const how = actor && hasEnded(actor.getSnapshot()) ? 'ended' : 'released';
    gone();
    if (how === 'released') leaveStream();
    stream.close();
    observeEnd(deps, { how, startedAt, failure, run: record.run(), dispatch: record.dispatch() });
    input.onSettled(how);
  };

  let begins: RunEntry = 'inference';

  const stoppable = (): boolean => actor?.getSnapshot().can({ type: 'CANCEL' }) ?? false;

  const drop = (): void => {
    dropped = true;
    count(false);
    gone();
    actor?.stop();
  };

  return {
    run_id,
    run: record.run,
    dispatch: record.dispatch,
    announce(write) {
      reportLostTasks(write);
      beginStream(from === 'waiting');
      stream.flush(write, record.dispatch().dispatch_id);
      if (from === 'waiting') return;
      begins = recoverEntry(turn);
      if (begins !== 'inference') return;
      const boundary = from === 'created' && !record.run().input ? 'new_run' : 'next_step';
      if (record.takeInput(write, boundary) > 0) record.put(write);
    },
    start() {
      count(true);
      observeStart(deps, record.dispatch());
      const { attempt_count: attempt, max_attempts: maxAttempts } = record.dispatch();
      const machineInput = { host, entry: begins, attempt, maxAttempts };
      actor =
        from === 'waiting'
          ? createActor(machine, {
              input: machineInput,
              snapshot: machine.resolveState({
                ...atRest('answered'),
                context: { ...machineInput, ending: undefined, steered: false, decided: false },
              }),
            })
          : createActor(machine, { input: machineInput });
      actor.subscribe({
        complete: settle,
        error(error) {
          deps.log.error({ err: error, run_id }, 'the run machine failed');
          settle();
        },
      });
      gone = deps.actors.began(actor, { machine: 'run', id: run_id, scope: ledger.scope, parent: thread_id });
      actor.start();
      if (from === 'waiting') return actor.send({ type: 'RESUME' });
      actor.send({ type: 'CLAIM' });
      // What came while the calls of a step executed, before the process died.
      if (begins !== 'unfinished_calls') return;
      if (turn.decisions.size > 0) actor.send({ type: 'RESUME' });
      if (turn.hasInput()) actor.send({ type: 'STEER' });
    },
    stoppable,
    cancel() {
      if (!stoppable()) return false;
      actor?.send({ type: 'CANCEL' });
      return true;
    },
    takesInput: () => actor?.getSnapshot().can({ type: 'STEER' }) ?? false,
    steer: () => actor?.send({ type: 'STEER' }),
    ticket(id) {
      if (!actor?.getSnapshot().can({ type: 'RESUME' })) return undefined;
      const found = findTicket(turn.calls, id);
      return found?.status === 'suspended' && !turn.decisions.has(found.call.id) ? found : undefined;
    },
    tickets() {
      if (!actor?.getSnapshot().can({ type: 'RESUME' })) return [];
      return record.tickets().filter(({ tool_call_id }) => !turn.decisions.has(tool_call_id));
    },
    note(write, callId, decision, parked) {
      turn.decisions.set(callId, decision);
      const run = record.run();
      const activation = run.activation && {
        ...run.activation,
        seeded_decisions: [...turn.decisions],
      };
      const noted = { ...run, ...(activation && { activation }) };
      record.set(write, parked ? claimedRun(noted, run.session_id ?? '', write.at) : noted);
    },
    resume(attach) {
      count(true);
      if (attach) stream.readersOfNext(attach);
      actor?.send({ type: 'RESUME' });
    },
    follow(attach) {
      if (!stream.isOpen()) return false;
      attach(stream.channel());
      return true;
    },
    wake(write) {
      const run = record.run();
      const activation = run.activation && {
        ...run.activation,
        trace: { ...run.activation.trace, run_mode: 'internal_wake' as const },
      };
      const woken = { ...run, ...(activation && { activation }) };
      record.set(write, claimedRun(woken, run.session_id ?? '', write.at));
    },
    renew(write) {
      record.advance(
        write,
        { type: 'RENEW', threadEpoch: ledger.epoch() },
        { lease_until: write.at + settings.mailbox.lease_ms, run_status: 'running' },
      );
    },
    leave(write) {
      const done = { run_status: record.run().status, completed_at: write.at };
      record.advance(write, { type: 'ACK', threadEpoch: ledger.epoch() }, done);
      drop();
    },
    drop,
    isPausing: () =>
      isPausing(turn) || (actor?.getSnapshot().matches({ running: { retrying: 'pausing' } }) ?? false),
    release(reason) {
      released = reason;
      turn.letGo = true;
      actor?.send({ type: 'RELEASE' });
    },
    abandon() {
      turn.letGo = true;
      actor?.send({ type: 'RELEASE' });
    },
  };
};

/** What readers of a stream are told when a run goes on from its last commit. */
const RESUMED = 'resumed from checkpoint';
