import { get as request } from 'node:http';
import t, { type Test } from 'tap';
import { ask } from '../http.ts';
import { readBlocks } from '../stream.ts';
import { ADMIN_TOKEN, eventually } from '../troupe.ts';
import { type Evals, lastInput, type Speak, startEvals } from './evals.ts';

/** Asynchronous runs: started, followed, cancelled, recovered. */

const fixtures = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `f${index}`, user_input: `input ${index}` }));

/** A model that completes when the test releases it, and records aborts. */
const gate = () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  let under = 0;
  let open = false;
  const speak: Speak = (sink, asked, signal) =>
    new Promise((resolve, reject) => {
      under += 1;
      most = Math.max(most, under);
      const leave = (): void => {
        under -= 1;
      };
      const go = (): void => {
        leave();
        sink.text(`answer to ${lastInput(asked)}`);
        resolve({ stop: 'EndTurn' });
      };
      if (open) return void setImmediate(go);
      waiting.push(go);
      signal.addEventListener('abort', () => {
        const at = waiting.indexOf(go);
        if (at < 0) return;
        waiting.splice(at, 1);
        leave();
        reject(new Error('cut off'));
      });
    });
  return {
    speak,
    waiting: () => waiting.length,
    most: () => most,
    /** Releases this many waiting inferences. */
    release(count: number) {
      for (const go of waiting.splice(0, count)) go();
    },
    open() {
      open = true;
      for (const go of waiting.splice(0)) go();
    },
  };
};

const started = async ({ ask }: Evals, body: object = {}) => {
  const answer = await ask('POST', '/v1/eval/runs', {
    dataset_id: 'D',
    models: ['m1'],
    async: true,
    ...body,
  });
  if (answer.status !== 202) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return { ...answer, id: String(Object(answer.body.run).id) };
};

const until = ({ get }: Evals, id: string, finished: number) =>
  eventually(
    () => get(id),
    ({ run }) => run.items.length >= finished,
  );

type Frame = { event: string; data: Record<string, unknown> };

const follow = async ({ url }: Evals, id: string) => {
  const blocks = readBlocks(
    await ask(`${url}/v1/eval/runs/${id}/stream`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }),
  );
  const next = async (): Promise<Frame | undefined> => {
    for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      if (event !== '') return { event, data: JSON.parse(data) };
    }
    return undefined;
  };
  return { next, close: blocks.close };
};

t.test('accepts a run at once, lists its items as they complete, and finishes it', async (t) => {
  const evals = await startEvals(t);
  const { dataset, speak, get, list, admin } = evals;
  const models = gate();
  speak('m1', models.speak);
  await dataset('D', fixtures(4));
  const { id, body, headers } = await started(evals);
  t.equal(headers.get('location'), `/v1/eval/runs/${id}`);
  t.match(body, { run: { id, status: 'running', planned_item_count: 4, items: [] } });
  t.notOk('ended_at_secs' in Object(body.run));
  const actors = await admin('GET', '/v1/system/actors?machine=eval-run');
  t.match(actors.body, { items: [{ id: `eval-run:${id}`, machine: 'eval-run', tags: ['running'] }] });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 4,
  );
  models.release(2);
  await until(evals, id, 2);
  t.match((await get(id)).run, { status: 'running', planned_item_count: 4 });
  t.strictSame(await list(), []);
  t.match(await list('?status=running'), [
    { id, status: 'running', item_count: 2, passed_count: 2, failed_count: 0, models: ['m1'] },
  ]);
  t.equal((await evals.ask('GET', `/v1/eval/runs/${id}?baseline=${id}`)).status, 409);
  models.open();
  const { run } = await until(evals, id, 4);
  t.strictSame(
    run.items.map(({ fixture_id, report }) => [fixture_id, report.final_text]),
    fixtures(4).map((fixture) => [fixture.id, `answer to ${fixture.user_input}`]),
  );
  const finished = await eventually(
    () => get(id),
    (answer) => answer.run.status === undefined,
  );
  t.notOk('planned_item_count' in finished.run);
  t.match(await list(), [{ id, item_count: 4, passed_count: 4 }]);
  t.match((await admin('GET', '/v1/system/actors?machine=eval-run')).body, { items: { length: 0 } });
});

