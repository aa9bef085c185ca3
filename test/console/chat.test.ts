import type { UIMessage } from 'ai';
import fc from 'fast-check';
import t from 'tap';
import { actionOf, problemsIn } from '../../src/console/assistant/actions.ts';
import { MOST_BYTES, refusalOf, sizeText, typeOf } from '../../src/console/chat/attachments.ts';
import { blocksOf, textOf, transcriptOf } from '../../src/console/chat/blocks.ts';
import { callState, callsIn, isOfProvider } from '../../src/console/chat/call.ts';
import { type Growing, grow, NOTHING } from '../../src/console/chat/markdown/growing.ts';
import { parseInline, safeHref } from '../../src/console/chat/markdown/inline.ts';
import { parseMarkdown } from '../../src/console/chat/markdown/parse.ts';
import { statsOf, turnOf } from '../../src/console/chat/turn.ts';
import { redactText } from '../../src/console/data/redact-text.ts';
import { blockedBy, isScripted, modelsBehind, previewAgent } from '../../src/console/sandbox/preview.ts';

/** What conversations work out of what is said in them, whoever says it. */

const nodesIn = (text: string) => parseMarkdown(text).map(({ node }) => node);
const kindsIn = (text: string): string[] => nodesIn(text).map(({ kind }) => kind);

t.test('Markdown becomes a tree, also where it is not finished', async (t) => {
  t.strictSame(
    kindsIn('# A\n\ntext\n- a\n- b\n\n> q\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nx\n```'),
    ['heading', 'paragraph', 'list', 'quote', 'rule', 'table', 'code'],
  );
  t.match(nodesIn('```js\nconst a = 1;'), [{ kind: 'code', language: 'js', text: 'const a = 1;' }]);
  t.match(nodesIn('1. a\n\n   more of a\n2. [x] b'), [
    {
      kind: 'list',
      start: 1,
      items: [
        { checked: undefined, children: [{ kind: 'paragraph' }, { kind: 'paragraph' }] },
        { checked: true },
      ],
    },
  ]);
  t.match(parseInline('a **b _c_** `d*` get_the_weather ~~e~~'), [
    { kind: 'text', text: 'a ' },
    { kind: 'strong', children: [{ kind: 'text', text: 'b ' }, { kind: 'em' }] },
    { kind: 'text', text: ' ' },
    { kind: 'code', text: 'd*' },
    { kind: 'text', text: ' get_the_weather ' },
    { kind: 'strike' },
  ]);
});

t.test('nothing of a stranger becomes more than text and links to the web', async (t) => {
  for (const href of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '//x', ' https://x'])
    t.equal(safeHref(href), undefined, href);
  t.match(parseInline('[click](javascript:alert(1))'), [{ kind: 'text' }]);
  t.match(parseInline('![pixel](https://x.example/p.png)'), [
    { kind: 'link', href: 'https://x.example/p.png' },
  ]);
  t.match(parseInline('<script>alert(1)</script>'), [{ kind: 'text', text: '<script>alert(1)</script>' }]);
  t.match(parseInline('see https://x.example/a).'), [
    { kind: 'text', text: 'see ' },
    { kind: 'link', href: 'https://x.example/a' },
    { kind: 'text', text: ').' },
  ]);
});

/** Steps that grow with the square of these would take hours. */
const LETTERS = 300_000;

t.test('however many marks a text has, it costs what its length does', async (t) => {
  const hostile = [
    '[',
    '![',
    '*',
    '**a ',
    '_a ',
    '`',
    '~~a',
    '<http:',
    '> ',
    '- ',
    '1. ',
    '|',
    '\\',
    '- a\n\n\n',
    '\n',
  ];
  for (const mark of hostile) {
    const text = mark.repeat(LETTERS / mark.length);
    t.ok(parseMarkdown(text).length >= 0, JSON.stringify(mark));
  }
  t.match(nodesIn(`- a${'\n'.repeat(LETTERS)}  b`), [{ kind: 'list', items: [{ children: { length: 2 } }] }]);
  t.match(nodesIn(`**${'long '.repeat(1000)}**`), [{ kind: 'paragraph' }]);
});

const LINES = [
  'text that goes on',
  '- one',
  '- two',
  '  deeper',
  '1. first',
  '2',
  '2. second',
  '> said',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '```ts',
  '```',
  '# Title',
  '---',
  '*',
  '**bold**',
  'password =',
  'password = "of',
  'two lines"',
  'Authorization:',
  'Bearer',
  'abcdefgh12345678',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '',
  '\t',
];

