import t from 'tap';
import { readFixtures } from '../../../src/commands/eval/folder.ts';
import { Usage } from '../../../src/commands/usage.ts';

/** Fixtures of a folder: evals-and-traces.md 8.2. */

const fixture = (id: string, more: object = {}): string =>
  JSON.stringify({ id, user_input: 'Hello', ...more });

t.test('reads fixtures in the order of their ids, without hidden files', async (t) => {
  const dir = t.testdir({
    '1.json': fixture('b'),
    '2.json': fixture('a'),
    '.hidden.json': 'nothing',
    'notes.md': 'nothing',
  });
  t.strictSame(
    readFixtures(dir).map(({ id }) => id),
    ['a', 'b'],
  );
});

t.test('reports all errors at once, with their files', async (t) => {
  const dir = t.testdir({
    'a.json': fixture('same'),
    'b.json': fixture('same'),
    'c.json': '{',
    'd.json': '{"id":"d"}',
    'e.json': fixture('e', { expect: { min_judge_score: 0.5 } }),
    'f.json': {},
  });
  t.throws(() => readFixtures(dir), Usage);
  t.throws(() => readFixtures(dir), {
    message: new RegExp(
      [
        'b.json: duplicate fixture id: same, also in a.json',
        'c.json: not JSON',
        'd.json: .*user_input.*',
        'e.json: min_judge_score requires a judge, but none is configured',
        'f.json: cannot be read',
      ].join('\n'),
    ),
  });
});

t.test('rejects a fixture with an integer that a number cannot represent, naming the integer', async (t) => {
  const call = '{"tool_name":"get","arguments":{"id":1234567890123456789}}';
  const dir = t.testdir({
    'a.json': fixture('a'),
    'b.json': `{"id":"b","user_input":"Hello","metadata":${call}}`,
    'c.json': fixture('c', { user_input: 'order 1234567890123456789' }),
  });
  t.throws(() => readFixtures(dir), { message: /b\.json: .*1234567890123456789/ });
  t.throws(() => readFixtures(dir), { message: /^(?!.*c\.json)/s });
});

t.test('a folder that is missing or has no fixture is a usage error', async (t) => {
  t.throws(() => readFixtures('/no/such/folder'), { message: /directory .* cannot be read/ });
  t.throws(() => readFixtures(t.testdir({ 'notes.md': '' })), { message: /contains no fixture/ });
});