t.test('honors the preference of a client not to wait', async (t) => {
  const { dataset, ask, get } = await startEvals(t);
  await dataset('D', fixtures(1));
  const { status, body } = await ask(
    'POST',
    '/v1/eval/runs',
    { dataset_id: 'D' },
    { prefer: 'wait=10, respond-async' },
  );
  t.equal(status, 202);
  const { id } = Object(body.run);
  await eventually(
    () => get(id),
    ({ run }) => run.status === undefined,
  );
});

t.test('streams each item and the end of a run, and sends earlier items to late followers', async (t) => {
  const evals = await startEvals(t);
  const { dataset, speak } = evals;
  const models = gate();
  speak('m1', models.speak);
  await dataset('D', fixtures(3));
  const { id } = await started(evals);
  const early = await follow(evals, id);
  t.match(await early.next(), {
    event: 'snapshot',
    data: { run: { id, status: 'running', items: [] }, progress: { planned: 3, finished: 0 } },
  });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 3,
  );
  models.release(1);
  t.match(await early.next(), {
    event: 'item',
    data: {
      item: { fixture_id: 'f0', report: { passed: true } },
      progress: { planned: 3, finished: 1, passed: 1 },
    },
  });
  const late = await follow(evals, id);
  t.match(await late.next(), { event: 'snapshot', data: { run: { items: [{ fixture_id: 'f0' }] } } });
  models.open();
  for (const reader of [early, late]) {
    for (let n = 0; n < 2; n += 1) t.match(await reader.next(), { event: 'item' });
    t.match(await reader.next(), {
      event: 'end',
      data: { status: 'done', progress: { finished: 3, passed: 3, failed: 0 } },
    });
    t.equal(await reader.next(), undefined);
  }
  const after = await follow(evals, id);
  t.match(await after.next(), { event: 'snapshot', data: { run: { items: { length: 3 } } } });
  t.match(await after.next(), { event: 'end' });
  t.equal(await after.next(), undefined);
});

t.test('sends a stalled reader a snapshot of what it missed, without delaying others', async (t) => {
  const evals = await startEvals(t);
  const { dataset, speak, url, list } = evals;
  const models = gate();
  const answer = 'x'.repeat(200_000);
  speak('m1', async (sink, asked, signal) => {
    sink.text(answer);
    return models.speak(sink, asked, signal);
  });
  // 8 MB in total: twice the buffers of a socket.
  const count = 40;
  await dataset('D', fixtures(count));
  const { id } = await started(evals);
  const response = await new Promise<import('node:http').IncomingMessage>((resolve) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    request(`${url}/v1/eval/runs/${id}/stream`, { headers, agent: false }, resolve);
  });
  t.teardown(() => response.destroy());
  response.pause();
  models.open();
  await eventually(list, ({ length }) => length === 1);
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => response.on('close', resolve).resume());
  const frames = text.split('\n\n').filter((block) => block.startsWith('event: '));
  const names = frames.map((frame) => frame.slice('event: '.length, frame.indexOf('\n')));
  t.equal(names.at(-1), 'end');
  t.equal(names.at(-2), 'snapshot');
  t.ok(names.filter((name) => name === 'item').length < count, 'missed items are sent as one snapshot');
  const snapshot = JSON.parse(frames.at(-2)?.split('data: ')[1] ?? '');
  t.equal(snapshot.run.items.length, count);
});

t.test('keeps the items of a cancelled run, and ignores a second cancel', async (t) => {
  const evals = await startEvals(t);
  const { dataset, speak, ask, list, call, asked } = evals;
  const models = gate();
  speak('m1', models.speak);
  await dataset('D', fixtures(20));
  const { id } = await started(evals);
  const reader = await follow(evals, id);
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 5,
  );
  models.release(2);
  await until(evals, id, 2);
  const cancelled = await ask('POST', `/v1/eval/runs/${id}/cancel`);
  t.match(cancelled, {
    status: 200,
    body: { run: { id, status: 'cancelled', planned_item_count: 20, items: { length: 2 } } },
  });
  const before = asked.length;
  t.strictSame((await ask('POST', `/v1/eval/runs/${id}/cancel`)).body, cancelled.body);
  t.strictSame((await ask('GET', `/v1/eval/runs/${id}`)).body, cancelled.body);
  t.strictSame(await list(), []);
  t.match(await list('?status=cancelled'), [{ id, status: 'cancelled', item_count: 2 }]);
  t.match((await call('GET', `/v1/runs/${id}/events`)).body.items, [
    { event_kind: 'EvalRunStarted' },
    { event_kind: 'EvalRunCancelled', payload: { item_count: 2 } },
  ]);
  let last: Frame | undefined;
  for (let frame = await reader.next(); frame; frame = await reader.next()) last = frame;
  t.match(last, { event: 'end', data: { status: 'cancelled', progress: { planned: 20, finished: 2 } } });
  t.equal(asked.length, before, 'a cancelled run calls no model');
});