t.test('a text that grows is at each moment what it would be as a whole, masks and all', async (t) => {
  const lines = fc.array(fc.constantFrom(...LINES), { maxLength: 14 });
  const ends = fc.constantFrom('\n', '\r\n');
  fc.assert(
    fc.property(
      lines,
      ends,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (said, end, sizes) => {
        const text = said.join(end);
        let growing: Growing = NOTHING;
        for (let at = 0, piece = 0; at < text.length; piece += 1) {
          at += sizes[piece % sizes.length] ?? 1;
          const soFar = text.slice(0, at);
          growing = grow(growing, soFar);
          const whole = nodesIn(redactText(soFar));
          if (JSON.stringify(growing.nodes) !== JSON.stringify(whole)) {
            t.strictSame(growing.nodes, whole, JSON.stringify(soFar));
            return false;
          }
        }
        return true;
      },
    ),
    { numRuns: 1500 },
  );
});

t.test('a piece of a long answer costs what its last blocks do', async (t) => {
  const long = Array.from({ length: 400 }, (_, place) => `Paragraph ${place} of **many**.\n\n`).join('');
  const before = grow(NOTHING, long);
  t.ok(before.text.length - before.from < 100, 'all but the last blocks are settled');
  const after = grow(before, `${long}And more`);
  t.equal(after.nodes.length, 401);
  t.equal(after.nodes[397], before.nodes[397], 'the nodes before the last two are the same ones');
  t.not(grow(before, 'Another').nodes[0], before.nodes[0]);
  t.match(grow(before, 'Another').nodes, { length: 1 });
});

const message = (parts: object[]): UIMessage => ({
  id: '1',
  role: 'assistant',
  parts: parts as UIMessage['parts'],
});
const call = (id: string, more: object = {}) => ({
  type: 'tool-look',
  toolCallId: id,
  state: 'output-available',
  input: {},
  output: {},
  ...more,
});

t.test('calls of one tool in a row are one block, and steps begin with a line', async (t) => {
  const parts = [
    { type: 'step-start' },
    { type: 'text', text: 'Looking' },
    call('1'),
    { type: 'step-start' },
    call('2'),
    { type: 'text', text: '' },
    { type: 'reasoning', text: 'Hm', state: 'streaming' },
    { type: 'step-start' },
    { type: 'text', text: 'Found' },
    { type: 'data-of-tomorrow', data: 1 },
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,' },
  ];
  t.strictSame(
    blocksOf(message(parts)).map(({ kind }) => kind),
    ['text', 'calls', 'reasoning', 'step', 'text', 'file'],
  );
  t.match(blocksOf(message(parts))[1], { calls: { length: 2 } });
  t.equal(textOf(message(parts)), 'Looking\n\nFound');
  t.match(transcriptOf([message(parts)]), /assistant:\nLooking\n\[look × 2\]\nFound\n\[image\/png\]/);
});

t.test('a call is decided in the last message, or not at all', async (t) => {
  const asks = { type: 'tool-look', toolCallId: '1', input: {} };
  const states = (more: object) =>
    callsIn(message([{ ...asks, ...more }])).flatMap((part) =>
      (['written', 'last', 'earlier'] as const).map((place) => callState(part, place)),
    );
  const requested = { state: 'approval-requested', approval: { id: 'a' } };
  t.strictSame(states(requested), ['approval', 'approval', 'superseded']);
  t.strictSame(states({ state: 'input-available' }), ['calling', 'answer', 'superseded']);
  const ofService = { state: 'input-available', providerExecuted: true };
  t.strictSame(states(ofService), ['calling', 'stopped', 'stopped']);
  const responded = { state: 'approval-responded', approval: { id: 'a', approved: true } };
  t.strictSame(states(responded), ['approved', 'approved', 'approved']);
});

