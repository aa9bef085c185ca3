import t from 'tap';
import { openEnvelope } from '../../../src/registry/namespaces/envelope.ts';
import { Invalid } from '../../../src/schema/outcome.ts';

t.test('times that only metadata has are dropped', async (t) => {
  const given = { adapter: 'openai', id: 'p', created_at: 1, updated_at: 2, deep: { created_at: 3 } };
  t.strictSame(openEnvelope(given), {
    id: 'p',
    body: { id: 'p', adapter: 'openai', deep: { created_at: 3 } },
  });
  t.equal(given.created_at, 1, 'what is given stays');
});

for (const body of [[], null, 'x', 5]) {
  t.test(`${JSON.stringify(body)} is no entry`, async (t) => {
    t.throws(() => openEnvelope(body), new Invalid('invalid payload: expected JSON object body'));
  });
}

for (const body of [{}, { id: 5 }, { id: ' ' }, { id: null }]) {
  t.test(`${JSON.stringify(body)} has no id`, async (t) => {
    t.throws(() => openEnvelope(body, 'x'), new Invalid("missing 'id' field in body"));
  });
}

t.test('the id of the path is that of the body', async (t) => {
  t.throws(
    () => openEnvelope({ id: 'right' }, 'left'),
    new Invalid("invalid payload: path id 'left' does not match body id 'right'"),
  );
});
