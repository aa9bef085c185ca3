import t from 'tap';
import { shownJson, shownText } from '../../src/tools/media-text.ts';
import type { Json } from '../../src/tools/tool.ts';

const shown = (result: Json) => (typeof result === 'string' ? shownText(result) : shownJson(result));

/** The head of an image without valid image data after it. */
const head = Buffer.from('89504e470d0a1a0a0000000d49484452000002000000018008060000', 'hex');
const PNG = Buffer.concat([head, Buffer.alloc(150_000 - head.length)]).toString('base64');
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(96)]).toString('base64');
const OTHER = 'A'.repeat(4000);

t.test('extracts images from the text of a result at any position', async (t) => {
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
    const { text, files } = shown(result);
    t.ok(text.length < 500, text.slice(0, 500));
    t.match(text, /\[image image\/png, 512x384, 146 KB\]/);
    t.strictSame(files, [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }]);
  }
});

t.test('describes files of other types, and keeps them for models that accept them', async (t) => {
  for (const [mimeType, expected, type] of [
    ['audio/wav', '[audio sound.wav, audio/wav, 3 KB]', 'audio'],
    ['application/pdf', '[file sound.wav, application/pdf, 3 KB]', 'document'],
    ['image/svg+xml', '[image sound.wav, image/svg+xml, 3 KB]', 'image'],
  ] as const) {
    const { text, files } = shown({ content: [{ type: 'x', data: OTHER, mimeType, name: 'sound.wav' }] });
    t.ok(text.includes(expected), text);
    const source = { type: 'base64', media_type: mimeType, data: OTHER };
    t.strictSame(files, [{ type, source, title: 'sound.wav' }]);
  }
});

t.test('reads the type of an image from its bytes', async (t) => {
  const { files } = shown({ data: JPEG, mimeType: 'image/png' });
  t.match(files, [{ source: { media_type: 'image/jpeg' } }]);
  t.match(shown({ type: 'image', data: JPEG }).files, [{ source: { media_type: 'image/jpeg' } }]);
});

t.test('keeps a repeated file once, and no more files than fit', async (t) => {
  t.equal(
    shown({ a: { data: PNG, mimeType: 'image/png' }, b: { data: PNG, mimeType: 'image/png' } }).files.length,
    1,
  );
  const large = Buffer.alloc(4_000_000).toString('base64');
  const { text, files } = shown({ data: large, mimeType: 'video/mp4' });
  t.match([text, files], ['{"data":"[video video/mp4, 3.8 MB]","mimeType":"video/mp4"}', []]);
  const many = Array.from({ length: 20 }, (_, index) => ({
    data: Buffer.alloc(60, index).toString('base64'),
    mimeType: 'audio/wav',
  }));
  t.equal(shown(many).files.length, 16);
  const half = (byte: number) => ({
    data: Buffer.alloc(3_500_000, byte).toString('base64'),
    mimeType: 'audio/wav',
  });
  t.equal(shown([half(1), half(2), half(3)]).files.length, 2);
});

t.test('leaves everything else unchanged', async (t) => {
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

t.test('describes files of any size', async (t) => {
  const data = Buffer.alloc(48 * 1024 * 1024, 7).toString('base64');
  t.strictSame(
    shown({ data, mimeType: 'video/mp4' }).text,
    '{"data":"[video video/mp4, 48.0 MB]","mimeType":"video/mp4"}',
  );
  t.equal(
    shown(`before data:video/mp4;base64,${data} behind`).text,
    'before [video video/mp4, 48.0 MB] behind',
  );
});
