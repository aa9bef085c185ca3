import { createHash } from 'node:crypto';
import t from 'tap';
import { readUpload } from '../../src/files/upload.ts';

/** Multipart bodies, cut into chunks at any position. */

const bytesFrom = (seed: number, length: number): Buffer =>
  createHash('shake256', { outputLength: length }).update(String(seed)).digest();

const TYPE = 'multipart/form-data; boundary=bnd';

const body = (content: Buffer, ...more: string[]): Buffer =>
  Buffer.concat([
    Buffer.from('--bnd\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'),
    content,
    Buffer.from(
      [
        ...more,
        '\r\n--bnd\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nvision\r\n--bnd--\r\n',
      ].join(''),
    ),
  ]);

/** Passes all chunks in one buffer, as a body of a request does: a chunk is overwritten when the next one is requested. */
async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array, void> {
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(buffer, 0, at, at + size);
    yield buffer.subarray(0, length);
    buffer.fill(0xff);
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const read = (bytes: Buffer, size: number, pause: () => Promise<void> = async () => {}) =>
  readUpload(TYPE, chunksOf(bytes, size), async ({ chunks }) => {
    const hash = createHash('sha256');
    let count = 0;
    for await (const chunk of chunks) {
      await pause();
      hash.update(chunk);
      count += chunk.byteLength;
    }
    return { sha256: hash.digest('hex'), bytes: count, discard() {} };
  });

t.test('reads the same file from chunks of every length', async (t) => {
  // Line ends and beginnings of the boundary, which are not its end.
  const content = Buffer.concat([bytesFrom(1, 600), Buffer.from('\r\n--bn\r\n\r\n--bn'), bytesFrom(2, 300)]);
  for (const size of [1, 2, 3, 7, 63, 64, 65, 1000, 4096, 915, 100_000]) {
    const { stored, fields } = await read(body(content), size, () => new Promise(setImmediate));
    t.same(
      [stored.bytes, stored.sha256, fields.get('purpose')],
      [content.length, hashOf(content), 'vision'],
      `${size}`,
    );
  }
});

t.test('stores everything of a chunk before it requests the next one', async (t) => {
  const content = bytesFrom(3, 1_000_000);
  const { stored } = await read(
    body(content),
    128 * 1024,
    () => new Promise((resolve) => setTimeout(resolve, 2)),
  );
  t.equal(stored.sha256, hashOf(content));
});

t.test('rejects bodies that end early, have two files or none', async (t) => {
  const content = bytesFrom(4, 10_000);
  const whole = body(content);
  for (const length of [20, 80, 5000, whole.length - 20])
    await t.rejects(read(whole.subarray(0, length), 1000), {
      message: /not valid multipart|must have a file/,
    });
  const second = '\r\n--bnd\r\ncontent-disposition: form-data; name="file"; filename="b"\r\n\r\nx';
  await t.rejects(read(body(content, second), 1000), { message: 'the body has too many parts' });
  await t.rejects(read(Buffer.from('--bnd--\r\n'), 1000), { message: /must have a file/ });
  await t.rejects(read(Buffer.from('--other\r\n\r\nx\r\n--other--\r\n'), 1000), {
    message: /multipart|must have a file/,
  });
});

t.test('ends with the error of the store', async (t) => {
  const failing = readUpload(TYPE, chunksOf(body(bytesFrom(5, 100_000)), 1000), async ({ chunks }) => {
    for await (const _ of chunks) throw new Error('no room');
    return { discard() {} };
  });
  await t.rejects(failing, { message: 'no room' });
});
