import type { ResolvedAgent } from '../../loop/agent.ts';
import { createMail } from '../delegation/agent-messages.ts';
import type { Write } from '../ledger/transaction.ts';
import { startActor } from '../run/actor.ts';
import { announce, createExecution, type ExecutionInput } from '../run/create-execution.ts';
import type { Execution } from '../run/execution.ts';
import { commitInput } from './commit-input.ts';
import { awaitedRuns, createBufferedChannel, takeChannel } from './pending-readers.ts';
import { type Claimed, claimNext } from './queue.ts';
import type { Input } from './request-types.ts';
import type { ScheduledRun } from './schedule-run.ts';
import { commitInBackground, detachSuspended, setActive, type Thread, writeNow } from './state.ts';

/**
 * Launches a run on its thread: its execution is created together with the write that claims the run, the write is
 * committed, and the actor of the run starts while the commit is in progress.
 */

/** Launches the run of accepted input. Its readers receive nothing before the input is durable. */
export function launchInput(
  thread: Thread,
  write: Write,
  { request, agent, run, dispatch, from }: ScheduledRun & { request: Input; agent: ResolvedAgent },
): void {
  const channel = createBufferedChannel(request.attach);
  const execution = claim(thread, write, {
    agent,
    run,
    dispatch,
    from,
    interrupted: false,
    channel,
    isAnnounced: false,
  });
  commitInput(write, request, { run, dispatch, status: 'running', channel });
  startActor(execution);
}

/** Launches the next dispatch that may start. If it turns out to be void, it is settled, and the next one is tried. */
export function startNext(thread: Thread): void {
  const write = writeNow(thread);
  detachSuspended(thread, write);
  const claimed = claimNext(thread.queue, write);
  const execution = claimed && claim(thread, write, { ...claimed, ...readersFor(thread, claimed) });
  commitInBackground(write);
  if (execution) startActor(execution);
  else thread.actor.send({ type: 'RUN_ENDED' });
}

/** Creates the execution of the run, which is active on the thread from this write on. */
function claim(
  thread: Thread,
  write: Write,
  work: Pick<
    ExecutionInput,
    'agent' | 'run' | 'dispatch' | 'from' | 'interrupted' | 'channel' | 'isAnnounced'
  >,
): Execution {
  const { deps, host, scope, id, ledger, owner, compactors } = thread;
  const { run_id, parent_run_id } = work.run;
  const execution = createExecution(deps, {
    owner,
    ledger,
    compactor: compactors(work.agent),
    tasks: host.tasks.of({ scope, thread_id: id, run_id, inPlace: parent_run_id !== null }),
    mail: createMail(deps, host.peers, { scope, thread_id: id, run: work.run }),
    ...work,
  });
  setActive(thread, execution);
  announce(execution, write);
  return execution;
}

/** Returns the channel of a claimed run; a run without readers gets the one that a follower outside registers. */
function readersFor(
  { readers, deps, scope }: Thread,
  { run }: Claimed,
): Pick<ExecutionInput, 'channel' | 'isAnnounced'> {
  const isRead = awaitedRuns(readers).includes(run.run_id);
  const { channel, isAnnounced } = takeChannel(readers, run.run_id);
  if (!isRead) deps.resumed?.(scope, run)?.(channel);
  return { channel, isAnnounced };
}
