import type { UIMessage } from 'ai';
import fc from 'fast-check';
import t from 'tap';
import { actionOf, problemsIn } from '../../src/console/assistant-chat/actions.ts';
import { MOST_BYTES, refusalOf, sizeText, typeOf } from '../../src/console/chat/attachments.ts';
import { blocksOf, textOf, transcriptOf } from '../../src/console/chat/blocks.ts';
import { callState, callsIn, isOfProvider } from '../../src/console/chat/call.ts';
import { type CallTimes, timed, timeOf } from '../../src/console/chat/call-times.ts';
import { type Growing, grow, NOTHING } from '../../src/console/chat/markdown/growing.ts';
import { LONGEST_INLINE, lex, safeHref, safeImage } from '../../src/console/chat/markdown/lex.ts';
import { withoutFiles } from '../../src/console/chat/output-files.ts';
import { statsOf, turnOf } from '../../src/console/chat/turn.ts';
import { redactText } from '../../src/console/data/redact-text.ts';
import { blockedBy, isScripted, modelsBehind, previewAgent } from '../../src/console/sandbox/preview.ts';
import { rowsOf } from '../../src/console/thread-messages/conversation.ts';

/** Parsing and state of conversations, independent of the agent. */

const tokensIn = (text: string) => lex(text).map(({ token }) => token);
const kindsIn = (text: string): string[] => tokensIn(text).map(({ type }) => type);
const inlineIn = (text: string): object[] => Object(tokensIn(text)[0]).tokens;

t.test('parses Markdown into tokens, including incomplete input', async (t) => {
  t.strictSame(
    kindsIn('# A\n\ntext\n- a\n- b\n\n> q\n\n---\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n```ts\nx\n```'),
    ['heading', 'paragraph', 'list', 'blockquote', 'hr', 'table', 'code'],
  );
  t.match(tokensIn('| a | b |\n|:-:|--:|\n| 1 | 2 |'), [{ align: ['center', 'right'] }]);
  t.match(tokensIn('```js\nconst a = 1;'), [{ type: 'code', lang: 'js', text: 'const a = 1;' }]);
  t.match(tokensIn('3. a\n\n   more of a\n4. [x] b'), [
    { type: 'list', start: 3, items: [{ task: false }, { task: true, checked: true }] },
  ]);
  t.match(inlineIn('a **b _c_** `d*` get_the_weather ~~e~~'), [
    { type: 'text', text: 'a ' },
    { type: 'strong', tokens: [{ text: 'b ' }, { type: 'em' }] },
    { text: ' ' },
    { type: 'codespan', text: 'd*' },
    { type: 'text', text: ' get_the_weather ' },
    { type: 'del' },
  ]);
});

t.test('reduces untrusted Markdown to text, safe links and embedded images', async (t) => {
  for (const href of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '//x', ' https://x'])
    t.equal(safeHref(href), undefined, href);
  t.equal(safeHref('https://x.example/a'), 'https://x.example/a');
  for (const href of ['https://x.example/p.png', 'data:text/html;base64,eA==', 'data:image/png,x'])
    t.equal(safeImage(href), undefined, href);
  t.equal(safeImage('data:image/png;base64,eA=='), 'data:image/png;base64,eA==');
  for (const html of ['<script>alert(1)</script>', '<div>\n\nx\n</div>', 'a <b onclick="x">b</b>'])
    t.notMatch(JSON.stringify(tokensIn(html)), /"type":"html"/, html);
  t.match(inlineIn('see https://x.example/a).'), [
    { text: 'see ' },
    { type: 'link', href: 'https://x.example/a' },
    { text: ').' },
  ]);
  t.strictSame(kindsIn('[a]: https://x.example'), ['paragraph'], 'there are no reference definitions');
});

/** With inputs of this length, quadratic steps would take hours. */
const LETTERS = 300_000;

t.test('parses hostile Markdown in linear time', async (t) => {
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
    '- a\n',
    '- - a\n',
    '***a',
    '__a',
    'a|b\n-|-\n',
    '\n',
  ];
  for (const mark of hostile) {
    const text = mark.repeat(LETTERS / mark.length);
    t.ok(lex(text).length >= 0, JSON.stringify(mark));
  }
  t.match(tokensIn(`- a${'\n'.repeat(LETTERS)}  b`), [{ type: 'list', items: { length: 1 } }]);
  const bold = (letters: number): object[] => inlineIn(`**${'x'.repeat(letters)}**`);
  t.match(bold(LONGEST_INLINE - 4), [{ type: 'strong' }]);
  t.match(bold(LONGEST_INLINE), [{ type: 'text' }]);
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

t.test('equals the parse and the mask of the whole text after each appended piece', async (t) => {
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
          const whole = tokensIn(redactText(soFar.replaceAll(/\r\n?/g, '\n')));
          if (JSON.stringify(growing.tokens) !== JSON.stringify(whole)) {
            t.strictSame(growing.tokens, whole, JSON.stringify(soFar));
            return false;
          }
        }
        return true;
      },
    ),
    { numRuns: 1500 },
  );
});

