import { copyFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { startApp } from '../../src/app.ts';
import { createLog } from '../../src/observability/log.ts';
import { definePlugin } from '../../src/plugins/define.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { defer } from '../http/serve.ts';
import { createTestModels } from './models.ts';
import { ADMIN_TOKEN, clientOf, eventually } from './troupe.ts';

/**
 * A run that newer work overtakes while its lease is renewed always ends with its terminal event (runtime.md 13.5,
 * 17.2, 18.1). A hook delays the end of the run until the lease was renewed several times, or until the process ends. A
 * kill is simulated by a start on a copy of the data directory, which contains everything committed by then.
 */

const RENEWAL_MS = 20;

const RENEWALS = 3;

const say = { messages: [{ role: 'user', content: 'x' }] };

const startHeld = async (t: Test, { foreground_release_wait_ms = 5000 } = {}) => {
  const models = createTestModels();
  const reached = defer();
  const released = defer();
  const hold = definePlugin({
    id: 'hold',
    create: () => ({
      hooks: {
        async run_end() {
          reached.resolve();
          await released.promise;
        },
      },
    }),
  });
  const { agents = [], ...entries } = models.entries;
  const heldAgent = { id: 'held', model_id: 'slow', plugin_ids: ['hold'] };
  const start = (dir: string) =>
    startApp({
      settings: settingsFrom({
        http_addr: '127.0.0.1:0',
        storage_dir: dir,
        durability: 'process',
        shutdown_timeout_ms: 0,
        foreground_release_wait_ms,
        mailbox: { lease_renewal_ms: RENEWAL_MS },
        AdminApiConfig: { bearer_token: ADMIN_TOKEN },
        entries: { ...entries, agents: [...agents, heldAgent] },
      }),
      log: createLog({ level: 'silent' }),
      providers: [models.provider],
      plugins: [hold],
    });
  const dir = t.testdir({ first: {}, copy: {} });
  let app = await start(`${dir}/first`);
  t.teardown(async () => {
    released.resolve();
    models.releaseAll();
    await app.stop();
  });
  return {
    ...clientOf(() => app.url),
    models,
    reached,
    released,
    async kill() {
      await app.backup(`${dir}/copy`);
      copyFileSync(`${dir}/first/secrets.key`, `${dir}/copy/secrets.key`);
      const killed = app;
      released.resolve();
      models.releaseAll();
      app = await start(`${dir}/copy`);
      await killed.stop();
    },
    async restart() {
      await app.stop();
      app = await start(`${dir}/first`);
    },
  };
};

type Held = Awaited<ReturnType<typeof startHeld>>;

type Item = { run_id: string; status: string; lease_until: number | null };

const dispatchesOf = async ({ call }: Held, thread: string): Promise<Item[]> =>
  (await call('GET', `/v1/threads/${thread}/mailbox`)).body.items as Item[];

/** Resolves after several lease renewals of the run on another thread, by when every busy thread was checked again. */
const renewals = async (held: Held): Promise<void> => {
  for (let renewed = 0; renewed < RENEWALS; renewed += 1) {
    const before = await dispatchesOf(held, 'other');
    await eventually(
      () => dispatchesOf(held, 'other'),
      ([other]) => (other?.lease_until ?? 0) > (before[0]?.lease_until ?? 0),
    );
  }
};

const ACTIONS: Record<string, (held: Held) => Promise<unknown>> = {
  'an interrupt': ({ post }) => post('/v1/threads/T/interrupt'),
  interrupt_then_queue: ({ post }) =>
    post('/v1/threads/T/messages', { ...say, agentId: 'slow', mode: 'interrupt_then_queue' }),
  // The response is sent once the thread is free.
  async 'a foreground run'(held) {
    held.run({ ...say, agentId: 'slow', threadId: 'T' }).catch(() => {});
    await eventually(
      async () => (await held.call('GET', '/v1/threads/T/events?limit=200')).body,
      (body) => JSON.stringify(body).includes('RunInterrupted'),
    );
  },
};

const ENDS: Record<string, (held: Held) => Promise<void>> = {
  'the process lives': async ({ released }) => released.resolve(),
  'the process is killed': ({ kill }) => kill(),
  'the service is stopped': ({ restart }) => restart(),
};

const TERMINAL = /^Run(Finished|Cancelled|Errored|Terminated)$/;

for (const [action, overtake] of Object.entries(ACTIONS)) {
  for (const [how, end] of Object.entries(ENDS)) {
    t.test(`ends a run that ${action} overtakes when ${how} after a renewal`, async (t) => {
      const held = await startHeld(t);
      const { call, admin } = held;
      await held.run({ ...say, agentId: 'slow', threadId: 'other' });
      const stream = await held.run({ ...say, agentId: 'held', threadId: 'T' });
      const { run_id } = await stream.until('run_start');
      await stream.until('text_delta');
      await overtake(held);
      await held.reached.promise;
      await renewals(held);
      await end(held);

      const run = await eventually(
        async () => (await call('GET', `/v1/runs/${run_id}`)).body,
        ({ status }) => status === 'done',
      );
      t.match(run, { termination_reason: { type: 'cancelled' }, finished_at: Number });
      const { items } = (await call('GET', `/v1/runs/${run_id}/events?limit=200`)).body as {
        items: { event_kind: string }[];
      };
      t.strictSame(
        items.map(({ event_kind }) => event_kind).filter((kind) => TERMINAL.test(kind)),
        ['RunCancelled'],
      );
      const dispatch = (await dispatchesOf(held, 'T')).find((each) => each.run_id === run_id);
      t.match(dispatch, { status: 'Superseded', completed_at: Number });
      held.models.releaseAll();
      const summary = await eventually(
        async () => (await admin('GET', '/v1/runs/summary')).body,
        ({ running, created }) => running === 0 && created === 0,
      );
      t.match(summary, { running: 0, waiting: 0, created: 0 });
    });
  }
}

t.test('keeps the thread of a run that does not stop in time, and logs it before the run ends', async (t) => {
  const held = await startHeld(t, { foreground_release_wait_ms: 1 });
  const stream = await held.run({ ...say, agentId: 'held', threadId: 'T' });
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const { status, body } = await held.post('/v1/runs', { ...say, agentId: 'slow', threadId: 'T' });
  t.equal(status, 409);
  t.match(body, { error: /thread has an active run/ });
  held.released.resolve();
  const kinds = await eventually(
    async () => {
      const { items } = (await held.call('GET', `/v1/runs/${run_id}/events?limit=200`)).body as {
        items: { event_kind: string }[];
      };
      return items.map(({ event_kind }) => event_kind);
    },
    (found) => found.some((kind) => TERMINAL.test(kind)),
  );
  const told = ['RunInterrupted', 'MailboxTimeout', 'RunCancelled'];
  t.strictSame(
    kinds.filter((kind) => told.includes(kind)),
    told,
  );
  t.equal(kinds.at(-1), 'RunCancelled');
});
