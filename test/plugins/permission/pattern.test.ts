import t from 'tap';
import { formatPattern, type Pattern, parsePattern } from '../../../src/plugins/permission/pattern.ts';
import fc from '../../random.ts';
import { anyPattern } from './patterns.ts';

const exact = (name: string): Pattern => ({ tool: { kind: 'exact', name }, args: { kind: 'any' } });
const glob = (text: string): Pattern => ({ tool: { kind: 'glob', glob: text }, args: { kind: 'any' } });
const regex = (source: string): Pattern => ({ tool: { kind: 'regex', source }, args: { kind: 'any' } });
const primary = (tool: Pattern, text: string): Pattern => ({
  ...tool,
  args: { kind: 'primary', glob: text },
});

const forms: [text: string, pattern: Pattern][] = [
  ['Name', exact('Name')],
  ['  Name ', exact('Name')],
  ['na*e', glob('na*e')],
  ['na?e', glob('na?e')],
  ['[ab]x', glob('[ab]x')],
  ['na\\*e', exact('na*e')],
  ['a[b', exact('a[b')],
  ['/regex/', regex('regex')],
  ['/a/b/', regex('a/b')],
  ['/a\\/b/', regex('a/b')],
  ['Name(*)', exact('Name')],
  ['na*e(*)', glob('na*e')],
  ['Name(/etc/*)', primary(exact('Name'), '/etc/*')],
  ['Name(f(x))', primary(exact('Name'), 'f(x)')],
  ['/^a/(rm *)', primary(regex('^a'), 'rm *')],
  ['mcp__*(rm *)', primary(glob('mcp__*'), 'rm *')],
];
for (const [text, pattern] of forms) {
  t.test(`${text} is parsed as ${JSON.stringify(pattern)}`, async (t) => {
    t.strictSame(parsePattern(text), pattern);
  });
}

t.test('parses conditions with a path, an operator and a quoted value each', async (t) => {
  t.strictSame(parsePattern('N(a.b = "x", c[0]!=~"y" ,*.d[*] ~ "q\\"\\\\\\d")').args, {
    kind: 'conditions',
    conditions: [
      {
        path: [
          { kind: 'key', key: 'a' },
          { kind: 'key', key: 'b' },
        ],
        operator: '=',
        value: 'x',
      },
      {
        path: [
          { kind: 'key', key: 'c' },
          { kind: 'index', index: 0 },
        ],
        operator: '!=~',
        value: 'y',
      },
      {
        path: [{ kind: 'any_key' }, { kind: 'key', key: 'd' }, { kind: 'any_index' }],
        operator: '~',
        value: 'q"\\\\d',
      },
    ],
  });
});

const asTheyStand: [text: string, pattern: Pattern][] = [
  ['mcp:*', glob('mcp:*')],
  ['foo(bar', exact('foo(bar')],
  ['foo(bar*', glob('foo(bar*')],
  ['(bar)', exact('(bar)')],
  ['foo()', exact('foo()')],
  ['/etc/passwd', exact('/etc/passwd')],
  ['/etc/*', glob('/etc/*')],
  ['/', exact('/')],
];
for (const [text, pattern] of asTheyStand) {
  t.test(`${text} is no form of the language, so it is a ${pattern.tool.kind} tool id`, async (t) => {
    t.strictSame(parsePattern(text), pattern);
  });
}

const broken: [text: string, complaint: string][] = [
  [' ', 'pattern is empty'],
  ['Bash(command ~ "rm *)', 'expected a value in double quotes at character 16'],
  ['Bash(command ~ "rm *"', 'expected "," or ")" at character 22'],
  ['Bash(command ~ "rm *" or "x")', 'expected "," or ")" at character 23'],
  ['Bash(command ~ "rm *", cwd)', 'expected one of = ~ =~ != !~ !=~ at character 27'],
  ['Bash(command ~ "rm *",)', 'expected a path at character 23'],
  ['Bash(command ~ "rm *") x', 'expected the end at character 23'],
];
for (const [text, complaint] of broken) {
  t.test(`rejects ${JSON.stringify(text)}: ${complaint}`, async (t) => {
    t.throws(() => parsePattern(text), { name: 'Invalid', message: new RegExp(`${escaped(complaint)}$`) });
  });
}

const escaped = (text: string): string => text.replace(/[=~!*()]/g, '\\$&');

const spellings: [text: string, canonical: string][] = [
  ['Bash( * )', 'Bash'],
  ['Bash (command~"a")', 'Bash(command ~ "a")'],
  ['B(a="1",b[*].c!="2")', 'B(a = "1", b[*].c != "2")'],
  ['Edit(/etc/*)', 'Edit(/etc/*)'],
  ['/a/b/', '/a\\/b/'],
  ['foo(bar', 'foo\\(bar'],
];
for (const [text, canonical] of spellings) {
  t.test(`${text} is formatted as ${canonical}`, async (t) => {
    t.equal(formatPattern(parsePattern(text)), canonical);
  });
}

t.test('parses every pattern from its formatted text', async () => {
  fc.assert(
    fc.property(anyPattern, (pattern) => {
      const text = formatPattern(pattern);
      const read = parsePattern(text);
      fc.pre(text === text.trim());
      return JSON.stringify(read) === JSON.stringify(pattern);
    }),
    { numRuns: 3000 },
  );
});

t.test('limits a backslash at the end of a glob to the glob', async (t) => {
  const read = parsePattern('*\\ (a)');
  t.strictSame(read, { tool: { kind: 'glob', glob: '*\\\\' }, args: { kind: 'primary', glob: 'a' } });
  t.strictSame(parsePattern(formatPattern(read)), read);
  t.equal(formatPattern(parsePattern('*\\')), '*\\\\');
});

t.test('parses or rejects any text, and preserves its meaning in the canonical form', async () => {
  const letters = fc.constantFrom(
    'a',
    '(',
    ')',
    '/',
    '*',
    '"',
    '=',
    '~',
    '!',
    ',',
    ' ',
    '\\',
    '[',
    ']',
    '.',
    '0',
  );
  const text = fc.array(letters, { maxLength: 16 }).map((some) => some.join(''));
  fc.assert(
    fc.property(text, (given) => {
      let read: Pattern;
      try {
        read = parsePattern(given);
      } catch (error) {
        return error instanceof Error && error.name === 'Invalid';
      }
      return JSON.stringify(parsePattern(formatPattern(read))) === JSON.stringify(read);
    }),
    { numRuns: 5000 },
  );
});
