import t from 'tap';
import { compileWildcards } from '../../src/plugins/permission/wildcard.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import { compileExpression } from '../../src/schema/regex.ts';

const LARGE: [what: string, pattern: string][] = [
  ['a long text', 'a'.repeat(4097)],
  ['a program past the limit', '[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}[a-z]{1000}'],
  ['a short text with a huge program', `(?:${'ab?'.repeat(300)}){1000}`],
];
for (const [what, pattern] of LARGE) {
  t.test(`${what} is no expression, and is refused at once`, async (t) => {
    const began = process.cpuUsage();
    const refused = compileExpression(pattern);
    t.ok(refused instanceof Invalid);
    t.match(refused, { message: /^it is too large: allowed are 4096 characters/ });
    t.ok(process.cpuUsage(began).user < 2_000_000);
  });
}

t.test('what is within the limits is one, and what is wrong says why', async (t) => {
  for (const pattern of ['a'.repeat(4000), '^[a-z]{1,1000}$', '']) {
    t.notOk(compileExpression(pattern) instanceof Invalid);
  }
  t.match(compileExpression('('), { message: /missing closing \)/ });
});

/** One step, however long its text is. */
const oneOf = (length: number): string => `[${'a'.repeat(length - 2)}]`;

t.test('an expression may be as long as it is said, and its counts as large', async (t) => {
  t.notOk(compileExpression(oneOf(4096)) instanceof Invalid);
  t.ok(compileExpression(oneOf(4097)) instanceof Invalid);
  t.notOk(compileExpression(`${oneOf(507)}{512}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(508)}{512}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(507)}{513}`) instanceof Invalid);
  t.ok(compileExpression(`${oneOf(506)}{1,513}`) instanceof Invalid);
  // A program has two steps beside those of its text.
  t.notOk(compileExpression('a'.repeat(4094)) instanceof Invalid);
  t.ok(compileExpression('a'.repeat(4095)) instanceof Invalid);
});

t.test(
  'a glob of any length is one without wildcards; with them it has the limits of an expression',
  async (t) => {
    const long = 'x'.repeat(100_000);
    t.ok(compileWildcards(long)(long));
    t.notOk(compileWildcards(long)(`${long}x`));
    t.throws(() => compileWildcards('*a'.repeat(30_000)), {
      name: 'Invalid',
      message: /^glob "(\*a){100}…" is not valid: it is too large/,
    });
  },
);