t.test('does not cancel a finished run', async (t) => {
  const { dataset, evaluate, ask } = await startEvals(t);
  await dataset('D', fixtures(1));
  const run = await evaluate({ dataset_id: 'D' });
  t.strictSame((await ask('POST', `/v1/eval/runs/${run.id}/cancel`)).body, { run });
});

t.test('cancels a run when the client that waits for it disconnects', async (t) => {
  const { dataset, speak, list, url } = await startEvals(t);
  const models = gate();
  speak('m1', models.speak);
  await dataset('D', fixtures(3));
  const leaving = new AbortController();
  const answer = fetch(`${url}/v1/eval/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ dataset_id: 'D', models: ['m1'] }),
    signal: leaving.signal,
  });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 3,
  );
  leaving.abort();
  await t.rejects(answer);
  await eventually(
    () => list('?status=cancelled'),
    ({ length }) => length === 1,
  );
  t.equal(models.waiting(), 0);
});

const restartable = async (t: Test) => {
  const evals = await startEvals(t, { settings: { shutdown_timeout_ms: 0 } });
  const models = gate();
  evals.speak('m1', models.speak);
  await evals.dataset('D', fixtures(8));
  return { evals, models };
};

t.test('resumes a run after a restart with the cells that have no item', async (t) => {
  const { evals, models } = await restartable(t);
  const { get, asked, call } = evals;
  const { id } = await started(evals);
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 5,
  );
  models.release(3);
  const before = await until(evals, id, 3);
  // The stored run does not depend on later changes of its dataset.
  await evals.dataset('D', []);
  await evals.restart();
  const heard = asked.length;
  models.open();
  const { run } = await eventually(
    () => get(id),
    (answer) => answer.run.status === undefined,
  );
  t.strictSame(
    run.items.map(({ fixture_id }) => fixture_id),
    fixtures(8).map((fixture) => fixture.id),
  );
  for (const item of before.run.items)
    t.ok(run.items.some((each) => JSON.stringify(each) === JSON.stringify(item)));
  t.equal(asked.length - heard <= 5, true, 'finished cells are not executed again');
  const { body } = await call('GET', `/v1/runs/${id}/events`);
  t.match(body.items, [
    { event_kind: 'EvalRunStarted' },
    { event_kind: 'EvalRunCompleted', payload: { item_count: 8, passed_count: 8 } },
  ]);
});

t.test('cancels a run after a restart whose request waited for it in the earlier process', async (t) => {
  const { evals, models } = await restartable(t);
  const { ask, list } = evals;
  const answer = ask('POST', '/v1/eval/runs', { dataset_id: 'D', models: ['m1'] });
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 5,
  );
  const [stopped] = await Promise.all([answer.catch(() => ({ status: 0 })), evals.restart()]);
  t.ok([503, 0].includes(stopped.status));
  await eventually(
    () => list('?status=cancelled'),
    ({ length }) => length === 1,
  );
});

t.test('shares the concurrency limit among many runs, and completes each of them', async (t) => {
  const evals = await startEvals(t);
  const { dataset, speak, list } = evals;
  const models = gate();
  speak('m1', models.speak);
  await dataset('D', fixtures(6));
  const runs = await Promise.all(Array.from({ length: 50 }, () => started(evals)));
  t.equal(new Set(runs.map(({ id }) => id)).size, 50);
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 32,
  );
  models.open();
  const done = await eventually(
    () => list('?limit=200'),
    ({ length }) => length === 50,
  );
  for (const each of done) t.match(each, { item_count: 6, passed_count: 6 });
  t.equal(models.most(), 32);
});

t.test('executes the maximum number of concurrent cells for a single run', async (t) => {
  const evals = await startEvals(t);
  const models = gate();
  evals.speak('m1', models.speak);
  await evals.dataset('D', fixtures(12));
  await started(evals);
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 5,
  );
  for (let round = 0; round < 50; round += 1) await new Promise(setImmediate);
  t.equal(models.waiting(), 5);
  models.open();
});
