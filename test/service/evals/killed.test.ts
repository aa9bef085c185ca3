import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EvalRun } from '../../../src/schema/eval-run.ts';
import { startChild } from '../../store/child.ts';
import { ADMIN_TOKEN, clientOf, eventually } from '../troupe.ts';

/** An eval run survives the end of its process, however that ends. */

const serve = async (t: Test, dir: string, stopsAt = '') => {
  const child = startChild(t, '../service/evals/child-evals.ts', [join(dir, 'data'), stopsAt]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, client: clientOf(() => url) };
  }
};

t.test('resumes a killed run without executing finished cells again', async (t) => {
  const dir = t.testdir();
  const first = await serve(t, dir, '6');
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const fixtures = Array.from({ length: 12 }, (_, index) => ({ id: `f${index}`, user_input: String(index) }));
  const dataset = { id: 'D', spec: { fixtures } };
  t.equal((await first.client.call('POST', '/v1/eval/datasets', dataset, headers)).status, 201);
  const body = { dataset_id: 'D', models: ['m'], async: true };
  const answer = await first.client.call('POST', '/v1/eval/runs', body, headers);
  t.equal(answer.status, 202);
  const { id } = EvalRun.parse(answer.body.run);
  const read = async ({ admin }: typeof first.client) =>
    EvalRun.parse((await admin('GET', `/v1/eval/runs/${id}`)).body.run);
  const before = await eventually(
    () => read(first.client),
    ({ items }) => items.length === 6,
  );
  // The hanging cells are executing.
  for (let hung = 0; hung < 5; ) if (Number(/\d+/.exec(await first.line())?.[0]) >= 6) hung += 1;
  await first.kill();
  const second = await serve(t, dir);
  const after = await eventually(
    () => read(second.client),
    ({ status }) => status === undefined,
  );
  t.strictSame(
    after.items.map(({ report }) => report.final_text),
    Array.from({ length: 12 }, (_, index) => `answer to ${index}`),
  );
  for (const item of before.items) {
    t.strictSame(
      after.items.find(({ fixture_id }) => fixture_id === item.fixture_id),
      item,
      'a stored item is not rewritten',
    );
  }
  await second.kill();
});
