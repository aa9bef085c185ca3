import { createActor } from 'xstate';
import { BEGINNING, type RunInput } from '../../machines/run.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { answerSoFar } from '../loop/answer.ts';
import type { Mailer, RunTasks } from '../loop/background.ts';
import { recoverEntry } from '../loop/recover.ts';
import { abandonStep } from '../loop/step.ts';
import { settleLostTasks } from '../loop/tasks.ts';
import type { Turn } from '../loop/turn.ts';
import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import { atRest } from '../schema/run-state.ts';
import type { Channel } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { logDispatch } from './dispatch-records.ts';
import { finishOf } from './ending.ts';
import { beginStream, correlationOf, count, type Execution, RESUMED, type RunOwner } from './execution.ts';
import type { Ledger } from './ledger.ts';
import { observeEnd, observeStart } from './observe.ts';
import { targetedAt } from './pending.ts';
import { advanceWork, putCutOff, putRecord, takeInput } from './run-record.ts';
import { hasEnded } from './run-records.ts';
import { boundRunMachine } from './run-services.ts';
import { createLoggedStream } from './run-stream.ts';
import { commitProgress } from './run-work.ts';
import { createTurn } from './turn.ts';
import { stageEvent } from './wake.ts';
import { commit, openWrite, type Write } from './write.ts';

/**
 * How an execution begins and how it is settled. Whoever owns it begins it in this order: `createExecution`,
 * `announce` into the commit that claims the run, `startExecution`. It is settled once: it has ended, or it was let go.
 */

export type ExecutionInput = {
  owner: RunOwner;
  ledger: Ledger;
  agent: ResolvedAgent;
  run: Run;
  dispatch: Dispatch | undefined;
  channel: Channel;
  isHeard: boolean;
  compactor: Turn['compactor'];
  tasks: RunTasks | undefined;
  mail: Mailer | undefined;
  from: Execution['from'];
  /** The process that executed it before died. */
  interrupted?: boolean;
};

export const createExecution = (
  deps: RuntimeDeps,
  {
    owner,
    ledger,
    agent,
    run,
    dispatch,
    channel,
    isHeard,
    compactor,
    tasks,
    mail,
    from,
    interrupted = false,
  }: ExecutionInput,
): Execution => {
  const { run_id } = run;
  const stream = createLoggedStream(deps.settings.event_capture_mode, {
    run_id,
    channel,
    continued: from !== 'created',
    watch: deps.runs && {
      began: (each) => deps.runs?.began(ledger.scope, run_id, each, () => answerSoFar(turn)),
      ended: () => deps.runs?.ended(ledger.scope, run_id),
    },
  });
  const turn = createTurn(
    deps,
    { run, agent, ledger, from, interrupted, compactor, tasks, mail },
    {
      stream,
      checkpoint: (boundary) => commitProgress(execution, boundary),
      tell: ({ kind, payload }) => stream.tell(kind, payload),
      traceFor: (each) => {
        execution.trace = deps.traces?.observes(each) ? deps.traces.open(execution.run) : undefined;
        return execution.trace;
      },
    },
  );
  const execution: Execution = {
    deps,
    owner,
    ledger,
    run_id,
    stream,
    turn,
    trace: undefined,
    from,
    epoch: dispatch?.dispatch_epoch ?? ledger.epoch,
    startedAt: monotonic(deps.clock),
    run,
    stored: run,
    dispatch,
    entry: 'inference',
    actor: undefined,
    gone: nothing,
    failure: undefined,
    released: undefined,
    isHeard,
    dropped: false,
    counted: false,
    reported: (from === 'waiting' && run.waiting?.ticket_ids?.join('\n')) || '',
  };
  turn.trace = turn.traceFor(agent);
  return execution;
};

const nothing = (): void => {};

/** Emits `run_start`; what it adds to the log, and input that it begins with, go into the write of the caller. */
export const announce = (execution: Execution, write: Write): void => {
  const { turn, from, run } = execution;
  reportLostTasks(execution, write);
  beginStream(execution, from === 'waiting');
  execution.stream.flush(write, correlationOf(execution));
  if (from === 'waiting') return;
  execution.entry = recoverEntry(turn);
  if (execution.entry !== 'inference') {
    turn.lostAttempt = false;
    return;
  }
  const boundary = from === 'created' && !run.input ? 'new_run' : 'next_step';
  if (takeInput(execution, write, boundary) > 0) putRecord(execution, write);
};

