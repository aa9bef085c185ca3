import { delegatedRuns } from '../loop/calls.ts';
import { digestOfTickets } from '../schema/call-digest.ts';
import type { Run } from '../schema/run.ts';
import { delegateTicketId } from '../tools/tickets.ts';
import type { RuntimeDeps } from './deps.ts';
import type { DecisionTarget } from './submission.ts';
import { ticketsBelow } from './wait.ts';

/**
 * What parents and children of sub-agents owe each other (runtime.md 5.4), seen from one thread.
 *
 * Guarantees: a child whose call is given up (declined, superseded, its run over) is cancelled; a parent that waits
 * for a child hears of an end that it did not drive itself, also when a crash came between; what drove a child is
 * lost with an actor that fails, and then the child ends too. Children of an earlier process are found by recovery.
 * Relies on the ticket of a delegated call naming the child, so that the rows of the parent say it all.
 * Costs one look at the calls of the last step for every run record that is written.
 */

export type ChildRuns = {
  /** A record of a run of this thread is durable. */
  stored(run: Run): void;
  /** The run waits again, and no call of this process has followed it: its parent shows what it waits with. */
  waits(run: Run): void;
  /** The run is done, and no call of this process has followed it. */
  ended(run: Run): void;
  /** What drove the runs of this thread is gone. */
  endStrays(): void;
  /** Whether a call of its parent waits for this child. */
  isAwaited(child: Run): boolean;
};

const PAGE = { offset: 0, limit: 100 };

/** One thread, and how others are asked. */
type Around = {
  scope: string;
  id: string;
  cancel(thread_id: string, run_id: string): Promise<unknown>;
  decide(thread_id: string, target: DecisionTarget): Promise<unknown>;
};

export const createChildRuns = (
  { store, log }: Pick<RuntimeDeps, 'store' | 'log'>,
  { scope, id, cancel, decide }: Around,
): ChildRuns => {
  const inBackground = (about: object, work: Promise<unknown>): void => {
    work.catch((error) => log.warn({ err: error, ...about }, 'a sub-agent and its parent could not agree'));
  };

  const end = ({ thread_id, run_id }: Run): void => inBackground({ run_id }, cancel(thread_id, run_id));

  const isAwaited: ChildRuns['isAwaited'] = (child) => {
    const parent = child.parent_run_id === null ? undefined : store.runs.get(scope, child.parent_run_id);
    return parent !== undefined && childrenOf(parent).awaited.includes(child.run_id);
  };

  /** It is listed until its parent knows of its end, or has no use for it. */
  const settled = ({ thread_id, run_id }: Run): Promise<void> => {
    const batch = store.batch();
    store.driven.remove(batch, { scope, thread_id, run_id });
    return store.commit(batch);
  };

  const tellParent = async (child: Run): Promise<void> => {
    const { run_id, parent_run_id, activation } = child;
    const parent_thread_id = activation?.trace.parent_thread_id;
    const parent = parent_run_id === null ? undefined : store.runs.get(scope, parent_run_id);
    if (parent && parent.status !== 'done' && parent_thread_id !== undefined) {
      const tool_call_id = delegateTicketId(run_id);
      await decide(parent_thread_id, {
        run_id: parent.run_id,
        tool_call_id,
        about_child: run_id,
        action: 'resume',
        payload: null,
      });
    }
    if (child.status === 'done') await settled(child);
  };

  /** Its parent shows other tickets than it waits with. */
  const isMisshown = (child: Run): boolean => {
    const parent = child.parent_run_id === null ? undefined : store.runs.get(scope, child.parent_run_id);
    const shown = delegatedRuns(parent?.state ?? null).find(({ run_id }) => run_id === child.run_id);
    const tickets = ticketsBelow(child);
    const listed = tickets.length > 0 ? digestOfTickets(tickets) : undefined;
    return shown?.open === true && shown.listed !== listed;
  };

  return {
    isAwaited,
    waits(child) {
      if (isMisshown(child)) inBackground({ run_id: child.run_id }, tellParent(child));
    },
    stored(run) {
      for (const child_id of childrenOf(run).lost) {
        const child = store.runs.get(scope, child_id);
        if (child && child.status !== 'done') end(child);
      }
    },
    ended(child) {
      if (child.parent_run_id !== null) inBackground({ run_id: child.run_id }, tellParent(child));
    },
    endStrays() {
      for (const thread_id of store.threads.children(scope, id)) {
        const runs = (['running', 'waiting'] as const).flatMap(
          (status) => store.runs.list(scope, { thread_id, status }, PAGE).items,
        );
        for (const run of runs.filter(({ parent_run_id }) => parent_run_id !== null)) {
          // One that has a dispatch goes on by itself.
          const stray = run.status === 'running' ? run.dispatch_id === undefined : !isAwaited(run);
          if (stray) end(run);
        }
      }
    },
  };
};

/** Children that calls of the last step wait for, and those whose calls will never go on. */
const childrenOf = (run: Run): { awaited: string[]; lost: string[] } => {
  const found = delegatedRuns(run.state);
  const over = run.status === 'done';
  return {
    awaited: over ? [] : found.flatMap(({ run_id, open }) => (open ? [run_id] : [])),
    lost: found.flatMap(({ run_id, open, cancelled }) => (cancelled || (over && open) ? [run_id] : [])),
  };
};

/** Who waits until a run rests: done, or waiting for somebody. */
export type Rests = {
  wait(run_id: string): Promise<Run | undefined>;
  /** False when nobody waits for it. Without a run: this process has let go of it. */
  tell(run_id: string, run: Run | undefined): boolean;
  letGo(): void;
  size(): number;
};

export const createRests = (): Rests => {
  const waiting = new Map<string, ((run: Run | undefined) => void)[]>();
  const tell: Rests['tell'] = (run_id, run) => {
    const told = waiting.get(run_id) ?? [];
    waiting.delete(run_id);
    for (const resolve of told) resolve(run);
    return told.length > 0;
  };
  return {
    wait: (run_id) =>
      new Promise((resolve) => waiting.set(run_id, [...(waiting.get(run_id) ?? []), resolve])),
    tell,
    letGo() {
      for (const run_id of [...waiting.keys()]) tell(run_id, undefined);
    },
    size: () => waiting.size,
  };
};
