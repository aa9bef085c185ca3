import t from 'tap';
import { mediaTokens } from '../../../src/plugins/context/media-tokens.ts';
import { textTokens } from '../../../src/plugins/context/text-tokens.ts';
import { TEXTS } from './texts.ts';

const file = (media_type: string, content: string | Buffer) => ({
  type: 'base64' as const,
  media_type,
  data: Buffer.from(content).toString('base64'),
});

t.test('estimates images between the lowest and the highest count of providers', async (t) => {
  t.equal(mediaTokens('image', file('image/png', Buffer.alloc(100))), 85);
  t.equal(mediaTokens('image', file('image/png', Buffer.alloc(190_000))), 1000);
  t.equal(mediaTokens('image', file('image/png', Buffer.alloc(5_000_000))), 1600);
  t.equal(mediaTokens('image', { type: 'url', url: 'https://example.org/a.png' }), 1100);
});

t.test('estimates files by their size', async (t) => {
  t.equal(mediaTokens('document', file('application/pdf', Buffer.alloc(500_000))), 20_000);
  t.equal(mediaTokens('audio', file('audio/mpeg', Buffer.alloc(160_000))), 320);
  t.equal(mediaTokens('video', file('video/mp4', Buffer.alloc(830_000))), 1000);
});

t.test('estimates text files by their text', async (t) => {
  for (const text of [TEXTS.chinese ?? '', TEXTS.json ?? '']) {
    t.equal(mediaTokens('document', file('text/plain', text)), textTokens(text));
    const long = text.repeat(200);
    const ratio = mediaTokens('document', file('text/markdown', long)) / textTokens(long);
    t.ok(ratio > 0.97 && ratio < 1.03, `the ratio is ${ratio}`);
  }
  t.equal(mediaTokens('document', file('text/plain', '')), 0);
});
