import t from 'tap';
import { adviceFor, verdict } from '../../.build/prose-rules.ts';
import { proseInCode, proseInMarkdown } from '../../.build/prose-texts.ts';

/** The check of the language of comments, test names, descriptions, log messages and documents. */

const textsIn = (file: string, source: string): string[] => proseInCode(file, source).map(({ text }) => text);

t.test('finds comments at every token with the line where they begin', async (t) => {
  const source = [
    '/**',
    ' * Opens the',
    ' * store.',
    ' */',
    'const a = [1, /* inside */ 2]; // behind',
    'function f() {',
    '  return a;',
    '  // before a brace',
    '}',
    '// at the end',
  ].join('\n');
  t.strictSame(proseInCode('src/a.ts', source), [
    { line: 1, text: 'Opens the store.' },
    { line: 5, text: 'inside' },
    { line: 5, text: 'behind' },
    { line: 8, text: 'before a brace' },
    { line: 10, text: 'at the end' },
  ]);
});

t.test('finds descriptions, help, log messages and error messages of the program', async (t) => {
  const source = `
    const route = { summary: 'a summary', description: \`of \${count} parts\`, name: 'a name' };
    new Command('x').description('a command').option('--flag', 'an option' + ' in two literals');
    z.string().describe('a field');
    const EVENTS = { 'a.b': { level: 'warn', message: 'a message' } };
    log.warn('a.b', { err });
    throw new Invalid('an error', cause);
  `;
  t.strictSame(textsIn('src/a.ts', source).sort(), [
    'a command',
    'a field',
    'a message',
    'a summary',
    'an error',
    'an option in two literals',
    'of … parts',
    'x',
  ]);
});

t.test('finds names and assertion messages of tests, and ignores test data', async (t) => {
  const source = `
    t.test('retries a request', async () => {});
    t.test(\`rejects \${name}\`, async () => {});
    t.equal(status, 200, 'the run is done');
    t.throws(() => read('a'), { message: 'test data' });
    other.equal(status, 200, 'test data');
    const agent = { description: 'test data' };
    const event = { message: 'test data' };
  `;
  t.strictSame(textsIn('test/a.test.ts', source), ['retries a request', 'rejects …', 'the run is done']);
});

t.test('ignores text between tags and in strings', async (t) => {
  const source = "const page = <p>https://example.com // no comment</p>; const text = '// none';";
  t.strictSame(textsIn('src/a.tsx', source), []);
});

t.test(
  'finds paragraphs, list items and cells of Markdown, without code, comments and quotations',
  async (t) => {
    const source = [
      '# A heading',
      'A paragraph',
      'of two lines.',
      '```ts',
      'tell(nobody);',
      '```',
      '<!-- a',
      'comment -->',
      '> a quotation',
      '- an item',
      '- another item',
      '| Name | Meaning |',
      '|---|:---:|',
      '| `a \\| b` | a cell |',
    ].join('\n');
    t.strictSame(proseInMarkdown(source), [
      { line: 1, text: 'A heading' },
      { line: 2, text: 'A paragraph of two lines.' },
      { line: 10, text: 'an item' },
      { line: 11, text: 'another item' },
      { line: 12, text: 'Name' },
      { line: 12, text: 'Meaning' },
      { line: 14, text: '`a \\| b`' },
      { line: 14, text: 'a cell' },
    ]);
  },
);

t.test('advises on each construction', async (t) => {
  const cases: [text: string, advice: string][] = [
    ['the store tells its readers', 'report'],
    ['a listener that hears everything', 'receive'],
    ['the run goes on after a restart', 'continue'],
    ['a run that was taken up', 'continue'],
    ['whoever reads the log', 'the actor'],
    ['Closes it. Who reads on gets an error', 'the actor'],
    ['What is queued is lost', 'a noun'],
    ['The queue is full. What waits is dropped', 'a noun'],
    ['Of the thread that waits', 'a subject'],
    ['is read anew', 'again'],
    ['readers beside the writer', 'again'],
    ['lets go of the thread', 'release'],
    ['after it was given up', 'abandoned'],
    ['a thread at rest', 'inactive'],
    ['a process of its own', 'separate'],
    ['it reconnects by itself', 'automatically'],
    ['its agent is gone', 'deleted'],
    ['the runs are lined up', 'waiting for'],
    ['a turn of the loop', 'event-loop tick'],
    ['processor time of a run', 'CPU time'],
    ['meanwhile it was closed', 'the moment'],
    ['is not read any more', 'no longer'],
    ['is durable all the same', 'nevertheless'],
    ['a stream that breaks off', 'is interrupted'],
    ['the text is taken back', 'retracted'],
    ['an id is there twice', 'occurs'],
    ['the colour of a state', 'American spelling'],
    ['summarises the history', 'American spelling'],
  ];
  for (const [text, advice] of cases) t.match(adviceFor(text), [new RegExp(`^${advice}`)], text);
});

t.test('requires a subject in messages of assertions only', async (t) => {
  const messages = ['it is over', 'also after a restart', 'and not again', 'one that is new is read'];
  for (const message of messages) {
    t.match(adviceFor(message, true), [/^a subject/], message);
    t.strictSame(adviceFor(message), [], message);
  }
  t.strictSame(adviceFor('the run has ended', true), []);
});

t.test('accepts idiomatic sentences, code and citations', async (t) => {
  const sentences = [
    'Reports the failure to the caller.',
    'What it does',
    'The loop takes up to three times as long.',
    'Calls `tell` of the connection.',
    'Sends the text "nobody is there" to the client.',
    'Responds with 410 Gone.',
    'Returns the position of the first event.',
    'A write waits for a connection and raises an error otherwise.',
    'Authorizes a request, and labels its colors.',
  ];
  for (const sentence of sentences) t.strictSame(adviceFor(sentence), [], sentence);
});

t.test('fails on a finding, and on paths without a file', async (t) => {
  t.equal(verdict(2, 0), undefined);
  t.match(verdict(2, 1), /style\.md: 1$/);
  t.match(verdict(0, 0), /^no file to check/);
});
