import t from 'tap';
import { decodeNext, endDecoding, startDecoding } from '../../src/http/utf8.ts';

const decoded = (bytes: Buffer, piece: number): string | undefined => {
  const decoding = startDecoding();
  for (let at = 0; at < bytes.length; at += piece) {
    if (!decodeNext(decoding, bytes.subarray(at, at + piece))) return undefined;
  }
  return endDecoding(decoding);
};

const TEXT = 'aé中😀\0'.repeat(40_000);

t.test('decodes a text identically for any chunk size', (t) => {
  for (let shift = 0; shift < 4; shift += 1) {
    const text = 'x'.repeat(shift) + TEXT;
    for (const piece of [1, 3, 1000, 65_535, 65_536, 65_537, 10_000_000]) {
      t.ok(decoded(Buffer.from(text), piece) === text, `${shift} ahead, pieces of ${piece}`);
    }
  }
  t.equal(decoded(Buffer.alloc(0), 1), '');
  t.end();
});

t.test('rejects invalid UTF-8 at any position', (t) => {
  const text = Buffer.from(TEXT);
  for (const wrong of [
    [0xff],
    [0x80],
    [0xc3],
    [0xe4, 0xb8],
    [0xf0, 0x9f, 0x98],
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
  ]) {
    for (const at of [0, 65_534, 65_535, 65_536, text.length]) {
      let end = at;
      while (end < text.length && ((text[end] ?? 0) & 0xc0) === 0x80) end += 1;
      const bytes = Buffer.concat([text.subarray(0, end), Buffer.from(wrong), text.subarray(end)]);
      for (const piece of [1, 65_536, bytes.length]) {
        t.equal(decoded(bytes, piece), undefined, `${wrong} at ${at}, pieces of ${piece}`);
      }
    }
  }
  t.end();
});

t.test('does not copy a text repeatedly that arrives byte by byte', (t) => {
  const copy = Buffer.prototype.copy;
  let copied = 0;
  t.teardown(() => {
    Buffer.prototype.copy = copy;
  });
  Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>): number {
    const count = copy.apply(this, args);
    copied += count;
    return count;
  };
  const decoding = startDecoding();
  const one = Buffer.from('x');
  let held = 0;
  for (let at = 0; at < 500_000; at += 1) {
    decodeNext(decoding, one);
    held = Math.max(held, decoding.block.length);
  }
  t.equal(endDecoding(decoding)?.length, 500_000);
  t.ok(copied <= 2 * held, `${copied} bytes copied`);
  t.ok(held <= 65_536, `${held} bytes in addition to the text`);
  t.end();
});
