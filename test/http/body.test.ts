import t from 'tap';
import type { Answer } from '../../src/http/answer.ts';
import { type BodyText, isJson, readBody, tooLarge } from '../../src/http/body.ts';
import { createBodyBudget } from '../../src/http/body-budget.ts';
import { createConnectionBudget } from '../../src/http/connection-budget.ts';
import { listenOnNode } from '../../src/http/node-socket.ts';
import { listenOn } from '../../src/http/socket.ts';
import { LISTENER, when, wire } from './serve.ts';

t.test('delivers a body once, even if it is too large and continues', async (t) => {
  const delivered: BodyText[] = [];
  let bodies = 0;
  let pieces = 0;
  const room = createBodyBudget({ limit: 100, timeoutMs: 60_000, observe() {} });
  t.teardown(() => room.close());
  const answer: Answer = (res) => {
    res.onAborted(() => {});
    const { onData } = res;
    res.onData = (listener) =>
      onData.call(res, (chunk, isLast) => {
        pieces += 1;
        listener(chunk, isLast);
      });
    readBody(res, { limit: 10, bodyBudget: room, isOver: () => false, onGone() {} }, (text) =>
      delivered.push(text),
    );
    bodies += 1;
  };
  const { uWS } = LISTENER;
  const options = { address: { host: '127.0.0.1', port: 0 }, budget: createConnectionBudget(10, () => {}) };
  const listening = await (uWS ? listenOn(uWS, answer, options) : listenOnNode(answer, options));
  t.teardown(() => {
    listening.stop();
    listening.close();
  });
  const { port = 0 } = listening;
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

t.test('treats application/json and types with the suffix +json as JSON', (t) => {
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
