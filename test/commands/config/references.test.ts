import t from 'tap';
import { escapeReferences, referenceTo, resolveReferences } from '../../../src/commands/config/references.ts';
import fc from '../../random.ts';

const resolved = (text: string, env: Record<string, string> = {}) => {
  const problems: string[] = [];
  const { text: result } = resolveReferences({ text }, env, problems);
  return { result, problems };
};

/** A dollar sign and a name in braces. */
const ref = (name: string): string => ['$', '{', name, '}'].join('');

t.test('a reference is replaced by the value of its variable, anywhere in a text', async (t) => {
  const env = { A: '1', _b2: ref('A') };
  t.strictSame(resolved(ref('A'), env), { result: '1', problems: [] });
  t.equal(
    resolved(`x${ref('A')}y${ref('_b2')}`, env).result,
    `x1y${ref('A')}`,
    'references inside values are not replaced',
  );
  const others = `$A {A} ${ref('')} ${ref('A-B')} ${ref('1')}`;
  t.equal(resolved(others, env).result, others);
});

t.test('reports an unset or empty variable as a problem, once', async (t) => {
  t.strictSame(resolved([ref('X'), ref('X'), ref('Y')].join(), { Y: '' }).problems, [
    'the variable X is not set',
    'the variable Y is not set',
  ]);
});

t.test('any text can be written and read back', async (t) => {
  const text = fc
    .array(fc.constantFrom('$', '{', '}', 'A', '_', '1', ref('A'), ' '), { maxLength: 12 })
    .map((parts) => parts.join(''));
  const comesBack = fc.property(text, (given) => {
    const { result, problems } = resolved(String(escapeReferences(given)), { A: 'never' });
    return result === given && problems.length === 0;
  });
  t.doesNotThrow(() => fc.assert(comesBack));
});

t.test('the variable of a secret is named after its location', async (t) => {
  t.equal(referenceTo('mcp-servers', 'my files', 'env', 'KEY'), ref('MCP_SERVERS_MY_FILES_ENV_KEY'));
});
