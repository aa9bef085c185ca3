import assert from 'node:assert/strict';
import type { RunStatus } from '../../src/schema/run.ts';
import type { ThreadView, World } from './view.ts';

/** Valid changes between two moments in which nothing is being written, whatever happens in between. */

/** The statuses that a run can reach by any number of transitions (runtime.md 7.1). */
const REACHABLE: { [Status in RunStatus]: readonly RunStatus[] } = {
  created: ['created', 'running', 'waiting', 'done'],
  running: ['running', 'waiting', 'done'],
  waiting: ['running', 'waiting', 'done'],
  done: ['done'],
};

const idsOf = (events: ThreadView['events']): string[] => events.map(({ event_id }) => event_id);

const startsWith = (all: readonly string[], first: readonly string[], about: string): void =>
  assert.deepEqual(all.slice(0, first.length), first, about);

const checkThreadChange = (before: ThreadView, after: ThreadView): void => {
  startsWith(idsOf(after.events), idsOf(before.events), `${before.id}: the event log only grows`);
  for (const [run_id, was] of before.runs) {
    const is = after.runs.get(run_id);
    assert.ok(is, `run ${run_id} is gone`);
    assert.ok(
      REACHABLE[was.status].includes(is.status),
      `run ${run_id} went from ${was.status} to ${is.status}`,
    );
    if (was.status === 'done') assert.deepEqual(is, was, `run ${run_id} is done and has changed`);
  }
};

export const checkChanges = (before: World, after: World, removed: boolean): void => {
  for (const [id, was] of before) {
    const is = after.get(id);
    if (!is) continue;
    checkThreadChange(was, is);
    if (!removed)
      startsWith(
        is.history.map(({ id }) => id),
        was.history.map(({ id }) => id),
        `${id}: the history only grows`,
      );
  }
};

/** The end of a process changes no suspension and cancels nothing (runtime.md 17, 18). */
export const checkRestart = (before: World, after: World): void => {
  for (const [id, was] of before) {
    for (const { run_id, waiting, status } of was.runs.values()) {
      const is = after.get(id)?.runs.get(run_id);
      if (status === 'waiting' && !was.queued.includes(run_id)) {
        assert.deepEqual(is?.waiting?.ticket_ids, waiting?.ticket_ids, `run ${run_id} no longer waits`);
      }
      if (status === 'running' || status === 'created') {
        assert.notEqual(
          is?.termination_reason?.type,
          'cancelled',
          `run ${run_id} was cancelled by a restart`,
        );
      }
    }
  }
};
