import t, { type Test } from 'tap';
import { createExpiry } from '../../src/runtime/maintenance/expiry-rounds.ts';
import type { Supervisor } from '../../src/runtime/thread/supervisor.ts';
import { type Deadline, openStore, type Store } from '../../src/store/index.ts';
import { withMachineState } from '../store/records.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** Work that cannot be recovered or decided blocks no other work (runtime.md 17). */

const SCOPE = 'default';

/** Deletes the record of a dispatch, and leaves only its entry in the list of open work. */
const damage = async (dir: string, dispatch_id: string): Promise<void> => {
  const store = await openStore({ dir, durability: 'process' });
  const dispatch = store.dispatches.get(SCOPE, dispatch_id);
  if (!dispatch) throw new Error('there is no such dispatch');
  const batch = store.batch('commons');
  store.dispatches.remove(batch, SCOPE, dispatch);
  // Keeps only the write that removes the record.
  batch.writes.splice(1);
  await store.commit(batch, 'progress');
  await store.close();
};

t.test('skips a thread with damaged rows and recovers all others', async (t) => {
  const stage = createStage();
  const first = await startRuntime(t, { provider: stage.provider });
  const threads = Array.from({ length: 100 }, (_, index) => `t${index}`);
  const accepted = await Promise.all(threads.map((id) => first.submit('hello', id, 'queue').accepted));
  await stage.until(threads.length);
  await first.stop();
  // Open work is read by thread.
  const doomed = accepted
    .filter((_, index) => index % 10 === 5)
    .sort((a, b) => (a.thread_id < b.thread_id ? -1 : 1));
  for (const { dispatch_id } of doomed) await damage(first.dir, dispatch_id);
  const lines: object[] = [];
  const next = await startRuntime(t, { provider: stage.provider, dir: first.dir, errors: lines });
  await next.runtime.recover();
  await stage.until(threads.length - doomed.length);
  stage.go();
  while (next.store.runs.count(SCOPE, 'done') < threads.length - doomed.length)
    await new Promise(setImmediate);
  t.match(
    lines,
    doomed.map(({ dispatch_id }) => ({ dispatch_id })),
  );
  await t.rejects(next.submit('more', doomed[0]?.thread_id).accepted, {
    message: /listed and has no record/,
  });
});

const fakeStore = async (t: Test, dir: string): Promise<Store> => {
  const store = await openStore({ dir, durability: 'process' });
  t.teardown(() => store.close());
  return store;
};

t.test('applies other deadlines despite failing ones, and retries those after a delay', async (t) => {
  const store = await fakeStore(t, t.testdir());
  const deadlines: Deadline[] = Array.from({ length: 1300 }, (_, index) => ({
    at: index + 1,
    scope: SCOPE,
    thread_id: `t${index}`,
    run_id: `r${index}`,
  }));
  const batch = store.batch('commons');
  for (const deadline of deadlines) store.deadlines.put(batch, deadline);
  await store.commit(batch, 'progress');
  let now = 10_000;
  const tried: string[] = [];
  const logged: object[] = [];
  // Runs that are suspended until then; the test defines what their threads do.
  const runs = { ...store.runs, get: (_: string, run_id: string) => withMachineState(waitingRun(run_id)) };
  const use = async (_: string, thread_id: string): Promise<never> => {
    tried.push(thread_id);
    throw new Error('the thread cannot be made');
  };
  const expiry = createExpiry(
    {
      clock: { now: () => now },
      store: { ...store, runs },
      log: { ...SILENT, error: (_, fields = {}) => logged.push(fields) },
    },
    { use: use as unknown as Supervisor['use'] },
    () => false,
  );
  await expiry.round();
  t.equal(new Set(tried).size, 1300);
  t.equal(logged.length, 1300);
  await expiry.round();
  t.equal(tried.length, 1300, 'failed deadlines are not retried at once');
  now += 2000;
  await expiry.round();
  t.equal(tried.length, 2600);
});

t.test('removes a deadline without a run', async (t) => {
  const store = await fakeStore(t, t.testdir());
  const batch = store.batch('commons');
  const stray = { at: 1, scope: SCOPE, thread_id: 't', run_id: 'r' };
  store.deadlines.put(batch, stray);
  await store.commit(batch, 'progress');
  const use = async (): Promise<never> => t.fail('a deadline without a run must not reach a thread') as never;
  await createExpiry(
    { clock: { now: () => 10 }, store, log: SILENT },
    { use: use as unknown as Supervisor['use'] },
    () => false,
  ).round();
  t.strictSame(store.deadlines.due(100, 10), []);
});

const SILENT = { info() {}, warn() {}, error() {} };

const waitingRun = (run_id: string) => ({
  run_id,
  thread_id: run_id.replace('r', 't'),
  agent_id: 'a',
  parent_run_id: null,
  status: 'waiting' as const,
  created_at: 0,
  updated_at: 0,
  steps: 1,
  input_tokens: 0,
  output_tokens: 0,
  state: {
    revision: 1,
    extensions: {
      '__runtime.tool_call_states': {
        calls: {
          c: {
            call_id: 'c',
            tool_name: 'rm',
            arguments: {},
            status: 'suspended',
            updated_at: 0,
            resume_mode: 'replay_tool_call',
            suspension_id: 'perm_c',
            suspension_reason: 'tool:PermissionConfirm',
            expires: { at: Number(run_id.slice(1)) + 1, outcome: 'cancel' as const },
          },
        },
      },
    },
  },
});
