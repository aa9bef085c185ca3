import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Run } from '../../src/schema/run.ts';
import { openStore, type Store, type StoredUsage } from '../../src/store/index.ts';
import { LONG } from '../long.ts';
import { startChild } from '../store/child.ts';
import { STEP_TOKENS } from './budget-steps.ts';
import { ADMIN_TOKEN, type Client, clientOf, eventually } from './troupe.ts';

/**
 * Counters of budgets after kills: exactly the usage of the committed steps, and the
 * attempts that were lost with a process. `TROUPE_TEST_LONG` kills 200 times, in two folders at a time.
 */

const FOLDERS = LONG ? 2 : 1;
const KILLS = LONG ? 100 : 4;
const RUNS_PER_LIFE = 3;

type Service = ReturnType<typeof startChild> & { client: Client };

const serve = async (t: Test, dir: string): Promise<Service> => {
  const child = startChild(t, '../service/child-budget.ts', [dir]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, client: clientOf(() => url) };
  }
};

const AGENTS = ['spender', 'waiter'];

/** Starts runs of both agents, each in a separate thread. */
const startRuns = (client: Client): Promise<unknown> =>
  Promise.all(
    AGENTS.flatMap((agent_id) => Array.from({ length: RUNS_PER_LIFE }, () => startRun(client, agent_id))),
  );

const startRun = async (client: Client, agent_id: string): Promise<void> => {
  const { body: thread } = await client.post('/v1/threads', {});
  const messages = [{ role: 'user', content: 'x' }];
  const { status } = await client.post(`/v1/threads/${thread.id}/messages`, { agent_id, messages });
  if (status !== 202) throw new Error(`the input was answered with ${status}`);
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

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** The runs of `spender` never reach their limit; those of `waiter` wait until a decision raises it. */
const putBudgets = async (t: Test, client: Client): Promise<void> => {
  const window = { every: 'total' };
  const budgets = [
    { id: 's', match: { agent: 'spender' }, window, limits: { tokens: 1e9 }, on_exceeded: 'stop' },
    { id: 'w', match: { agent: 'waiter' }, window, limits: { tokens: 700 }, on_exceeded: 'pause' },
  ];
  for (const budget of budgets) {
    t.equal((await client.call('PUT', `/v1/config/budgets/${budget.id}`, budget, admin)).status, 200);
  }
};

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

type Ended = { runs: Run[]; raised: number; kills: number };

/** Kills the service of a folder again and again, and lets the runs end. */
const killOften = async (t: Test, dir: string): Promise<Ended> => {
  let service = await serve(t, dir);
  await putBudgets(t, service.client);
  let raised = 0;
  let kills = 0;
  while (kills < KILLS) {
    await startRuns(service.client);
    raised += await raiseWaiting(service.client, 200);
    await setTimeout(Math.random() * 60);
    service.kill();
    await service.exit;
    kills += 1;
    service = await serve(t, dir);
  }
  const runs = await eventually(
    async () => {
      raised += await raiseWaiting(service.client, 20_000);
      return runsOf(service.client);
    },
    (all) => all.length > 0 && all.every(({ status }) => status === 'done'),
  );
  service.kill();
  await service.exit;
  return { runs, raised, kills };
};

const sumOf = <Row>(rows: readonly Row[], read: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + read(row), 0);

const committedBy = ({ input_tokens, output_tokens }: Run): number => input_tokens + output_tokens;

const spentBy = (run: Run): number =>
  committedBy(run) + (run.cut_off?.input_tokens ?? 0) + (run.cut_off?.output_tokens ?? 0);

/** Returns the tokens of the steps that the history of the thread of a run contains. */
const storedBy = (store: Store, { thread_id, run_id }: Run): number => {
  const steps = Array.from(store.messages.ofRun('default', thread_id, run_id, {})).filter(
    ({ message }) => message.role === 'assistant',
  ).length;
  return steps * (STEP_TOKENS.input + STEP_TOKENS.output);
};

t.setTimeout(LONG ? 3_600_000 : 120_000);

t.test(`counters equal the usage of the runs after ${FOLDERS * KILLS} kills (check 79)`, async (t) => {
  const root = t.testdir(
    Object.fromEntries(Array.from({ length: FOLDERS }, (_, number) => [`folder-${number}`, {}])),
  );
  const dirs = Array.from({ length: FOLDERS }, (_, number) => `${root}/folder-${number}`);
  const ended = await Promise.all(dirs.map((dir) => killOften(t, dir)));
  for (const [index, { runs, raised, kills }] of ended.entries()) {
    const store = await openStore({ dir: dirs[index] ?? '', durability: 'process' });
    t.teardown(() => store.close());
    t.equal(runs.length, kills * AGENTS.length * RUNS_PER_LIFE);
    const ends = new Set(runs.map(({ termination_reason: end }) => JSON.stringify(end)));
    t.strictSame([...ends], ['{"type":"natural_end"}']);
    for (const run of runs) {
      t.equal(committedBy(run), storedBy(store, run), 'a record counts exactly the steps in the history');
    }
    const counters = store.budgetCounters.all(undefined, 10);
    for (const [id, agent] of [
      ['s', 'spender'],
      ['w', 'waiter'],
    ]) {
      const counter = counters.find(({ budget }) => budget === id);
      const own = runs.filter(({ agent_id }) => agent_id === agent);
      t.equal(counter?.tokens, sumOf(own, spentBy), `the counter of ${agent}`);
      t.equal(counter?.extra?.tokens ?? 0, agent === 'waiter' ? raised : 0, 'accepted decisions are kept');
    }
    t.ok(raised > 0, 'runs have waited');
    const period = { since: '0000-01-01', until: '9999-12-31' };
    const usage: StoredUsage[] = [...store.usage.inPeriod('default', period, undefined, 10_000)];
    t.equal(
      sumOf(usage, ({ runs }) => runs),
      runs.length,
      'every run has started once',
    );
    t.equal(
      sumOf(usage, ({ input_tokens, output_tokens }) => input_tokens + output_tokens),
      sumOf(runs, spentBy),
      'usage adds up to the run records',
    );
  }
  t.ok(
    ended.some(({ runs }) => runs.some(({ cut_off }) => cut_off !== undefined)),
    'a kill has hit an inference',
  );
});
