import t from 'tap';
import { openEnvelope } from '../../../src/configuration/namespaces/envelope.ts';
import { Invalid } from '../../../src/schema/outcome.ts';

t.test('drops top-level metadata times', async (t) => {
  const given = { adapter: 'openai', id: 'p', created_at: 1, updated_at: 2, deep: { created_at: 3 } };
  t.strictSame(openEnvelope(given), {
    id: 'p',
    body: { id: 'p', adapter: 'openai', deep: { created_at: 3 } },
  });
  t.equal(given.created_at, 1, 'fields below the top level are kept');
});

for (const body of [[], null, 'x', 5]) {
  t.test(`rejects ${JSON.stringify(body)} as an entry`, async (t) => {
    t.throws(() => openEnvelope(body), new Invalid('invalid payload: expected JSON object body'));
  });
}

for (const body of [{}, { id: 5 }, { id: ' ' }, { id: null }]) {
  t.test(`finds no id in ${JSON.stringify(body)}`, async (t) => {
    t.throws(() => openEnvelope(body, 'x'), new Invalid("missing 'id' field in body"));
  });
}

t.test('requires the same id in path and body', async (t) => {
  t.throws(
    () => openEnvelope({ id: 'right' }, 'left'),
    new Invalid("invalid payload: path id 'left' does not match body id 'right'"),
  );
});
