import t from 'tap';
import {
  type AnswerPart,
  activityOfBlock,
  blockOfActivity,
  blockOfPart,
  blocksOfParts,
  describePart,
  findExcess,
  LARGEST_PART,
  MOST_PARTS,
  type PartBlock,
} from '../../src/schema/answer-part.ts';
import { ContentBlock } from '../../src/schema/message.ts';

/** Non-text parts of a completion: their conversion, their validation and their events. */

const rows: [name: string, part: AnswerPart, block: PartBlock][] = [
  [
    'bytes',
    { file: new Uint8Array([104, 105]), media_type: 'text/plain', filename: 'hi.txt' },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'text/plain', data: 'aGk=' },
      title: 'hi.txt',
    },
  ],
  [
    'a slice of a larger buffer',
    { file: Buffer.from('-hi-').subarray(1, 3), media_type: 'text/plain' },
    { type: 'document', source: { type: 'base64', media_type: 'text/plain', data: 'aGk=' } },
  ],
  [
    'base64',
    { file: 'aGk=', media_type: 'IMAGE/PNG' },
    { type: 'image', source: { type: 'base64', media_type: 'IMAGE/PNG', data: 'aGk=' } },
  ],
  [
    'an empty file',
    { file: '', media_type: 'audio/wav' },
    { type: 'audio', source: { type: 'base64', media_type: 'audio/wav', data: '' } },
  ],
  [
    'an address with its type',
    { url: 'https://a.example/x', media_type: 'video/mp4' },
    { type: 'video', source: { type: 'url', url: 'https://a.example/x', media_type: 'video/mp4' } },
  ],
  [
    'an address',
    { url: 'http://a.example/x.png?y', filename: 'x.png' },
    { type: 'image', source: { type: 'url', url: 'http://a.example/x.png?y' }, title: 'x.png' },
  ],
  [
    'data',
    { data: { a: [1, null] }, filename: 'a.json' },
    {
      type: 'text',
      text: '{"a":[1,null]}',
      media_type: 'application/json',
      part: { filename: 'a.json' },
    },
  ],
  ['null data', { data: null }, { type: 'text', text: 'null', media_type: 'application/json' }],
];
for (const [name, part, block] of rows) {
  t.test(`${name} becomes a block, and its activity the same block again`, async (t) => {
    const made = blockOfPart(part);
    t.strictSame(made, block);
    t.strictSame(ContentBlock.parse(made), block, 'the result conforms to the schema');
    const activity = activityOfBlock(made);
    const again = blockOfActivity(JSON.parse(JSON.stringify(activity)));
    t.strictSame(again && activityOfBlock(again), activity);
    t.equal(again?.type, made.type);
  });
}

const deep = JSON.parse(`${'['.repeat(129)}${']'.repeat(129)}`);
const circle: unknown[] = [];
circle.push(circle);

