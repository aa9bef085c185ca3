import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { FORMAT } from '../../src/store/format.ts';
import { examine } from '../../src/store/index.ts';
import { inProject } from '../run/places.ts';
import { resume } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { type Place, startPlace } from './place.ts';
import { type Answers, readAll } from './read.ts';

/** Data folders that earlier versions wrote, opened by this one. Each was left in the middle of work. */

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

/** Entries of the audit log without those of seeds, which each version may write again. */
const withoutSeeds = (answer: unknown): unknown => {
  const { items, ...rest } = Object(answer);
  if (!Array.isArray(items)) return answer;
  return { ...rest, items: items.filter((item) => Object(item).action !== 'seed_apply') };
};

t.test('there is a folder of the format that this version writes', async (t) => {
  t.ok(FOLDERS.includes(`format-${FORMAT.version}`), 'write it with: npm run fixture');
});

for (const folder of FOLDERS) {
  t.test(`${folder}: everything reads as it did, work goes on, what waits can be decided`, async (t) => {
    const { dir, written } = folderOf(t, folder);
    const reader = await startPlace({ dir, now: written.now, lifecycle: 'manual' });
    const answers = await readAll(reader).finally(reader.stop);
    for (const [path, answer] of Object.entries(written.answers))
      t.match(withoutSeeds(answers[path]), withoutSeeds(answer), path);
    t.strictSame((await examine({ dir, secretsKey: 'key-of-the-fixture' })).findings, []);

    const place = await startPlace({ dir, now: written.now, lifecycle: 'auto' });
    t.teardown(place.stop);
    await eventually(
      async () => place.models.waiting(),
      (waiting) => waiting === 1,
    );
    const text = await eventually(
      () => {
        place.models.releaseAll();
        return textOf(place, 'executes');
      },
      (text) => text.includes('echo: Next'),
    );
    t.match(text, /Begin.*Also.*partial answer.*Next.*echo: Next/);

    t.match(await stateOf(place, 'waits'), { status: 'waiting' });
    const { status } = await place.client.post('/v1/threads/waits/decision', resume('risk'));
    t.equal(status, 202);
    await eventually(
      () => stateOf(place, 'waits'),
      ({ status }) => status === 'done',
    );
    t.strictSame(place.tools.executed, ['risk']);

    const events = await place.client.runToEnd({
      agentId: 'echo',
      threadId: 'talk',
      messages: [{ role: 'user', content: 'Still there?' }],
    });
    t.match(JSON.stringify(events), 'echo: Still there?');
    t.match(await textOf(place, 'talk'), /echo: Hello.*echo: Again.*echo: Still there\?/);
  });
}
