import t from 'tap';
import { partsOf } from '../../src/a2a/parts.ts';
import { guessMediaType } from '../../src/schema/media.ts';
import type { ContentBlock } from '../../src/schema/message.ts';

/** a2a.md 8.2. */

const rows: [name: string, block: ContentBlock, parts: object[]][] = [
  ['text', { type: 'text', text: 'Hello' }, [{ text: 'Hello' }]],
  ['an empty text', { type: 'text', text: '' }, [{ text: '' }]],
  [
    'data',
    { type: 'text', text: '{"a":1}', media_type: 'application/json' },
    [{ data: { a: 1 }, mediaType: 'application/json' }],
  ],
  [
    'data that is no longer valid JSON',
    { type: 'text', text: '{"a":', media_type: 'application/json' },
    [{ text: '{"a":' }],
  ],
  [
    'data with an integer that a number cannot represent',
    { type: 'text', text: '{"id":1234567890123456789}', media_type: 'application/json' },
    [{ text: '{"id":1234567890123456789}' }],
  ],
  [
    'an external picture',
    { type: 'image', source: { type: 'url', url: 'https://a.example/x.PNG?y=1.gif' } },
    [{ url: 'https://a.example/x.PNG?y=1.gif', mediaType: 'image/png' }],
  ],
  [
    'a document with a title',
    { type: 'document', title: 'a.bin', source: { type: 'url', url: 'https://a.example/x' } },
    [{ url: 'https://a.example/x', mediaType: 'application/octet-stream', filename: 'a.bin' }],
  ],
  [
    'sound',
    { type: 'audio', source: { type: 'base64', media_type: 'audio/wav', data: 'UklG' } },
    [{ raw: 'UklG', mediaType: 'audio/wav' }],
  ],
  [
    'a video with a title',
    { type: 'video', title: 'v', source: { type: 'base64', media_type: 'video/mp4', data: 'AAAA' } },
    [{ raw: 'AAAA', mediaType: 'video/mp4', filename: 'v' }],
  ],
  [
    'an external picture with its type',
    { type: 'image', source: { type: 'url', url: 'https://a.example/x', media_type: 'image/avif' } },
    [{ url: 'https://a.example/x', mediaType: 'image/avif' }],
  ],
  [
    'text with its original part fields',
    {
      type: 'text',
      text: '# a',
      part: { media_type: 'text/markdown', filename: 'a.md', metadata: { k: 1 } },
    },
    [{ text: '# a', mediaType: 'text/markdown', filename: 'a.md', metadata: { k: 1 } }],
  ],
  [
    'data with a name',
    { type: 'text', text: '[]', media_type: 'application/json', part: { filename: 'a.json' } },
    [{ data: [], mediaType: 'application/json', filename: 'a.json' }],
  ],
  [
    'a file with metadata',
    {
      type: 'document',
      title: 'b',
      source: { type: 'base64', media_type: 'text/csv', data: 'YQ==' },
      part: { metadata: { page: 2 } },
    },
    [{ raw: 'YQ==', mediaType: 'text/csv', filename: 'b', metadata: { page: 2 } }],
  ],
  ['thinking', { type: 'thinking', thinking: 'hm' }, []],
  ['a tool call', { type: 'tool_use', id: 'c', name: 'n', input: {} }, []],
  ['a tool result', { type: 'tool_result', tool_use_id: 'c', content: [] }, []],
];
for (const [name, block, parts] of rows) {
  t.test(`${name} becomes ${parts.length > 0 ? JSON.stringify(parts) : 'no part'}`, async (t) => {
    t.strictSame(partsOf([block]), parts);
  });
}

t.test('keeps the order of blocks', async (t) => {
  const content: ContentBlock[] = [
    { type: 'text', text: 'a' },
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'b' },
  ];
  t.strictSame(partsOf(content), [{ text: 'a' }, { text: 'b' }]);
});

t.test('derives the media type from the suffix of a path', async (t) => {
  const types = ['a.jpeg', 'a.mp3#t=1', '/x.y/readme.md', 'constructor', 'a.constructor', ''].map(
    guessMediaType,
  );
  const unknown = 'application/octet-stream';
  t.strictSame(types, ['image/jpeg', 'audio/mpeg', 'text/plain', unknown, unknown, unknown]);
});
