import t from 'tap';
import { z } from 'zod';
import type { Provider } from '../../src/models/model.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { openStore } from '../../src/store/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { LONG } from '../long.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/**
 * The configuration is written while runs stream: config.md 7 and 9. Every write changes two fields of an agent
 * together, so that a run with half a change would be detected.
 */

const WRITES = LONG ? 1000 : 300;
const RUNS = LONG ? 200 : 80;

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const agentOf = (version: number) => ({
  id: 'writer',
  model_id: 'watched',
  system_prompt: `version ${version}`,
  reasoning_effort: { budget: version },
  max_rounds: 4,
  allowed_tools: ['turn'],
});

type Seen = { run_id: string; prompt: string; budget: number };

/** Records the request of each inference. Calls a tool first, so that a run has two inferences. */
const createWatched = () => {
  const seen: Seen[] = [];
  // Replaces the provider of the other test models, which these tests do not use.
  const provider: Provider = {
    id: 'test',
    model: ({ id }) => ({
      id,
      provider: 'test',
      upstream: id,
      async stream({ system, messages, overrides, session }, sink) {
        const effort = overrides.reasoning_effort;
        seen.push({
          run_id: session?.run_id ?? '',
          prompt: system[0] ?? '',
          budget: typeof effort === 'object' && effort ? effort.budget : Number.NaN,
        });
        for (let token = 0; token < 5; token += 1) {
          await new Promise(setImmediate);
          sink.text('token ');
        }
        if (messages.at(-1)?.role === 'tool') return { stop: 'EndTurn' };
        sink.toolStart('c1', 'turn');
        sink.toolEnd('c1', '{}');
        return { stop: 'ToolUse' };
      },
    }),
  };
  return { seen, provider };
};

t.test('publishes changes atomically, and records in resolution_id what each run used', async (t) => {
  const { seen, provider } = createWatched();
  const dir = t.testdir();
  const turn = defineTool({
    id: 'turn',
    description: 'Lets others have a turn.',
    input: z.object({}),
    execute: async () => {
      await new Promise(setImmediate);
      return { data: null };
    },
  });
  const troupe = await startTroupe(t, {
    settings: { storage_dir: dir },
    app: { providers: [provider], tools: [turn] },
  });
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await troupe.call('PUT', path, body, admin);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
  };
  await put('/v1/config/models/watched', {
    id: 'watched',
    provider_id: 'test',
    upstream_model: 'watched',
  });
  await put('/v1/config/agents/writer', agentOf(0));
  const write = async () => {
    for (let version = 1; version <= WRITES; version += 1) {
      await put('/v1/config/agents/writer', agentOf(version));
    }
  };
  const run = async (index: number) => {
    // Spreads the runs over the duration of the writes.
    for (let turns = 0; turns < index * 10; turns += 1) await new Promise(setImmediate);
    const messages = [{ role: 'user', content: 'Go.' }];
    const events = await troupe.runToEnd({ agentId: 'writer', messages });
    t.match(events.at(-1), { termination: { type: 'natural_end' } });
    return String(events[0]?.run_id);
  };
  const [runs] = await Promise.all([
    Promise.all(Array.from({ length: RUNS }, (_, index) => run(index))),
    write(),
  ]);

  const records = new Map<string, string>();
  for (const run_id of runs) {
    const { body } = await troupe.call('GET', `/v1/runs/${run_id}`);
    records.set(run_id, String(body.resolution_id));
  }
  const log = await troupe.call(
    'GET',
    `/v1/audit-log?resource=agents/writer&limit=${WRITES}`,
    undefined,
    admin,
  );
  // The routes return these fields (config.md 9.3).
  const items = log.body.items as { id: string; action: string; after: { system_prompt: string } }[];
  t.strictSame(
    items.map(({ after }) => after.system_prompt),
    Array.from({ length: WRITES }, (_, index) => `version ${WRITES - index}`),
    'the audit log contains every write, newest first',
  );
  t.strictSame(
    items.map(({ id }) => id),
    items
      .map(({ id }) => id)
      .sort()
      .reverse(),
  );
  await troupe.app.stop();

  const store = await openStore({ dir, durability: 'process' });
  t.teardown(() => store.close());
  const { scope_id } = settingsFrom({ AdminApiConfig: { bearer_token: 'x' } });
  for (const [run_id, resolution_id] of records) {
    const publication = store.publications.get(scope_id, Number(resolution_id));
    const entry = publication?.entries.find(({ kind, id }) => kind === 'agent' && id === 'writer');
    const agent = entry && store.publications.version(scope_id, 'agent', 'writer', entry.version)?.value;
    const asked = seen.filter((each) => each.run_id === run_id);
    const { system_prompt: prompt } = agent ?? {};
    const budget = Number(String(prompt).replace('version ', ''));
    if (asked.length !== 2 || asked.some((each) => each.prompt !== prompt || each.budget !== budget)) {
      t.fail(`run ${run_id} of resolution ${resolution_id} (${prompt}) was asked ${JSON.stringify(asked)}`);
    }
  }
  const versions = new Set(seen.map(({ prompt }) => prompt));
  t.ok(versions.size > 10, `runs met ${versions.size} versions`);
});
