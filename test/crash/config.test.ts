import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../src/store/index.ts';
import { databaseOf } from '../cluster/pair.ts';
import { LONG } from '../long.ts';
import { ADMIN_TOKEN, clientOf } from '../service/troupe.ts';
import { startChild } from '../store/child.ts';
import { copyInto } from './process.ts';

/**
 * SIGKILLs while the configuration is written: acknowledged writes exist, runs use the stored configuration, and the
 * audit log has each stored change (config.md 2.5, 7). CRASH_KILLS sets the number of kills (3).
 */

const KILLS = Number(process.env.CRASH_KILLS ?? (LONG ? 30 : 3));
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

type Place = { dir: string; database: string };

const serve = async (test: Parameters<typeof startChild>[0], { dir, database }: Place) => {
  const child = startChild(test, '../service/child-serve.ts', [
    join(dir, 'data'),
    join(dir, 'executed'),
    'goes on',
    database,
  ]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, client: clientOf(() => url) };
  }
};

/** The folder of all rows: a copy of the database, if they are in one. */
const folderOf = async ({ dir, database }: Place): Promise<string> => {
  if (database === '') return join(dir, 'data');
  const folder = join(dir, 'copy');
  await copyInto(folder, ['copy', database, folder]);
  return folder;
};

const agentOf = (version: number) => ({ id: 'written', model_id: 'm', system_prompt: `version ${version}` });

t.test('a kill at any moment of a write leaves one consistent configuration', async (t) => {
  t.setTimeout(120_000 + KILLS * 20_000);
  const place: Place = { dir: t.testdir(), database: await databaseOf(t) };
  let written = 0;
  let acknowledged = 0;
  /** The prompts of runs, by their resolution. */
  const used = new Map<number, unknown>();
  let service = await serve(t, place);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { client, exit } = service;
    const writing = (async () => {
      for (;;) {
        written += 1;
        const { status } = await client.call('PUT', '/v1/config/agents/written', agentOf(written), admin);
        if (status === 200) acknowledged = written;
      }
    })().catch(() => {});
    const from = acknowledged;
    while (acknowledged < from + 3 + kill) await new Promise(setImmediate);
    // At a varying position in the next write.
    for (let turns = 0; turns < kill * 3; turns += 1) await new Promise(setImmediate);
    service.kill();
    await exit;
    await writing;

    service = await serve(t, place);
    const again = service;
    const { body: agent } = await again.client.call('GET', '/v1/config/agents/written', undefined, admin);
    const stored = Number(String(agent.system_prompt).replace('version ', ''));
    t.ok(stored >= acknowledged && stored <= written, `${acknowledged} ≤ ${stored} ≤ ${written}`);
    const audit = '/v1/audit-log?resource=agents/written&limit=1000';
    const { body: log } = await again.client.call('GET', audit, undefined, admin);
    const { body: meta } = await again.client.call('GET', '/v1/config/agents/written/meta', undefined, admin);
    // The routes return these fields (config.md 9.3).
    const items = log.items as { after: { system_prompt: string } }[];
    t.equal(
      items[0]?.after.system_prompt,
      agent.system_prompt,
      'the newest entry of the audit log is the stored one',
    );
    t.equal(items.length, meta.revision, 'the log has an entry for each revision');
    const messages = [{ role: 'user', content: 'Go.' }];
    const [first] = await again.client.runToEnd({ agentId: 'written', messages });
    const { body: run } = await again.client.call('GET', `/v1/runs/${String(first?.run_id)}`);
    used.set(Number(run.resolution_id), agent.system_prompt);
    written = Math.max(written, stored);
    acknowledged = stored;
  }
  service.kill();
  await service.exit;

  const store = await openStore({ dir: await folderOf(place), durability: 'process' });
  for (const [resolution, prompt] of used) {
    const publication = store.publications.get('default', resolution);
    const entry = publication?.entries.find(({ kind, id }) => kind === 'agent' && id === 'written');
    const live = entry && store.publications.version('default', 'agent', 'written', entry.version)?.value;
    t.equal(live?.system_prompt, prompt, 'a run uses the stored prompt');
  }
  await store.close();
});