/** Values that untyped programs and other services may return. */
const wrong: [name: string, part: object, words: RegExp][] = [
  ['an empty part', {}, /exactly one of file, url, data and file_id/],
  ['two kinds at once', { url: 'https://a.example', data: 1 }, /exactly one of file, url, data and file_id/],
  ['a file without a type', { file: 'aGk=' }, /media_type must be a media type, like 'image\/png'/],
  ['an invalid type', { file: 'aGk=', media_type: 'png' }, /media_type must be/],
  ['a type with trailing text', { file: 'aGk=', media_type: 'a/b,<script>' }, /media_type must be/],
  ['a number as a file', { file: 5, media_type: 'a/b' }, /file must be bytes/],
  [
    'broken base64',
    { file: 'aGk', media_type: 'a/b', filename: 'a' },
    /the file 'a' is not standard base64 with padding/,
  ],
  ['base64 of another alphabet', { file: '_-8=', media_type: 'a/b' }, /not standard base64/],
  ['a script', { url: 'javascript:alert(1)' }, /url must be an http or https address/],
  ['a data URL', { url: 'data:text/plain;base64,aGk=' }, /url must be an http/],
  ['a relative address', { url: '/x.png' }, /url must be an http/],
  [
    'an address that is too long',
    { url: `https://a.example/${'x'.repeat(9000)}` },
    /at most 8192 characters/,
  ],
  ['a name with a line break', { data: 1, filename: 'a\nb' }, /a filename has 1 to 255 characters/],
  ['an empty name', { data: 1, filename: '' }, /a filename has/],
  ['data that nests too deep', { data: deep }, /the data nests deeper than 128 levels/],
  ['data that contains itself', { data: circle }, /nests deeper/],
  ['undefined data', { data: undefined }, /the data is not JSON/],
  ['a number that is not JSON', { data: 1n }, /the data is not JSON/],
  [
    'a file that is too large',
    { file: Buffer.alloc(LARGEST_PART + 1), media_type: 'video/mp4', filename: 'v.mp4' },
    /the file 'v.mp4' has 8388609 bytes; a file of an answer has at most 8388608/,
  ],
  [
    'base64 that is too large',
    { file: 'AAAA'.repeat(LARGEST_PART / 3 + 1), media_type: 'a/b' },
    /has 8388611 bytes|has 83886\d\d bytes/,
  ],
  ['data that is too large', { data: 'x'.repeat(LARGEST_PART) }, /the data has 8388610 bytes as JSON/],
];
for (const [name, part, words] of wrong) {
  t.test(`${name} is rejected with a reason`, async (t) => {
    // The types exclude these values.
    t.throws(() => blockOfPart(part as AnswerPart), { name: 'Invalid', message: words });
  });
}

t.test('names the invalid part of a list', async (t) => {
  const parts = [{ data: 1 }, { url: 'ftp://a.example' }];
  t.throws(() => blocksOfParts(parts), { message: /^parts\[1\]: url must be/ });
});

t.test('limits a completion to 64 parts and 16 MiB', async (t) => {
  const numbers = (count: number): AnswerPart[] => Array.from({ length: count }, (_, data) => ({ data }));
  t.equal(blocksOfParts(numbers(MOST_PARTS)).length, MOST_PARTS);
  t.throws(() => blocksOfParts(numbers(MOST_PARTS + 1)), { message: /at most 64 parts, and these are 65/ });
  const large = { file: Buffer.alloc(LARGEST_PART), media_type: 'a/b' };
  const two = blocksOfParts([large, large]);
  t.throws(() => blocksOfParts([large, large, { data: 1 }]), {
    message: /^parts\[2\]: the parts of an answer have at most 16777216 bytes, .* 16777217$/,
  });
  t.equal(findExcess(two, []), undefined);
  t.match(findExcess(two, [blockOfPart({ data: 1 })]), /at most 16777216 bytes/);
  t.match(findExcess(blocksOfParts(numbers(60)), blocksOfParts(numbers(5))), /would make it 65/);
});

t.test('does not treat other activities as parts', async (t) => {
  for (const activity of [
    { activity_type: 'tool-call-progress', content: { data: 1 } },
    { activity_type: 'file', content: { url: 'https://a.example' } },
    { activity_type: 'data', content: 'data' },
    { activity_type: 'data', content: null },
  ])
    t.equal(blockOfActivity(activity), undefined);
});

t.test('shows the model short data, and the names of other parts', async (t) => {
  const words = (part: AnswerPart) => describePart(blockOfPart(part));
  t.equal(words({ data: { a: 1 } }), '{"a":1}');
  t.equal(
    words({ data: 'x'.repeat(5000), filename: 'x.json' }),
    '[data x.json, application/json, 5002 characters]',
  );
  t.equal(
    words({ file: 'aGk=', media_type: 'application/pdf', filename: 'report.pdf' }),
    '[file report.pdf, application/pdf, 2 bytes]',
  );
  t.equal(words({ file: 'aGk=', media_type: 'image/png' }), '[image image/png, 2 bytes]');
  t.equal(words({ url: 'https://a.example/x.png' }), '[image https://a.example/x.png, image/png]');
});
