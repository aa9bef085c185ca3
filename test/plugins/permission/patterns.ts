import { type Condition, OPERATORS, type Segment } from '../../../src/plugins/permission/condition.ts';
import type { ArgumentPart, Pattern, ToolPart } from '../../../src/plugins/permission/pattern.ts';
import { Behavior, type Rule } from '../../../src/plugins/permission/policy.ts';
import type { Json } from '../../../src/tools/tool.ts';
import fc from '../../random.ts';

/** Patterns, rules and calls of every form over a small alphabet, so that they match often. */

const joined = (pieces: readonly string[], most: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: most }).map((some) => some.join(''));

const NAME = ['a', 'b', '_', ':', '/', '(', ')', '*', '?', '[', ']', '\\', 'é'];

const tool: fc.Arbitrary<ToolPart> = fc.oneof(
  joined(NAME, 5).map((name): ToolPart => ({ kind: 'exact', name })),
  joined(['a', 'b', '_', '*', '?', '[ab]', '[!a]', '\\*', '\\('], 5)
    .filter((glob) => glob.replace(/\\./g, '').search(/[*?[]/) >= 0)
    .map((glob): ToolPart => ({ kind: 'glob', glob })),
  joined(['a', 'b', '/', '.', '^', 'a*', '(a|b)', '\\\\', '\\.'], 5).map(
    (source): ToolPart => ({ kind: 'regex', source }),
  ),
);

const key = fc.constantFrom<Segment>(
  { kind: 'key', key: 'x' },
  { kind: 'key', key: 'y-1' },
  { kind: 'any_key' },
);
const index = fc.constantFrom<Segment>({ kind: 'index', index: 0 }, { kind: 'any_index' });
const path = fc
  .tuple(key, fc.array(fc.oneof(key, index), { maxLength: 3 }))
  .map(([first, more]): Segment[] => [first, ...more]);

const condition: fc.Arbitrary<Condition> = fc.record({
  path,
  operator: fc.constantFrom(...OPERATORS),
  value: joined(['a', 'b', '"', '\\\\', ',', ')', ' ', '*'], 4).filter((value) => !value.startsWith('*')),
});

const args: fc.Arbitrary<ArgumentPart> = fc.oneof(
  fc.constant<ArgumentPart>({ kind: 'any' }),
  joined(['a', 'b', ' ', '(', ')', '/', '*', ','], 5)
    .filter((glob) => !['', '*'].includes(glob.trim()))
    .map((glob): ArgumentPart => ({ kind: 'primary', glob })),
  fc
    .array(condition, { minLength: 1, maxLength: 3 })
    .map((conditions): ArgumentPart => ({ kind: 'conditions', conditions })),
);

export const anyPattern: fc.Arbitrary<Pattern> = fc.record({ tool, args });

/** Texts of rules that often match the calls below. */
const RULE_TEXTS = [
  'a',
  'b',
  '*',
  'a*',
  '/a/',
  '[ab]',
  'a(*)',
  'a(x*)',
  'a(x = "x")',
  '*(x != "y")',
  'b(y.* ~ "x*")',
];

export const anyRule: fc.Arbitrary<Rule> = fc.record({
  tool: fc.constantFrom(...RULE_TEXTS),
  behavior: fc.constantFrom(...Behavior.options),
});

const value = fc.constantFrom<Json[]>('x', 'y', 'xy', 1, null, { z: 'xx' });

export const anyCall: fc.Arbitrary<{ name: string; arguments: Json }> = fc.record({
  name: fc.constantFrom('a', 'b', 'ab'),
  arguments: fc.dictionary(fc.constantFrom('x', 'y'), value, { maxKeys: 2, noNullPrototype: true }),
});
