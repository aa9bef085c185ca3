import uWS from 'uWebSockets.js';
import t from 'tap';
import { type BodyText, isJson, readBody, tooLarge } from '../../src/http/body.ts';
import { createBodyRoom } from '../../src/http/body-room.ts';
import { when, wire } from './serve.ts';

t.test('a body is delivered once, also when it is too large and goes on', async (t) => {
  const delivered: BodyText[] = [];
  let bodies = 0;
  let pieces = 0;
  const room = createBodyRoom({ limit: 100, timeoutMs: 60_000, observe() {} });
  t.teardown(() => room.close());
  const app = uWS.App().any('/*', (res) => {
    res.onAborted(() => {});
    const { onData } = res;
    res.onData = (handler) =>
      onData.call(res, (chunk, isLast) => {
        pieces += 1;
        handler(chunk, isLast);
      });
    readBody(res, { limit: 10, room, isOver: () => false, onGone() {} }, (text) => delivered.push(text));
    bodies += 1;
  });
  t.teardown(() => app.close());
  const port = await new Promise<number>((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => resolve(socket ? uWS.us_socket_local_port(socket) : 0));
  });
  const client = wire(t, port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n');
  await when(() => bodies === 1);
  for (let part = 0; part < 4; part += 1) {
    const before = pieces;
    client.send('0123456789');
    await when(() => pieces > before);
  }
  t.strictSame(delivered, [tooLarge(10)]);

  const fitting = wire(t, port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123');
  await when(() => bodies === 2);
  fitting.send('456789');
  await when(() => delivered.length === 2);
  t.strictSame(delivered, [tooLarge(10), '0123456789']);
});

t.test('JSON is application/json or any type that ends in +json', (t) => {
  const table: [string, boolean][] = [
    ['application/json', true],
    ['APPLICATION/JSON', true],
    ['application/json;charset=utf-8', true],
    ['application/json ; charset=utf-8', true],
    ['application/merge-patch+json', true],
    ['image/vnd.x+json', true],
    ['', false],
    ['json', false],
    ['text/json', false],
    ['application/json5', false],
    ['application/x-ndjson', false],
    ['application/json, text/plain', false],
    ['text/plain; application/json', false],
  ];
  for (const [type, expected] of table) t.equal(isJson(type), expected, type);
  t.end();
});