t.test('reparses only the last blocks when text is appended', async (t) => {
  const long = Array.from({ length: 400 }, (_, place) => `Paragraph ${place} of **many**.\n\n`).join('');
  const before = grow(NOTHING, long);
  t.ok(before.text.length - before.from < 100, 'all but the last blocks are settled');
  const after = grow(before, `${long}And more`);
  t.equal(after.tokens.length, 401);
  t.equal(after.tokens[397], before.tokens[397], 'settled tokens are reused');
  t.not(grow(before, 'Another').tokens[0], before.tokens[0]);
  t.match(grow(before, 'Another').tokens, { length: 1 });
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

t.test('groups consecutive calls of one tool and separates steps', async (t) => {
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

t.test('allows a decision on a call only in the last message', async (t) => {
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
  const shown = callsIn(message([{ ...asks, ...ofService }])).flatMap((part) =>
    (['open', 'ended', 'inference'] as const).map((place) => callState(part, place)),
  );
  t.strictSame(shown, ['open', 'missing', 'requested']);
  const responded = { state: 'approval-responded', approval: { id: 'a', approved: true } };
  t.strictSame(states(responded), ['approved', 'approved', 'approved']);
});

t.test('sums the durations of a turn and the costs that the service reports', async (t) => {
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

t.test('accepts or rejects added files together by number, size and type', async (t) => {
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
  t.equal(sizeText(1), '1 B');
  t.equal(sizeText(1024), '1 KB');
  t.equal(sizeText(3 * 1024 * 1024), '3.0 MB');
});

t.test('shows the files of an output instead of their base64, each once', async (t) => {
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const content = [
    { type: 'text', text: 'It rains' },
    { type: 'image', mimeType: 'image/png', data },
    { type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data } },
  ];
  const { shown, files } = withoutFiles({ data: content, metadata: { 'mcp.result.content': content } });
  t.strictSame(
    files.map(({ mediaType, url }) => [mediaType, url]),
    ['image/png', 'application/pdf'].map((type) => [type, `data:${type};base64,${data}`]),
  );
  t.notMatch(JSON.stringify(shown), /iVBOR/);
  t.match(shown, { data: [{ text: 'It rains' }, { data: 'image/png' }] });
  const plain = { temperature: 20, image: 'none' };
  t.equal(withoutFiles(plain).shown, plain);
});

t.test('previews a draft unless it is remote or has no model', async (t) => {
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

t.test('derives the actions of the assistant from results of its tools', async (t) => {
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

t.test('separates the time that a call waited from the time that its tool ran', async (t) => {
  const asks = { type: 'tool-look', toolCallId: '1', input: {} };
  const approval = { id: 'a', approved: true };
  let times: CallTimes = new Map();
  const look = (now: number, more: object, isBusy = true): void => {
    times = timed(times, [message([{ ...asks, ...more }])], isBusy, now);
  };
  look(0, { state: 'input-available' });
  look(10, { state: 'approval-requested', approval: { id: 'a' } });
  const asked = times;
  look(500, { state: 'approval-requested', approval: { id: 'a' } });
  t.equal(times, asked, 'nothing has changed');
  look(2010, { state: 'approval-responded', approval });
  look(2017, { state: 'output-available', output: 1 }, false);
  const known = times.get('1');
  t.strictSame(known && timeOf(known), { waited: 2000, ran: 17 });
  const ended = timed(new Map(), [message([{ ...asks, state: 'output-available' }])], true, 9);
  t.equal(ended.size, 0, 'a call that had ended before has no time');
});

const text = (said: string) => [{ type: 'text', text: said }];

t.test('shows stored messages like an open chat, with each result in its call', async (t) => {
  const rows = rowsOf([
    { role: 'user', content: text('Hi'), seq: 1 },
    {
      role: 'assistant',
      content: text('Looking'),
      metadata: { reasoning: 'Hm' },
      tool_calls: [
        { id: 'c1', name: 'look', arguments: { at: 1 } },
        { id: 'c2', name: 'ask', arguments: {} },
      ],
      seq: 2,
    },
    { role: 'tool', content: text("Tool 'ask' suspended: awaiting decision"), tool_call_id: 'c2', seq: 3 },
    { role: 'tool', content: text('{"found":true}'), tool_call_id: 'c1', seq: 4 },
    { role: 'tool', content: text('of an earlier page'), tool_call_id: 'c0', seq: 5 },
    { role: 'assistant', content: [], tool_calls: [{ id: 'c1', name: 'look', arguments: {} }], seq: 6 },
    { role: 'tool', content: text('twice'), tool_call_id: 'c1', seq: 7 },
  ]);
  t.match(
    rows.map(({ said, message: { role, parts } }) => [said.seq, role, parts]),
    [
      [1, 'user', [{ type: 'text', text: 'Hi' }]],
      [
        2,
        'assistant',
        [
          { type: 'reasoning', text: 'Hm' },
          { type: 'text', text: 'Looking' },
          { toolName: 'look', input: { at: 1 }, state: 'output-available', output: { found: true } },
          { toolName: 'ask', state: 'input-available' },
        ],
      ],
      [5, 'assistant', [{ type: 'data-block', data: 'of an earlier page' }]],
      [6, 'assistant', [{ toolName: 'look', output: 'twice' }]],
    ],
  );
  t.equal(rows.length, 4);
});

t.test('shows each block of a stored message, and an unknown one as JSON', async (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: 'eA==' };
  const [row] = rowsOf([
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'image', source, title: 'cat.png' },
        { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
        { type: 'provider_call', id: 'p', tool: 'web_search', status: 'completed', output: { hits: 1 } },
        { type: 'source_url', id: 's', url: 'https://x.example', title: 'X' },
        { type: 'of_tomorrow', value: 1 },
      ],
    },
  ]);
  t.match(row?.message.parts, [
    { type: 'reasoning', text: 'Hm' },
    { type: 'file', url: 'data:image/png;base64,eA==', filename: 'cat.png' },
    { type: 'file', mediaType: 'image/*', url: 'https://x.example/a.png' },
    { toolName: 'web_search', state: 'output-available', output: { hits: 1 } },
    { type: 'source-url', url: 'https://x.example', title: 'X' },
    { type: 'data-block', data: { type: 'of_tomorrow', value: 1 } },
  ]);
  t.equal(row && callsIn(row.message).some(isOfProvider), true);
});
