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

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

t.setTimeout(LONG ? 7_200_000 : 120_000);

t.test(`${KILLS} kills leave counters that equal the usage of the runs (check 79)`, async (t) => {
  const dir = t.testdir();
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

/** Raises the budget of each run that waits, and returns the tokens of the accepted decisions. */
const raiseWaiting = async (client: Client, tokens: number): Promise<number> => {
  const { items = [] } = Object((await client.call('GET', '/v1/runs?status=waiting&limit=100')).body);
  const raised = await Promise.all(
    items.map(async ({ run_id, waiting }: Run) => {
      const toolCallId = waiting?.ticket_ids?.[0];
      if (toolCallId === undefined) return 0;
      const decision = { toolCallId, action: 'resume', payload: { extra: { tokens } } };
      const answer = await client.call('POST', `/v1/runs/${run_id}/decision`, decision, admin);
      return answer.status === 202 ? tokens : 0;
    }),
  );
  return raised.reduce((sum, each) => sum + each, 0);
};

t.test(
  `${KILLS} kills lose no amount that a decision has added, and no run that waits (check 79)`,
  async (t) => {
    const dir = t.testdir();
    let service = await serve(t, dir);
    const budget = {
      id: 'b',
      match: { agent: 'spender' },
      window: { every: 'total' },
      limits: { tokens: 1000 },
      on_exceeded: 'pause',
    };
    t.equal((await service.client.call('PUT', '/v1/config/budgets/b', budget, admin)).status, 200);
    let accepted = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await Promise.all(
        Array.from({ length: RUNS_PER_LIFE }, (_, index) => start(service.client, `t${kill}-${index}`)),
      );
      accepted += await raiseWaiting(service.client, 700);
      await setTimeout(Math.random() * 60);
      service.kill();
      await service.exit;
      service = await serve(t, dir);
    }
    const runs = await eventually(
      async () => {
        accepted += await raiseWaiting(service.client, 20_000);
        return runsOf(service.client);
      },
      (all) => all.length > 0 && all.every(({ status }) => status === 'done'),
    );
    // Kills may hit every attempt of a run.
    const ends = new Set(runs.map(({ termination_reason: end }) => JSON.stringify(end)));
    ends.delete('{"type":"natural_end"}');
    ends.delete('{"type":"error","value":"lease expired: max attempts reached"}');
    t.strictSame([...ends], []);
    service.kill();
    await service.exit;
    const store = await openStore({ dir, durability: 'process' });
    const [counter] = store.budgetCounters.all(undefined, 10);
    await store.close();
    t.equal(
      counter?.tokens,
      runs.reduce((sum, run) => sum + spentBy(run), 0),
    );
    t.ok(accepted > 0, 'runs have waited');
    t.equal(counter?.extra?.tokens, accepted);
  },
);
