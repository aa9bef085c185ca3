import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Run } from '../../src/schema/run.ts';
import { openStore, type StoredUsage } from '../../src/store/index.ts';
import { LONG } from '../long.ts';
import { startChild } from '../store/child.ts';
import { ADMIN_TOKEN, type Client, clientOf, eventually } from './troupe.ts';

/**
 * Counters of budgets after kills: exactly the usage of the committed steps, and the
 * attempts that were lost with a process. `TROUPE_TEST_LONG` kills 200 times.
 */

const KILLS = LONG ? 200 : 4;
const RUNS_PER_LIFE = 6;

type Service = ReturnType<typeof startChild> & { client: Client };

const serve = async (t: Test, dir: string): Promise<Service> => {
  const child = startChild(t, '../service/child-budget.ts', [dir]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, client: clientOf(() => url) };
  }
};

const start = async (client: Client, thread: string): Promise<void> => {
  await client.post(`/v1/threads/${thread}/mailbox`, { payload: { text: 'x' } });
};

const runsOf = async (client: Client): Promise<Run[]> => {
  const runs: Run[] = [];
  for (;;) {
    const { items, has_more } = Object(
      (await client.call('GET', `/v1/runs?limit=100&offset=${runs.length}`)).body,
    );
    runs.push(...items);
    if (!has_more) return runs;
  }
};

const spentBy = ({ input_tokens, output_tokens, cut_off }: Run): number =>
  input_tokens + output_tokens + (cut_off?.input_tokens ?? 0) + (cut_off?.output_tokens ?? 0);

t.setTimeout(LONG ? 900_000 : 120_000);

t.test(`${KILLS} kills leave counters that equal the usage of the runs`, async (t) => {
  const dir = t.testdir();
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  let service = await serve(t, dir);
  const budget = {
    id: 'b',
    match: { agent: 'spender' },
    window: { every: 'total' },
    limits: { tokens: 1_000_000_000 },
    on_exceeded: 'stop',
  };
  t.equal((await service.client.call('PUT', '/v1/config/budgets/b', budget, admin)).status, 200);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await Promise.all(
      Array.from({ length: RUNS_PER_LIFE }, (_, index) => start(service.client, `t${kill}-${index}`)),
    );
    await setTimeout(Math.random() * 60);
    service.kill();
    await service.exit;
    service = await serve(t, dir);
  }
  const runs = await eventually(
    () => runsOf(service.client),
    (all) => all.length > 0 && all.every(({ status }) => status === 'done'),
  );
  service.kill();
  await service.exit;
  t.ok(
    runs.some(({ cut_off }) => cut_off !== undefined),
    'a kill has hit an inference',
  );
  const store = await openStore({ dir, durability: 'process' });
  const stored = store.budgetCounters.all(undefined, 10);
  const period = { since: '0000-01-01', until: '9999-12-31' };
  const usage = [...store.usage.inPeriod('default', period, undefined, 10_000)];
  await store.close();
  const sumOf = (read: (row: StoredUsage) => number) => usage.reduce((sum, row) => sum + read(row), 0);
  t.equal(
    sumOf(({ runs }) => runs),
    runs.length,
    'every run has started once',
  );
  t.equal(
    sumOf(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
    runs.reduce((sum, run) => sum + spentBy(run), 0),
    'usage adds up to the run records',
  );
  t.equal(stored.length, 1);
  t.equal(
    stored[0]?.tokens,
    runs.reduce((sum, run) => sum + spentBy(run), 0),
  );
});
