import t from 'tap';
import { encode, encodeBody } from '../../src/http/encode.ts';
import {
  type Exchange,
  type ExchangeContext,
  endStream,
  openExchange,
  sendReply,
  startStream,
  writeStream,
} from '../../src/http/exchange.ts';
import { reply } from '../../src/http/route.ts';
import { createUnsent } from '../../src/http/unsent.ts';
import type { WireResponse } from '../../src/http/wire.ts';
import { CHARACTERS } from './characters.ts';

/** A response that records what it receives, and fails on strings whose encoding matters. */
const recorder = () => {
  const values: (string | Uint8Array)[] = [];
  const res: WireResponse = {
    retains: true,
    onAborted() {},
    onData() {},
    pause() {},
    resume() {},
    onWritable() {},
    writeStatus() {},
    writeHeader: (name, value) => values.push(name, value),
    write(text) {
      values.push(text);
      return true;
    },
    end(text = '') {
      values.push(text);
    },
    endWithoutBody() {},
    cork: (write) => write(),
    close() {},
    getRemoteAddressAsText: () => new ArrayBuffer(0),
  };
  return { res, values };
};

const context: ExchangeContext = {
  observe: { request() {}, inFlight() {} },
  unsent: createUnsent({ limit: 1 << 28, observe() {} }),
  draining: false,
  suspended: false,
  report(error) {
    throw error;
  },
};

const opened = (origin = ''): { exchange: Exchange; values: (string | Uint8Array)[] } => {
  const { res, values } = recorder();
  const exchange = openExchange(context, res, {
    method: 'GET',
    route: '/',
    errors: () => reply(500),
    origin,
    isSecure: false,
    requestId: 'id',
  });
  return { exchange, values };
};

const isAscii = (value: string): boolean => Buffer.byteLength(value) === value.length;

t.test('passes text to an HTTP server as ASCII strings or UTF-8 bytes', (t) => {
  for (const [kind, text] of CHARACTERS.entries()) {
    const long = text.repeat(200_000);
    const ways: ((exchange: Exchange) => void)[] = [
      (exchange) => sendReply(exchange, reply(200, text)),
      (exchange) => sendReply(exchange, reply(200, text, { 'x-name': text })),
      (exchange) => sendReply(exchange, reply(200, long)),
      (exchange) => startStream(exchange, { 'x-name': text }, text, true),
      (exchange) => startStream(exchange, {}, long, true),
      (exchange) => {
        startStream(exchange, {}, text, false);
        writeStream(exchange, text);
        endStream(exchange, text);
      },
      (exchange) => {
        startStream(exchange, {}, text, false);
        endStream(exchange, long);
      },
    ];
    for (const [index, send] of ways.entries()) {
      const { exchange, values } = opened(`http://${text}`);
      send(exchange);
      const strings = values.filter((value) => typeof value === 'string');
      t.strictSame(
        strings.filter((value) => !isAscii(value)),
        [],
        `text ${kind}, way ${index}`,
      );
      t.ok(strings.length < values.length || isAscii(text), 'the text is passed unchanged');
    }
  }
  t.end();
});

t.test('keeps ASCII as a string and encodes other text as UTF-8', (t) => {
  t.equal(encode('plain\0'), 'plain\0');
  for (const text of CHARACTERS.filter((each) => !isAscii(each)))
    t.strictSame(encode(text), Buffer.from(text));
  t.end();
});

t.test('encodes a long body as UTF-8, in shared memory if the server does not retain it', (t) => {
  for (const [kind, text] of CHARACTERS.entries()) {
    for (const repeats of [1, 1000, 60_000]) {
      const body = text.repeat(repeats);
      const [kept, lent] = [encodeBody(body, true), encodeBody(body, undefined)];
      for (const encoded of [kept, lent])
        t.ok(Buffer.from(body).equals(Buffer.from(encoded)), `text ${kind}`);
      t.equal(typeof kept === 'string', isAscii(text));
    }
  }
  const [first, second] = ['a', 'b'].map((letter) => encodeBody(letter.repeat(10_000), undefined));
  t.strictSame(first, second, 'the bytes of the first body are those of the second');
  const bytes = Buffer.from('bytes');
  t.equal(encodeBody(bytes, undefined), bytes);
  t.end();
});
