import assert from 'node:assert/strict';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import { type Run, RunStatus } from '../../src/schema/run.ts';
import type { Sequence } from './sequence.ts';
import { openCalls, type ThreadView, type World } from './view.ts';

/** Checks that run records, dispatches and pointers agree (runtime.md 2.1, 2.4, 5.2, 10.4). */

/** Checks the fields of a record against its status (runtime.md 2.4). */
const checkRecord = (run: Run): void => {
  const about = `run ${run.run_id} is ${run.status}`;
  assert.equal(run.waiting !== undefined, run.status === 'waiting', `${about}: waiting`);
  assert.equal(run.outcome !== undefined, run.status === 'done', `${about}: outcome`);
  assert.equal(run.finished_at !== undefined, run.status === 'done', `${about}: finished_at`);
  if (run.status === 'created') assert.equal(run.started_at, undefined, `${about}: started_at`);
  if (run.outcome) {
    const { termination_reason, final_output, error_payload } = run;
    const own = { termination_reason, final_output, error_payload };
    const { outcome } = run;
    assert.deepEqual(
      { ...own },
      { final_output: undefined, error_payload: undefined, ...outcome },
      `${about}: outcome`,
    );
    assert.equal(
      outcome.error_payload !== undefined,
      outcome.termination_reason.type === 'error',
      `${about}: error`,
    );
  }
  if (run.waiting) {
    const calls = run.waiting.tickets?.map(({ tool_call_id }) => tool_call_id) ?? [];
    assert.ok(calls.length > 0, `${about} for nothing`);
    assert.deepEqual(calls, [...calls].sort(), `${about}: order of tickets`);
  }
};

const checkDispatch = (dispatch: Dispatch, run: Run): void => {
  const { status, dispatch_id, run_status, termination } = dispatch;
  const about = `dispatch ${dispatch_id} is ${status}, its run ${run.status}`;
  const isLast = run.dispatch_id === dispatch_id;
  const leased =
    dispatch.claim_token !== null && dispatch.lease_until !== null && dispatch.claimed_by !== null;
  assert.equal(leased, status === 'Claimed', `${about}: lease`);
  if (status !== 'Queued' && status !== 'Claimed') assert.ok(dispatch.completed_at, `${about}: completed_at`);
  switch (status) {
    case 'Acked':
      assert.ok(run_status === 'done' || run_status === 'waiting', `${about}: run_status ${run_status}`);
      if (run_status === 'done') assert.deepEqual(termination, run.termination_reason, about);
      if (isLast && run_status === 'done') assert.equal(run.status, 'done', about);
      break;
    case 'DeadLetter':
      assert.equal(run.termination_reason?.type, 'error', about);
      break;
    case 'Superseded':
      assert.equal(run.termination_reason?.type, 'cancelled', about);
      break;
    case 'Cancelled':
      if (isLast) assert.equal(run.termination_reason?.type, 'cancelled', about);
      break;
    case 'Claimed':
      if (run.status === 'waiting') assert.equal(run_status, 'waiting', about);
  }
};

/** Checks that an executing or suspended run has at most one open dispatch. */
const checkWork = (dispatches: readonly Dispatch[], run: Run): void => {
  const open = dispatches.filter(
    ({ run_id, status }) => run_id === run.run_id && /Queued|Claimed/.test(status),
  );
  const about = `run ${run.run_id} is ${run.status}, its work ${open.map(({ status }) => status)}`;
  if (run.status === 'done') assert.equal(open.length, 0, about);
  if (run.status === 'created')
    assert.deepEqual(
      open.map(({ status }) => status),
      ['Queued'],
      about,
    );
  if (run.status === 'running') assert.equal(open.length, 1, about);
};

const checkThread = ({ id, thread, runs, dispatches }: ThreadView): void => {
  for (const dispatch of dispatches) {
    const run = runs.get(dispatch.run_id);
    assert.ok(run, `dispatch ${dispatch.dispatch_id} has no run`);
    checkDispatch(dispatch, run);
  }
  for (const run of runs.values()) checkWork(dispatches, run);
  const claimed = dispatches.filter(({ status }) => status === 'Claimed');
  assert.ok(claimed.length <= 1, `${id} has ${claimed.length} claimed dispatches`);
  const running = [...runs.values()].filter(({ status }) => status === 'running');
  assert.ok(running.length <= 1, `${id} has ${running.length} running runs`);
  // Accepted work in the queue clears the pointer, whatever is executing (runtime.md 2.1).
  if (thread?.active_run_id !== undefined)
    assert.equal(thread.active_run_id, running[0]?.run_id, `${id}: active_run_id`);
  if (thread?.open_run_id === undefined) return;
  const open = runs.get(thread.open_run_id);
  assert.ok(open && open.status !== 'done', `${id}: its open run is ${open?.status}`);
};

/** Holds whenever nothing is being written. */
export const checkRuns = ({ store, scope, life }: Sequence, world: World): void => {
  const views = [...world.values()];
  const runs = views.flatMap((view) => [...view.runs.values()]);
  for (const run of runs) checkRecord(run);
  for (const view of views) checkThread(view);
  for (const status of RunStatus.options) {
    const listed = runs.filter((run) => run.status === status).length;
    assert.equal(store.runs.count(scope, status), listed, `the summary of ${status} runs`);
  }
  const queued = views.flatMap(({ dispatches }) => dispatches).filter(({ status }) => status === 'Queued');
  assert.equal(life.queued(), queued.length, 'the gauge of queued work');
};

/** Holds when no work is left. */
export const checkRest = ({ store, scope }: Sequence, world: World): void => {
  for (const { id, runs } of world.values()) {
    for (const run of runs.values()) {
      assert.ok(run.status === 'done' || run.status === 'waiting', `run ${run.run_id} stays ${run.status}`);
      const tickets = run.waiting?.tickets?.length ?? 0;
      assert.equal(openCalls(run).length, tickets, `run ${run.run_id} waits for what is decided`);
    }
    assert.deepEqual(store.pending.of(scope, id), [], `${id}: input waits for ever`);
  }
};
