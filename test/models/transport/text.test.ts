import t from 'tap';
import { UnreadableBody } from '../../../src/models/response.ts';
import type { TextRequest } from '../../../src/models/transport/types.ts';
import { openTransport, startRawServer } from './open.ts';

const requestTo = (url: string, most: number): TextRequest => ({
  method: 'GET',
  url,
  headers: { 'X-Name': 'value' },
  most,
  signal: AbortSignal.timeout(30_000),
});

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\nx-reply: yes\r\n\r\nGrüße';

t.test('reads exactly as many bytes as allowed', async (t) => {
  const { url } = await startRawServer(t, (socket) => void socket.write(OK));
  const { text } = openTransport(t);
  t.match(await text(requestTo(url, 7)), { status: 200, headers: { 'x-reply': 'yes' }, body: 'Grüße' });
  await t.rejects(text(requestTo(url, 6)), new UnreadableBody('the body has more than 6 bytes', 200));
  t.match(await text(requestTo(url, 0)), { status: 200, body: '' });
});

t.test('rejects a truncated body', async (t) => {
  const { url } = await startRawServer(t, (socket) => void socket.end(OK.slice(0, -2)));
  await t.rejects(
    openTransport(t).text(requestTo(url, 100)),
    new UnreadableBody('the body was interrupted', 200),
  );
});

t.test('follows no redirect, and reads only the beginning of an error response', async (t) => {
  const moved = 'HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 5\r\n\r\nmoved';
  const { url, connections } = await startRawServer(t, (socket) => void socket.write(moved));
  const { text } = openTransport(t);
  t.match(await text(requestTo(url, 2)), { status: 302, headers: { location: '/elsewhere' }, body: 'mo' });
  t.equal(connections(), 1);
});

t.test('reports the reason for a missing connection, and the reason of a cancel', async (t) => {
  const { text } = openTransport(t);
  await t.rejects(text(requestTo('http://127.0.0.1:1', 1)), {
    message: 'no connection',
    cause: { code: 'ECONNREFUSED' },
  });
  const { url } = await startRawServer(t, () => {});
  const late = { ...requestTo(url, 1), signal: AbortSignal.timeout(1) };
  await t.rejects(text(late), { name: 'TimeoutError' });
});
