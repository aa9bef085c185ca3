import t from 'tap';
import { matches } from '../../../src/plugins/permission/match.ts';
import { parsePattern } from '../../../src/plugins/permission/pattern.ts';
import { compileWildcards, unescapeLiteral } from '../../../src/plugins/permission/wildcard.ts';
import type { Json } from '../../../src/tools/tool.ts';
import fc from '../../random.ts';

const matching = (pattern: string, name: string, args: Json = {}): boolean =>
  matches(parsePattern(pattern), { name, arguments: args });

const tools: [pattern: string, hits: string[], misses: string[]][] = [
  ['Name', ['Name'], ['name', 'Name2', 'xName']],
  ['na*e', ['nae', 'na/b:c\ne'], ['na', 'xnae']],
  ['na?e', ['name', 'na/e', 'na😀e'], ['nae', 'naxxe']],
  ['[ab]x', ['ax', 'bx'], ['cx', '[ab]x', 'x']],
  ['[!ab]x', ['cx'], ['ax', 'x']],
  ['[a-c\\]]x', ['bx', ']x'], ['dx', '-x', '\\x']],
  ['[a-]*', ['a', '-'], ['b']],
  ['a.c*', ['a.c'], ['abc']],
  ['na\\*e', ['na*e'], ['nae', 'na\\*e']],
  ['/get/', ['get', 'xgety'], ['ge']],
  ['/^(get|list)_/', ['get_x', 'list_'], ['xget_']],
];
for (const [pattern, hits, misses] of tools) {
  t.test(`${pattern} matches ${hits.join(', ')} and not ${misses.join(', ')}`, async (t) => {
    for (const name of hits) t.ok(matching(pattern, name), name);
    for (const name of misses) t.notOk(matching(pattern, name), name);
  });
}

const calls: [pattern: string, args: Json, holds: boolean][] = [
  ['T(*)', null, true],
  ['T(*)', { a: 1, b: 2 }, true],
  ['T(rm *)', { command: 'rm -r\n/' }, true],
  ['T(rm *)', { command: 'ls; rm x' }, false],
  ['T(rm *)', { command: 'rm x', cwd: '/' }, false],
  ['T(*"rm x"*)', { command: 'rm x', cwd: '/' }, true],
  ['T({"a":1,"b":\\[2\\]})', { a: 1, b: [2] }, true],
  ['T({})', null, true],
  ['T({})', '', true],
  ['T(5)', { n: 5 }, true],
  ['T({"b":1})', { a: { b: 1 } }, true],
  ['T(text)', 'text', true],
  ['T(a = "x")', { a: 'x' }, true],
  ['T(a = "x")', { a: 'xx' }, false],
  ['T(a ~ "x*")', { a: 'xx' }, true],
  ['T(a ~ "x*")', { a: 'ax' }, false],
  ['T(a =~ "^x+$")', { a: 'xxx' }, true],
  ['T(a =~ "\\d")', { a: 'v1' }, true],
  ['T(a =~ "^x+$")', { a: 'xy' }, false],
  ['T(a != "x")', { a: 'y' }, true],
  ['T(a != "x")', { a: 'x' }, false],
  ['T(a !~ "x*")', { a: 'ax' }, true],
  ['T(a !~ "x*")', { a: 'xa' }, false],
  ['T(a !=~ "x")', { a: 'y' }, true],
  ['T(a !=~ "x")', { a: 'yx' }, false],
  ['T(a = "1", b = "2")', { a: 1, b: 2 }, true],
  ['T(a = "1", b = "2")', { a: 1, b: 3 }, false],
  ['T(a = "true")', { a: true }, true],
  ['T(a = "null")', { a: null }, true],
  ['T(a = "[1,2]")', { a: [1, 2] }, true],
  ['T(a.b = "x")', { a: { b: 'x' } }, true],
  ['T(a[1] = "x")', { a: ['y', 'x'] }, true],
  ['T(a[0] = "x")', { a: ['y', 'x'] }, false],
  ['T(a[*].c = "x")', { a: [{ c: 'y' }, { d: 1 }, { c: 'x' }] }, true],
  ['T(a[*].c != "x")', { a: [{ c: 'x' }, { c: 'y' }] }, true],
  ['T(a[*].c != "x")', { a: [{ c: 'x' }] }, false],
  ['T(*.c = "x")', { a: { c: 'y' }, b: { c: 'x' } }, true],
  ['T(* = "x")', { a: 'y', b: 'x' }, true],
  ['T(a.* = "x")', { a: ['x'] }, false],
  ['T(a[*] = "x")', { a: { b: 'x' } }, false],
];
for (const [pattern, args, holds] of calls) {
  t.test(`${pattern} ${holds ? 'holds' : 'does not hold'} for ${JSON.stringify(args)}`, async (t) => {
    t.equal(matching(pattern, 'T', args), holds);
    t.notOk(matching(pattern, 'U', args), 'rules of other tools do not match');
  });
}

