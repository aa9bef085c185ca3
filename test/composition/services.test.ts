import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { createProcess, type Process } from '../../src/composition/process.ts';
import { openService, type Service } from '../../src/composition/service.ts';
import { openStores } from '../../src/composition/stores.ts';
import { createLog } from '../../src/observability/log.ts';
import { adminIn } from '../../src/schema/principal.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { settle, when } from '../http/serve.ts';
import { createTestModels } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';

/** Services that follow one another in a process, on the same data directory. */

const timers = new Set<number>();
createHook({
  init(id, type) {
    if (type === 'Timeout') timers.add(id);
  },
  destroy: (id) => void timers.delete(id),
}).enable();

const setUp = (t: Test) => {
  const models = createTestModels();
  const settings = settingsFrom({
    http_addr: '127.0.0.1:0',
    storage_dir: t.testdir(),
    durability: 'process',
    AdminApiConfig: { bearer_token: 'admin-token-of-the-tests' },
    entries: models.entries,
  });
  const log = createLog({ level: 'silent' });
  const ofProcess = createProcess({ settings, log, providers: [models.provider] });
  t.teardown(() => ofProcess.close());
  const begin = async (): Promise<Service> => {
    const service = await openService(ofProcess, await openStores(settings, () => {}));
    ofProcess.server.listeners.answerWith(service.answer);
    await service.start('');
    return service;
  };
  return { models, ofProcess, begin };
};

const ask = ({ server }: Process, path: string, body?: object): Promise<Response> =>
  server.listeners.fetch(
    new Request(`http://localhost${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
    }),
    { from: 'program', principal: adminIn('default') },
  );

const say = (agentId: string, threadId: string) => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content: 'x' }],
});

/** Starts a run that waits for its model, and returns the reader of its events. */
const startSlow = async (ofProcess: Process, models: ReturnType<typeof createTestModels>) => {
  const { body } = await ask(ofProcess, '/v1/runs', say('slow', 'T'));
  if (!body) throw new Error('a run has no stream');
  const reader = body.getReader();
  await when(() => models.waiting() === 1);
  return reader;
};

const readAll = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> => {
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString();
  }
};

const readData = ({ settings }: Process): Buffer => readFileSync(join(settings.storage_dir, 'data.mdb'));

const latest = async (ofProcess: Process) =>
  z
    .looseObject({ status: z.string() })
    .parse(await (await ask(ofProcess, '/v1/threads/T/runs/latest')).json());

/** Values of gauges and readings, without those of ended dispatches, which are counted from the start of the process. */
const levels = async (t: Test, { metrics }: Process): Promise<string[]> => {
  const text = await metrics.render();
  const gauges = [...text.matchAll(/^# TYPE (service_\S+) gauge$/gm)].map(([, name]) => name);
  t.equal(new Set(gauges).size, gauges.length, 'each family exists once');
  return text
    .split('\n')
    .filter((line) => gauges.some((name) => line.startsWith(`${name}`) && !/ 0$|status="acked"/.test(line)));
};

t.test('a service that ends leaves nothing in the process, and another one continues its work', async (t) => {
  const { models, ofProcess, begin } = setUp(t);
  const before = { levels: await levels(t, ofProcess), timers: timers.size };
  const ends: ((service: Service) => Promise<void>)[] = [
    (service) => service.abandon(),
    (service) => service.stop(0),
    async (service) => {
      const stopped = service.stop(600_000);
      await service.abandon();
      await stopped;
    },
  ];
  for (const [index, end] of ends.entries()) {
    const service = await begin();
    await (await ask(ofProcess, '/v1/runs', say('echo', `idle-${index}`))).text();
    const reader = index === 0 ? await startSlow(ofProcess, models) : undefined;
    await when(() => models.waiting() === 1);
    t.ok((await levels(t, ofProcess)).some((line) => line.startsWith('service_active_runs 1')));
    const rest = reader && readAll(reader).catch((error: Error) => error.message);
    await end(service);
    if (rest) t.match(await rest, 'the response was cut off', 'the stream has no end');
    // The timer of this wait is one of them.
    await when(() => models.waiting() === 0 && timers.size <= before.timers + 1);
    t.strictSame(await levels(t, ofProcess), before.levels);
    t.strictSame(ofProcess.inspector.list('default', {}, 0, 10).items, []);
  }
  const service = await begin();
  await when(() => models.waiting() === 1);
  models.release();
  await when(() => models.waiting() === 0);
  const run = await eventually(
    () => latest(ofProcess),
    ({ status }) => status === 'done',
  );
  t.match(run, { termination_reason: { type: 'natural_end' } });
  await service.stop(0);
});

t.test('an abandoned service writes nothing, and rejects what it could not store', async (t) => {
  const { models, ofProcess, begin } = setUp(t);
  const service = await begin();
  const reader = await startSlow(ofProcess, models);
  // Commits of the start are written before this one, but some may follow.
  t.equal((await ask(ofProcess, '/v1/threads', {})).status, 201);
  const before = await eventually(
    async () => {
      const data = readData(ofProcess);
      await settle();
      return { data, isLast: data.equals(readData(ofProcess)) };
    },
    ({ isLast }) => isLast,
  );
  const ended = service.abandon();
  const late = await ask(ofProcess, '/v1/runs', say('echo', 'late'));
  t.equal(late.status, 503);
  await t.rejects(readAll(reader));
  await ended;
  t.ok(before.data.equals(readData(ofProcess)));
});

t.test('a suspended service cuts its streams off and rejects requests until it is resumed', async (t) => {
  const { models, ofProcess, begin } = setUp(t);
  const service = await begin();
  const reader = await startSlow(ofProcess, models);
  const rest = readAll(reader);
  service.suspend();
  await t.rejects(rest, { message: /the response was cut off/ });
  const refused = await ask(ofProcess, '/v1/runs', say('echo', 'other'));
  t.equal(refused.status, 503);
  t.equal(refused.headers.get('retry-after'), '1');
  service.resume();
  t.match(await latest(ofProcess), { status: 'running' }, 'the run continues');
  models.release();
  await eventually(
    () => latest(ofProcess),
    ({ status }) => status === 'done',
  );
  await service.stop(0);
});
