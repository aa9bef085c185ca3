import t from 'tap';
import { shownJson, shownText } from '../../src/tools/media-text.ts';
import type { Json } from '../../src/tools/tool.ts';

const shown = (result: Json) => (typeof result === 'string' ? shownText(result) : shownJson(result));

const PNG = `iVBORw0KGgo${'A'.repeat(200_000)}`;
const OTHER = 'A'.repeat(4000);

t.test('takes pictures out of the text of a result, wherever they stand', async (t) => {
  const results: Json[] = [
    {
      content: [
        { type: 'text', text: 'taken' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ],
    },
    { content: [{ type: 'resource', resource: { uri: 'x:1', blob: PNG, mimeType: 'image/png' } }] },
    {
      output: {
        artifacts: [{ content: [{ raw: PNG, mediaType: 'image/png' }] }],
        raw: { parts: [{ raw: PNG, mediaType: 'image/png' }] },
      },
    },
    { source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { screenshot: `data:image/png;base64,${PNG}` },
    `look: data:image/png;base64,${PNG} there`,
  ];
  for (const result of results) {
    const { text, pictures } = shown(result);
    t.ok(text.length < 500, text.slice(0, 500));
    t.match(text, /\[picture 1: image\/png, 146 KB\]/);
    t.strictSame(pictures, [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    ]);
  }
});

t.test('names other files, and pictures that no model takes', async (t) => {
  for (const [type, data] of [
    ['audio/wav', OTHER],
    ['application/pdf', OTHER],
    ['image/png', OTHER],
    ['image/png', `iVBORw0KGgo${'A'.repeat(6_000_000)}`],
  ] as const) {
    const { text, pictures } = shown({ content: [{ type: 'x', data, mimeType: type }] });
    t.match(text, new RegExp(`\\[a file of type ${type} and \\d+ KB was left out\\]`));
    t.strictSame(pictures, []);
  }
});

t.test('leaves everything else as it is', async (t) => {
  const results: Json[] = [
    { data: 'short', mimeType: 'image/png' },
    { data: OTHER },
    [1, null, 'x'],
    'plain',
  ];
  for (const result of results) {
    const { text } = shown(result);
    t.equal(text, typeof result === 'string' ? result : JSON.stringify(result));
  }
});