t.test('fails a condition on a missing field for every operator', async (t) => {
  for (const operator of ['=', '~', '=~', '!=', '!~', '!=~']) {
    for (const path of ['b', 'a.b', 'a[0]', 'l[1]', 'l[*].x', 'constructor', 'a.length', '__proto__']) {
      t.notOk(matching(`T(${path} ${operator} "v")`, 'T', { a: 'x', l: [1] }), `${path} ${operator}`);
    }
  }
});

t.test('rejects an invalid set, expression or range', async (t) => {
  t.throws(() => matching('/(/', 'T'), { name: 'Invalid', message: /^regex "\(" is not valid/ });
  t.throws(() => matching('T(a =~ "a(?=b)")', 'T'), { name: 'Invalid', message: /^regex .* is not valid/ });
  t.throws(() => matching('[z-a]*', 'T'), { name: 'Invalid', message: /^glob "\[z-a\]\*" is not valid/ });
});

/** The literal definition: a star matches nothing, or one character followed by the star again. */
const reference = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern[0] === '*') {
    return reference(pattern.slice(1), text) || (text !== '' && reference(pattern, text.slice(1)));
  }
  if (text === '') return false;
  if (pattern[0] === '?') return reference(pattern.slice(1), text.slice(1));
  const set = /^\[(!?)([ab]+)\]/.exec(pattern);
  if (set) {
    const isMember = set[2]?.includes(text.charAt(0)) ?? false;
    return isMember === (set[1] === '') && reference(pattern.slice(set[0].length), text.slice(1));
  }
  const width = pattern[0] === '\\' ? 2 : 1;
  return text[0] === pattern[width - 1] && reference(pattern.slice(width), text.slice(1));
};

t.test('matches a glob by its definition', async () => {
  const glob = fc
    .array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!b]', '\\*'), { minLength: 1, maxLength: 8 })
    .map((tokens) => tokens.join(''))
    .filter((text) => unescapeLiteral(text) === undefined);
  const text = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 10 }).map((some) => some.join(''));
  fc.assert(
    fc.property(glob, text, (pattern, name) => matching(pattern, name) === reference(pattern, name)),
    { numRuns: 2000 },
  );
});

t.test('matches in linear time patterns that would backtrack exponentially', async (t) => {
  const text = `${'a'.repeat(50_000)}!`;
  t.notOk(matching('T(a =~ "^(a+)+$")', 'T', { a: text }));
  t.notOk(matching('T(a =~ "^(a|a)*$")', 'T', { a: text }));
  t.notOk(matching(`T(a ~ "${'*a'.repeat(20)}b")`, 'T', { a: text }));
  t.ok(matching('/^(a+)+!$/', text));
});

t.test('compiles every glob of 256 characters without a set when it tests the first text', async (t) => {
  for (const character of ['*', '?', 'a', '\\', '{', '9', '\u00e9', '\u{1f600}']) {
    const glob = character.repeat(256 / character.length);
    t.doesNotThrow(() => compileWildcards(glob)('a'), character);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 200, maxLength: 256 }), (text) => {
      const glob = text.replaceAll('[', '?').slice(0, 256);
      t.type(compileWildcards(glob)('a'), 'boolean');
    }),
    { numRuns: 50 },
  );
});
