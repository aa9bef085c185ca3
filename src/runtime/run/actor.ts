import { createActor } from 'xstate';
import { BEGINNING, type RunInput } from '../../../machines/run-types.ts';
import { abandonStep } from '../../loop/step.ts';
import { stateAt } from '../../schema/run-state.ts';
import { commit } from '../ledger/commit.ts';
import { openWrite } from '../ledger/transaction.ts';
import { logDispatch } from './dispatch-records.ts';
import { count, type Execution, RESUMED } from './execution.ts';
import { observeEnd, observeStart } from './observe.ts';
import { finishOf } from './outcome.ts';
import { advanceWork, putCutOff } from './record.ts';
import { boundRunMachine } from './services.ts';
import { hasEnded } from './transitions.ts';

/**
 * The actor of an execution: it starts once the write that claims the run is in progress, and is settled once: the run
 * has ended, or was released.
 */

export function startActor(execution: Execution): void {
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
      deps.log.error('run.machine_failed', { err: error, run_id, thread_id: execution.run.thread_id });
      settle(execution);
    },
  });
  const reportEnd = deps.actors.began(actor, execution.ledger.scope, owner.thread);
  execution.reportEnd = () => {
    reportEnd();
    execution.trace?.close();
  };
  actor.start();
  actor.send({ type: from === 'waiting' ? 'RESUME' : 'CLAIM' });
  // Decisions and input that arrived while the calls of a step executed, before the process died.
  if (from === 'waiting' || entry !== 'unfinished_calls') return;
  if (turn.decisions.size > 0) actor.send({ type: 'RESUME' });
  if (turn.hasInput()) actor.send({ type: 'STEER' });
}

/** Returns the snapshot of a run whose wait is over. */
function asAnswered(input: RunInput) {
  return boundRunMachine.resolveState({
    value: stateAt('waiting.answered').value,
    context: { ...BEGINNING, ...input },
  });
}

function settle(execution: Execution): void {
  const { deps, owner, stream, actor, startedAt } = execution;
  count(execution, false);
  if (execution.dropped) {
    closeAccounts(execution);
    return;
  }
  const how = actor && hasEnded(actor.getSnapshot()) ? 'ended' : 'released';
  execution.reportEnd();
  if (how === 'released') releaseStream(execution);
  stream.close();
  const { run, dispatch, turn } = execution;
  const { model_id } = turn.agent.spec;
  if (owner.isObserved)
    observeEnd(deps, {
      how,
      end: execution.end,
      startedAt,
      run,
      model_id,
      isWhole: execution.from === 'created',
      dispatch,
    });
  closeAccounts(execution);
  owner.settled(execution, how);
}

function closeAccounts({ account, usage }: Execution): void {
  account?.close();
  usage?.close();
}

function releaseStream(execution: Execution): void {
  const { owner, stream, turn, run, released } = execution;
  const channel = stream.channel();
  if (released !== undefined) {
    abandonStep({ ...turn, stream: channel });
    channel.emit(finishOf(run, { type: 'error', value: owner.publicReason(released) }));
    releaseDispatch(execution);
  } else if (stream.isOpen()) {
    // The run continues, and its readers stay attached, as after any failure that does not end it (runtime.md 10.4).
    abandonStep({ ...turn, stream: channel }, { reason: RESUMED });
    stream.leave();
    owner.streamReleased(execution, channel);
  }
}

/** Releases the dispatch without counting an attempt, since nothing has failed. */
function releaseDispatch(execution: Execution): void {
  const { deps, ledger, dispatch } = execution;
  // Between two attempts the dispatch is already queued. Work of an older epoch ends at the next start, with its run.
  if (dispatch?.status !== 'Claimed' || dispatch.dispatch_epoch < ledger.epoch || ledger.broken) return;
  const write = openWrite(ledger, deps.clock.now());
  advanceWork(execution, write, { type: 'RELEASE', threadEpoch: ledger.epoch }, { available_at: write.at });
  putCutOff(execution, write);
  logDispatch(write, 'RunRescheduled', execution.dispatch, { reason: 'released' });
  execution.trace?.leave(write.batch);
  commit(write, 'progress').catch(() => {});
}