/** Tasks that an earlier process took with it. */
const reportLostTasks = ({ ledger, turn, run_id }: Execution, write: Write): void => {
  const staged = targetedAt(ledger.pending, run_id).map(({ message }) => message);
  for (const event of settleLostTasks(turn, staged, (id) => ledger.waiting.has(id)))
    stageEvent(write, run_id, event);
};

/** Its wait is over, and it goes on from there. */
const asAnswered = (input: RunInput) =>
  boundRunMachine.resolveState({
    value: atRest('answered').value,
    context: { ...BEGINNING, ...input },
  });

export const startExecution = (execution: Execution): void => {
  const { deps, owner, dispatch, entry, from, run_id, turn } = execution;
  count(execution, true);
  if (owner.isObserved) observeStart(deps, dispatch);
  const input = {
    host: execution,
    entry,
    attempt: dispatch?.attempt_count ?? 0,
    maxAttempts: dispatch?.max_attempts ?? deps.settings.mailbox.max_attempts,
    maxHeldBackMs: deps.settings.models.outage_wait_ms,
  };
  const actor = createActor(boundRunMachine, {
    id: run_id,
    input,
    ...(from === 'waiting' && { snapshot: asAnswered(input) }),
  });
  execution.actor = actor;
  actor.subscribe({
    complete: () => settle(execution),
    error(error) {
      deps.log.error({ err: error, run_id, thread_id: execution.run.thread_id }, 'the run machine failed');
      settle(execution);
    },
  });
  const gone = deps.actors.began(actor, execution.ledger.scope, owner.thread);
  execution.gone = () => {
    gone();
    execution.trace?.close();
  };
  actor.start();
  actor.send({ type: from === 'waiting' ? 'RESUME' : 'CLAIM' });
  // What came while the calls of a step executed, before the process died.
  if (from === 'waiting' || entry !== 'unfinished_calls') return;
  if (turn.decisions.size > 0) actor.send({ type: 'RESUME' });
  if (turn.hasInput()) actor.send({ type: 'STEER' });
};

const settle = (execution: Execution): void => {
  const { deps, owner, stream, actor, startedAt, failure } = execution;
  count(execution, false);
  if (execution.dropped) return;
  const how = actor && hasEnded(actor.getSnapshot()) ? 'ended' : 'released';
  execution.gone();
  if (how === 'released') leaveStream(execution);
  stream.close();
  const { run, dispatch, turn } = execution;
  const { model_id } = turn.agent.spec;
  if (owner.isObserved)
    observeEnd(deps, {
      how,
      startedAt,
      failure,
      run,
      model_id,
      isWhole: execution.from === 'created',
      dispatch,
    });
  owner.settled(execution, how);
};

const leaveStream = (execution: Execution): void => {
  const { owner, stream, turn, run, released } = execution;
  const channel = stream.channel();
  if (released !== undefined) {
    abandonStep({ ...turn, stream: channel });
    channel.emit(finishOf(run, { type: 'error', value: owner.worded(released) }));
    giveBack(execution);
  } else if (stream.isOpen()) {
    // The run goes on, and its readers with it: as after any failure that is not its end (runtime.md 10.4).
    abandonStep({ ...turn, stream: channel }, { reason: RESUMED });
    stream.leave();
    owner.streamLeft(execution, channel);
  }
};

/** Nothing was lost and nobody failed: whoever takes it up next does so with the attempts that it has. */
const giveBack = (execution: Execution): void => {
  const { deps, ledger, dispatch } = execution;
  // Between two attempts it is queued already. Work of an older epoch ends at the next start, with its run.
  if (dispatch?.status !== 'Claimed' || dispatch.dispatch_epoch < ledger.epoch || ledger.broken) return;
  const write = openWrite(ledger, deps.clock.now());
  advanceWork(execution, write, { type: 'RELEASE', threadEpoch: ledger.epoch }, { available_at: write.at });
  putCutOff(execution, write);
  logDispatch(write, 'RunRescheduled', execution.dispatch, { reason: 'released' });
  execution.trace?.leave(write.batch);
  commit(write, 'progress').catch(nothing);
};
