import { delegatedRuns } from '../../loop/calls.ts';
import { digestOfTickets } from '../../schema/call-digest.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import { delegateTicketId } from '../../tools/tickets.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { DecisionTarget } from '../thread/submission.ts';
import { ticketsBelow } from '../thread/tickets.ts';

/**
 * Keeps the runs of sub-agents consistent with the runs of their parents (runtime.md 5.4), seen from one thread.
 *
 * Guarantees: a child whose call is abandoned (declined, superseded, its run over) is cancelled. A parent that waits
 * for a child is notified of every end of the child that the parent did not drive itself, also after a crash. Children
 * without a dispatch are lost with an actor that fails, and are then cancelled. Recovery finds children of an earlier
 * process.
 * Relies on the ticket of a delegated call naming the child, so that the rows of the parent are sufficient.
 * Cost: one scan of the calls of the last step for every run record that is written.
 */

export type ChildRuns = {
  /** A record of a run of this thread is durable. */
  stored(run: RunRecord): void;
  /** The run waits again, and no call of this process has followed it: its parent shows the tickets of the run. */
  waits(run: RunRecord): void;
  /** The run is done, and no call of this process has followed it. */
  ended(run: RunRecord): void;
  /** The actor that drove the runs of this thread has ended. */
  endStrays(): void;
  /** Whether a call of its parent waits for this child. */
  isAwaited(child: RunRecord): boolean;
};

const PAGE = { offset: 0, limit: 100 };

/** One thread, and how to reach others. */
type ChildRunsHost = {
  scope: string;
  id: string;
  cancel(thread_id: string, run_id: string): Promise<unknown>;
  decide(thread_id: string, target: DecisionTarget): Promise<unknown>;
};

type ThreadFamily = ChildRunsHost & { deps: Pick<RuntimeDeps, 'store' | 'log'> };

export function createChildRuns(deps: Pick<RuntimeDeps, 'store' | 'log'>, host: ChildRunsHost): ChildRuns {
  const family: ThreadFamily = { deps, ...host };
  return {
    isAwaited: (child) => isAwaited(family, child),
    waits(child) {
      if (isMisshown(family, child)) inBackground(family, child, notifyParent(family, child));
    },
    stored(run) {
      for (const child_id of childrenOf(run).lost) {
        const child = deps.store.runs.get(family.scope, child_id);
        if (child && !hasTag(child, 'done')) end(family, child);
      }
    },
    ended(child) {
      if (child.parent_run_id !== null) inBackground(family, child, notifyParent(family, child));
    },
    endStrays() {
      for (const thread_id of deps.store.threads.children(family.scope, family.id))
        endStraysOf(family, thread_id);
    },
  };
}

function inBackground(
  { deps }: ThreadFamily,
  { run_id }: Pick<RunRecord, 'run_id'>,
  work: Promise<unknown>,
): void {
  work.catch((error) => deps.log.warn('subagent.sync_failed', { err: error, run_id }));
}

function end(family: ThreadFamily, child: RunRecord): void {
  inBackground(family, child, family.cancel(child.thread_id, child.run_id));
}

/** Ends the runs of sub-agents on a child thread that no call waits for. */
function endStraysOf(family: ThreadFamily, thread_id: string): void {
  const { deps, scope } = family;
  const runs = (['running', 'waiting'] as const).flatMap(
    (status) => deps.store.runs.list(scope, { thread_id, status }, PAGE).items,
  );
  for (const run of runs.filter(({ parent_run_id }) => parent_run_id !== null)) {
    // A run with a dispatch continues without its parent.
    const stray = hasTag(run, 'running') ? run.dispatch_id === undefined : !isAwaited(family, run);
    if (stray) end(family, run);
  }
}

function findParent({ deps, scope }: ThreadFamily, { parent_run_id }: RunRecord): RunRecord | undefined {
  return parent_run_id === null ? undefined : deps.store.runs.get(scope, parent_run_id);
}

function isAwaited(family: ThreadFamily, child: RunRecord): boolean {
  const parent = findParent(family, child);
  return parent !== undefined && childrenOf(parent).awaited.includes(child.run_id);
}

/** Whether its parent shows other tickets than the child waits with. */
function isMisshown(family: ThreadFamily, child: RunRecord): boolean {
  const parent = findParent(family, child);
  const shown = delegatedRuns(parent?.state ?? null).find(({ run_id }) => run_id === child.run_id);
  const tickets = ticketsBelow(child);
  const listed = tickets.length > 0 ? digestOfTickets(tickets) : undefined;
  return shown?.open === true && shown.listed !== listed;
}

async function notifyParent(family: ThreadFamily, child: RunRecord): Promise<void> {
  const { run_id, activation } = child;
  const parent_thread_id = activation?.trace.parent_thread_id;
  const parent = findParent(family, child);
  if (parent && !hasTag(parent, 'done') && parent_thread_id !== undefined) {
    const tool_call_id = delegateTicketId(run_id);
    await family.decide(parent_thread_id, {
      run_id: parent.run_id,
      tool_call_id,
      about_child: run_id,
      action: 'resume',
      payload: null,
    });
  }
  if (hasTag(child, 'done')) await unlist(family, child);
}

/** The child stays listed until its parent has processed its end, or does not need it. */
function unlist({ deps, scope }: ThreadFamily, { thread_id, run_id }: RunRecord): Promise<void> {
  const batch = deps.store.batch({ scope, thread_id });
  deps.store.driven.remove(batch, { scope, thread_id, run_id });
  return deps.store.commit(batch);
}

/** Returns the children that calls of the last step wait for, and those whose calls will never continue. */
const childrenOf = (run: RunRecord): { awaited: string[]; lost: string[] } => {
  const found = delegatedRuns(run.state);
  const over = hasTag(run, 'done');
  return {
    awaited: over ? [] : found.flatMap(({ run_id, open }) => (open ? [run_id] : [])),
    lost: found.flatMap(({ run_id, open, cancelled }) => (cancelled || (over && open) ? [run_id] : [])),
  };
};