t.test('adds up what a turn took and the costs that the service reports', async (t) => {
  const data = (type: string, of: object) => ({ type, data: of });
  const told = message([
    data('data-run-info', { runId: 'r1', threadId: 't' }),
    data('data-run-info', { runId: 'r1' }),
    data('data-inference-complete', {
      model: 'm',
      durationMs: 5,
      costUsd: 0.5,
      usage: { prompt_tokens: 10, completion_tokens: 2 },
    }),
    data('data-inference-complete', { durationMs: 'long', usage: null }),
    data('data-run-info', null as unknown as object),
    call('1'),
  ]);
  t.match(turnOf(told), {
    runIds: ['r1'],
    threadId: 't',
    model: 'm',
    inferences: 2,
    durationMs: 5,
    inputTokens: 10,
    costUsd: 0.5,
  });
  const free = message([data('data-inference-complete', { model: 'm', durationMs: 1, usage: null })]);
  t.equal(turnOf(free).costUsd, undefined);
  t.equal(statsOf([free]).costUsd, undefined);
  t.match(statsOf([told, free, told]), {
    messages: 3,
    calls: 2,
    inputTokens: 20,
    costUsd: 1,
  });
});

t.test('files are taken all or none: how many, how large, of which kind', async (t) => {
  const file = (name: string, size: number, type = 'image/png') => ({ name, size, type });
  t.equal(refusalOf([file('a', MOST_BYTES)], []), undefined);
  t.match(refusalOf([file('a', 9 * 1024 * 1024)], []), { reason: 'large' });
  t.match(refusalOf([file('a', 1)], [{ bytes: MOST_BYTES }]), { reason: 'large' });
  t.match(refusalOf(Array(5).fill(file('a', 1)), []), { reason: 'many' });
  t.match(refusalOf([file('a', 1), file('b.exe', 1, 'application/x-msdownload')], []), {
    reason: 'type',
    name: 'b.exe',
  });
  t.equal(typeOf({ name: 'NOTES.MD', type: '' }), 'text/markdown');
  t.equal(typeOf({ name: 'x', type: 'Text/Plain; charset=utf-8' }), 'text/plain');
  t.equal(sizeText(1), '1 KB');
  t.equal(sizeText(3 * 1024 * 1024), '3.0 MB');
});

t.test('a draft is tried as it is, where it can be', async (t) => {
  const draft = {
    id: 'a',
    backend: { kind: 'local', config: { model_id: 'm' } },
    endpoint: null,
    system_prompt: 'x',
  };
  t.strictSame(previewAgent(draft), { id: 'a', system_prompt: 'x', model_id: 'm' });
  t.equal(blockedBy(draft, 'local'), undefined);
  t.equal(blockedBy({ id: 'a', backend: { kind: 'a2a' } }, 'local'), 'remote');
  t.equal(blockedBy({ id: 'a', model_id: ' ' }, 'local'), 'noModel');
  const models = ['m', 'n'].map((id) => ({ id, provider_id: 'p' }));
  const pool = { id: 'both', members: [{ model_id: 'm' }, { model_id: 'n' }] };
  t.equal(modelsBehind('both', models, [pool]).length, 2);
  t.equal(isScripted(models, [{ id: 'p', adapter: 'scripted' }]), true);
  t.equal(isScripted([], []), false);
});

t.test('what the assistant has done is told from the results of its tools', async (t) => {
  const result = (tool: string, output: unknown) =>
    actionOf({
      type: `tool-${tool}`,
      toolCallId: '1',
      state: 'output-available',
      input: {},
      output,
    } as never);
  t.match(
    result('admin_create_agent_draft', {
      draft: { id: 'a' },
      errors: ["invalid payload: missing model; unknown tool 'x'"],
    }),
    {
      kind: 'draft',
      spec: { id: 'a' },
      problems: [{ tab: 'basics' }, { tab: 'tools' }],
    },
  );
  t.match(result('admin_create_agent', { ok: true, agent: { id: 'a' } }), { kind: 'published', id: 'a' });
  t.match(result('admin_create_agent', { ok: false, errors: [7, 'no'] }), {
    kind: 'refused',
    problems: [{ tab: 'advanced' }],
  });
  t.equal(result('of_tomorrow', {}), undefined);
  t.equal(result('admin_create_agent', 'text'), undefined);
  t.strictSame(problemsIn('none'), []);
});

t.test('marks a call that the model provider executes, and does not wait for the user', async (t) => {
  const part = {
    type: 'tool-web_search' as const,
    toolCallId: 'p1',
    state: 'input-available' as const,
    input: {},
    providerExecuted: true,
  };
  const marked = { ...part, callProviderMetadata: { troupe: { executedBy: 'provider' } } };
  t.equal(isOfProvider(marked), true);
  t.equal(isOfProvider(part), false);
  t.equal(callState(marked, 'last'), 'stopped');
});
