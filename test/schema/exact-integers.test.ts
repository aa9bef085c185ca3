import t from 'tap';
import { readMessage } from '../../src/mcp/message.ts';
import { exactJson, inexactInteger, parseExactly } from '../../src/schema/exact-integers.ts';
import fc from '../random.ts';

t.test('finds integers that a number cannot represent', async (t) => {
  for (const [json, found] of [
    ['{"id":1234567890123456789}', '1234567890123456789'],
    ['[1,-9007199254740993]', '-9007199254740993'],
    ['{"a\\"":"x\\\\","b":12345678901234567890}', '12345678901234567890'],
  ] as const) {
    t.equal(inexactInteger(json), found, json);
  }
});

t.test('accepts strings, doubles and integers that keep their digits', async (t) => {
  for (const json of [
    '{"id":"1234567890123456789"}',
    '[0.12345678901234567,1e30,9007199254740991,12345678901234567000,1234567890123456789.5]',
    '"a string without an end 1234567890123456789',
  ]) {
    t.equal(inexactInteger(json), undefined, json);
  }
});

t.test('accepts everything that a JavaScript client writes', async () => {
  fc.assert(fc.property(fc.json(), (json) => inexactInteger(JSON.stringify(JSON.parse(json))) === undefined));
  fc.assert(fc.property(fc.double(), (number) => inexactInteger(JSON.stringify([number])) === undefined));
});

t.test('replaces an MCP response with an inexact integer by an error', async (t) => {
  const result = '{"content":[],"structuredContent":{"id":1234567890123456789}}';
  const message = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":7,"result":${result}}`));
  t.match(message, { id: 7, error: { message: /1234567890123456789 cannot be kept exactly/ } });
  t.notOk(message && 'result' in message);
});

t.test('rejects a list of MCP messages with an inexact integer', async (t) => {
  const list = '[{"jsonrpc":"2.0","id":7,"result":{"id":1234567890123456789}}]';
  t.throws(() => readMessage(Buffer.from(list)), { message: /1234567890123456789 cannot be kept exactly/ });
  t.equal(readMessage(Buffer.from('{"time":1234567890123456789}')), undefined, 'the message is rejected');
});

const BIG = '1234567890123456789';

t.test('writes parsed values with the digits of the source', async (t) => {
  const text = `{"a":{"id":${BIG},"list":[-${BIG},1,"${BIG}"]},"b":{"id":1}}`;
  const read = Object(parseExactly(text));
  t.equal(exactJson(read), text);
  t.equal(exactJson(read.a), `{"id":${BIG},"list":[-${BIG},1,"${BIG}"]}`);
  t.equal(exactJson(read.b), '{"id":1}');
  t.equal(exactJson({ id: 1 }), '{"id":1}');
  t.throws(() => parseExactly('{'), SyntaxError);
});
