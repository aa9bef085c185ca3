import t from 'tap';
import { compileWildcards } from '../../src/plugins/permission/wildcard.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import { compileExpression, createExpressions } from '../../src/schema/regex.ts';

const LARGE: [what: string, pattern: string][] = [
  ['a long text', 'a'.repeat(4097)],
  ['a program past the limit', '[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}'],
  ['a short text with a huge program', `(?:${'ab?'.repeat(300)}){1000}`],
];
for (const [what, pattern] of LARGE) {
  t.test(`rejects ${what} at once`, async (t) => {
    const began = process.cpuUsage();
    const refused = compileExpression(pattern);
    t.ok(refused instanceof Invalid);
    t.match(refused, { message: /^it is too large: allowed are 4096 characters/ });
    t.ok(process.cpuUsage(began).user < 2_000_000);
  });
}

t.test('accepts expressions within the limits, and explains errors in others', async (t) => {
  for (const pattern of ['a'.repeat(4000), '^[a-z]{1,1000}$', '']) {
    t.notOk(compileExpression(pattern) instanceof Invalid);
  }
  t.match(compileExpression('('), { message: /missing closing \)/ });
});

/** A single step with a text of any length. */
const oneOf = (length: number): string => `[${'a'.repeat(length - 2)}]`;

t.test('enforces the limits of length and repetition exactly', async (t) => {
  t.notOk(compileExpression(oneOf(4096)) instanceof Invalid);
  t.ok(compileExpression(oneOf(4097)) instanceof Invalid);
  t.notOk(compileExpression(`${oneOf(507)}{512}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(508)}{512}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(507)}{513}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(506)}{1,513}`) instanceof Invalid);
  // A program has two steps in addition to those of its text.
  t.notOk(compileExpression('a'.repeat(4094)) instanceof Invalid);
  t.ok(compileExpression('a'.repeat(4095)) instanceof Invalid);
});

t.test('limits the steps of several expressions together, and compiles equal ones once', async (t) => {
  const compile = createExpressions(1000);
  const large = compile('a'.repeat(500));
  t.equal(compile('a'.repeat(500)), large);
  t.match(compile('b'.repeat(500)), {
    message: 'the patterns are too large together: allowed are 1000 steps',
  });
  t.notOk(compile('[a-z]{300}') instanceof Invalid, 'steps count, as they are written out');
  t.ok(compile('c'.repeat(200)) instanceof Invalid);
  t.match(compile('(?=a)'), { message: /invalid or unsupported/ });
  t.notOk(compile('ok') instanceof Invalid, 'an invalid one costs its length');
  t.ok(compile('\\p{L}'.repeat(6)) instanceof Invalid, 'categories count as many');
});

t.test('accepts a glob of any length without wildcards, and limits it with wildcards', async (t) => {
  const long = 'x'.repeat(100_000);
  t.ok(compileWildcards(long)(long));
  t.notOk(compileWildcards(long)(`${long}x`));
  t.throws(() => compileWildcards('*a'.repeat(30_000)), {
    name: 'Invalid',
    message: /^glob "(\*a){100}…" is not valid: it is too large/,
  });
});
