import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { RunList } from '../../src/schema/run.ts';
import { examine } from '../../src/store/index.ts';
import { FORMAT } from '../../src/store/repair/format.ts';
import { inProject } from '../run/places.ts';
import { resume } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { type Place, startPlace } from './place.ts';
import { type Answers, readAll, ThreadIds } from './read.ts';

/** Opens data directories of earlier versions with this one. Each was left in the middle of work. */

const HERE = inProject('test/upgrade');
const FOLDERS = readdirSync(HERE).filter((name) => name.startsWith('format-'));

const unpacked = (folder: string, name: string): Buffer =>
  gunzipSync(readFileSync(join(HERE, folder, `${name}.gz`)));

type Written = { now: number; answers: Answers };

const folderOf = (t: Test, folder: string): { dir: string; written: Written } => {
  const dir = join(t.testdir(), 'data');
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, 'data.mdb'), unpacked(folder, 'data.mdb'), { mode: 0o600 });
  return { dir, written: JSON.parse(unpacked(folder, 'answers.json').toString()) };
};

const stateOf = async ({ client }: Place, thread: string) => {
  const { body } = await client.call('GET', `/v1/threads/${thread}/runs/latest`);
  return body;
};

const textOf = async ({ client }: Place, thread: string): Promise<string> =>
  JSON.stringify((await client.call('GET', `/v1/threads/${thread}/messages`)).body);

const ends = async (place: Place, thread: string) => {
  const [first] = await eventually(
    async () => {
      place.models.releaseAll();
      return RunList.parse((await place.client.call('GET', `/v1/threads/${thread}/runs`)).body).items;
    },
    (runs) => runs.every(({ status }) => status === 'done'),
  );
  return first;
};

const threadsOf = ({ answers }: Written): string[] => ThreadIds.parse(answers['/v1/threads']).items;

/** Threads whose runs continue automatically: they executed, were queued, or waited for tasks of the process. */
const RESUMED = ['works', 'answered', 'acts', 'decides'];

/** The decision that each thread waits for: the call, and the result for a call that takes the decision as such. */
const DECISIONS: Record<string, Parameters<typeof resume>> = {
  waits: ['risk'],
  asks: ['color', { color: 'red' }],
  'logs-in': ['in', 'logged in'],
};

/** Fields of the metadata of a built-in entry that the seed of another version writes again. */
const SEEDED = new Set(['source', 'updated_at', 'revision', 'version', 'actor']);

/** An answer without what each version may write when it seeds its entries: audit events, and metadata. */
const withoutSeeds = (answer: unknown): unknown => {
  const { items, ...rest } = Object(answer);
  if (Array.isArray(items))
    return { ...rest, items: items.filter((item) => Object(item).action !== 'seed_apply') };
  if (Object(rest.source).kind !== 'builtin') return answer;
  return Object.fromEntries(Object.entries(rest).filter(([field]) => !SEEDED.has(field)));
};

t.test('there is a folder of the format that this version writes', async (t) => {
  t.ok(FOLDERS.includes(`format-${FORMAT.version}`), 'create the folder with: npm run fixture');
});

for (const folder of FOLDERS) {
  t.test(`${folder}: all data is unchanged, work continues, and waiting calls can be decided`, async (t) => {
    const { dir, written } = folderOf(t, folder);
    const reader = await startPlace({ dir, now: written.now, lifecycle: 'manual' });
    const answers = await readAll(reader).finally(reader.stop);
    for (const [path, answer] of Object.entries(written.answers))
      t.match(withoutSeeds(answers[path]), withoutSeeds(answer), path);
    t.strictSame((await examine({ dir, secretsKey: 'key-of-the-fixture' })).findings, []);

    const place = await startPlace({ dir, now: written.now, lifecycle: 'auto' });
    t.teardown(place.stop);
    const threads = threadsOf(written);
    const text = await eventually(
      () => {
        place.models.releaseAll();
        return textOf(place, 'executes');
      },
      (text) => text.includes('echo: Next'),
    );
    t.match(text, /Begin.*Also.*partial answer.*Next.*echo: Next/);

    // These runs need no request; those that waited for a decision still do.
    for (const thread of threads.filter((id) => RESUMED.includes(id))) await ends(place, thread);
    for (const thread of threads.filter((id) => id in DECISIONS)) {
      t.match(await stateOf(place, thread), { status: 'waiting' }, thread);
      const decision = resume(...(DECISIONS[thread] ?? ['']));
      t.equal((await place.client.post(`/v1/threads/${thread}/decision`, decision)).status, 202, thread);
      t.match(await ends(place, thread), { termination_reason: { type: 'natural_end' } }, thread);
    }
    const decided = ['risk', ...(threads.includes('answered') ? ['later'] : [])];
    t.strictSame(place.tools.executed.toSorted(), decided.toSorted(), 'each approved call is executed once');

    const events = await place.client.runToEnd({
      agentId: 'echo',
      threadId: 'talk',
      messages: [{ role: 'user', content: 'Still there?' }],
    });
    t.match(JSON.stringify(events), 'echo: Still there?');
    t.match(await textOf(place, 'talk'), /echo: Hello.*echo: Again.*echo: Still there\?/);
  });
}

t.test(
  'gives threads of format 3, which have no owner, to a user, and their runs continue (check 100)',
  async (t) => {
    const { dir, written } = folderOf(t, 'format-3');
    const threads = threadsOf(written);
    const settled = { dir, now: written.now };
    const paused = await startPlace({ ...settled, lifecycle: 'manual' });
    const user = { id: 'alice', kind: 'person', grants: ['member'] };
    t.equal((await paused.admin('POST', '/v1/users', user)).status, 201);
    for (const id of threads) {
      t.notOk((await paused.admin('GET', `/v1/threads/${id}`)).body.owner, `${id} has no owner`);
      const { status, body } = await paused.admin('PATCH', `/v1/threads/${id}`, { owner: 'alice' });
      t.match({ status, body }, { status: 200, body: { id, uid: id, owner: 'alice' } });
    }
    await paused.stop();
    t.strictSame((await examine({ dir, secretsKey: 'key-of-the-fixture' })).findings, []);

    const place = await startPlace({ ...settled, lifecycle: 'auto' });
    t.teardown(place.stop);
    t.strictSame((await place.client.call('GET', '/v1/threads')).body.items, [], 'no thread has no owner');
    for (const thread of threads.filter((id) => id in DECISIONS)) {
      const decision = resume(...(DECISIONS[thread] ?? ['']));
      t.equal((await place.admin('POST', `/v1/threads/${thread}/decision`, decision)).status, 202, thread);
    }
    const runs = await eventually(
      async () => {
        place.models.releaseAll();
        place.tools.release();
        return RunList.parse((await place.admin('GET', '/v1/runs?limit=200')).body).items;
      },
      (items) => items.every(({ status }) => status === 'done'),
    );
    t.ok(runs.every(({ owner }) => owner === 'alice'));
  },
);
