import t from 'tap';
import { toolsToSend } from '../../src/models/tool-names.ts';
import type { JsonObject } from '../../src/schema/json.ts';

const tool = (id: string, parameters: JsonObject) => ({
  id,
  name: id,
  category: null,
  description: 'd',
  parameters,
});

const EMPTY = { type: 'object', properties: {} };

t.test('sends the first tool of a name, and an empty schema in place of an invalid one', async (t) => {
  const parameters = { type: 'object', properties: { a: { type: 'string' } } };
  const sent = toolsToSend([tool('one', parameters), tool('two', { type: 'string' }), tool('one', EMPTY)]);
  t.strictSame(
    sent.map((each) => each.parameters),
    [parameters, EMPTY],
  );
});

t.test('limits the size of all schemas of a request, in the order of the tools', async (t) => {
  const large = (of: number) => ({
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 4000 }, (_, n) => [`p${of}_${n}`, { type: 'string' }]),
    ),
  });
  const tools = Array.from({ length: 8 }, (_, n) => tool(`t${n}`, large(n)));
  const sizes = () =>
    toolsToSend(tools).map(({ parameters }) => Object.keys(parameters.properties ?? {}).length);
  t.strictSame(sizes(), [4000, 4000, 4000, 4000, 4000, 0, 0, 0]);
  t.strictSame(sizes(), [4000, 4000, 4000, 4000, 4000, 0, 0, 0], 'equal for the next request');
});
