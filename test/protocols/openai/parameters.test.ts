import t from 'tap';
import {
  functionTools,
  type GivenParameters,
  MOST_TOOL_SCHEMA_BYTES,
  MOST_TOOLS,
  refuseUnsupported,
  runParameters,
} from '../../../src/protocols/openai/parameters.ts';

const parametersOf = (given: Partial<GivenParameters>) =>
  runParameters({ formatAt: 'response_format', ...given });

t.test('converts settings of the model to overrides, and none without any', (t) => {
  t.equal(parametersOf({}).overrides, undefined);
  t.strictSame(
    parametersOf({
      temperature: 0,
      max_tokens: 9,
      effort: 'xhigh',
      seed: 4,
      stop: ['x'],
      presence_penalty: 1,
      frequency_penalty: -1,
      parallel_tool_calls: false,
      choice: 'none',
    }).overrides,
    {
      upstream_model: null,
      temperature: 0,
      max_tokens: 9,
      top_p: null,
      reasoning_effort: 'max',
      seed: 4,
      stop: ['x'],
      presence_penalty: 1,
      frequency_penalty: -1,
      parallel_tool_calls: false,
      tool_choice: 'none',
    },
  );
  t.end();
});

t.test('converts functions to client tools, of which a choice may allow some', (t) => {
  const tools = [{ name: 'a', description: 'A', parameters: { type: 'object' } }, { name: 'b' }];
  t.strictSame(parametersOf({ tools }).frontend_tools, [
    { id: 'a', name: 'a', description: 'A', parameters: { type: 'object' }, category: null },
    { id: 'b', name: 'b', description: '', parameters: { type: 'object', properties: {} }, category: null },
  ]);
  const some = parametersOf({ tools, choice: { allowed: ['b'], mode: 'required' } });
  t.strictSame(
    some.frontend_tools.map(({ id }) => id),
    ['b'],
  );
  t.equal(some.overrides?.tool_choice, 'required');
  t.strictSame(parametersOf({ tools, choice: { name: 'a' } }).overrides?.tool_choice, { tool: 'a' });
  t.match(
    thrownBy(() => parametersOf({ tools: [{ name: 'a' }, { name: 'a' }] })),
    { param: 'tools[1]' },
  );
  const parameters = { type: 'object', description: 'x'.repeat(MOST_TOOL_SCHEMA_BYTES) };
  t.match(
    thrownBy(() => parametersOf({ tools: [{ name: 'a', parameters }] })),
    { param: 'tools[0]' },
  );
  t.end();
});

t.test('converts the format of the answer to a schema of the result', (t) => {
  t.equal(parametersOf({ format: { type: 'text' } }).output_schema, undefined);
  t.strictSame(parametersOf({ format: { type: 'json_object' } }).output_schema, { type: 'object' });
  const schema = { type: 'object', properties: { n: { type: 'number' } } };
  t.strictSame(parametersOf({ format: { type: 'json_schema', name: 'n', schema } }).output_schema, schema);
  t.match(
    thrownBy(() => parametersOf({ format: { type: 'json_schema', name: 'n', schema: { type: 'nothing' } } })),
    {
      status: 400,
      param: 'response_format',
    },
  );
  t.end();
});

t.test('refuses parameters that an agent cannot follow, unless they ask for nothing (check 12)', (t) => {
  const refused = {
    logprobs: true,
    top_logprobs: 1,
    logit_bias: { 5: 1 },
    audio: { voice: 'a' },
    modalities: ['text', 'audio'],
    prediction: { type: 'content' },
    functions: [],
    function_call: 'auto',
    web_search_options: {},
    prompt: { id: 'p' },
  };
  for (const [param, value] of Object.entries(refused)) {
    t.match(
      thrownBy(() => refuseUnsupported({ [param]: value })),
      { param, code: 'unsupported_parameter' },
      param,
    );
    t.doesNotThrow(() => refuseUnsupported({ [param]: null }), param);
  }
  t.doesNotThrow(() =>
    refuseUnsupported({ logit_bias: {}, logprobs: false, modalities: ['text'], top_logprobs: 0 }),
  );
  t.end();
});

t.test('refuses hosted tools, except a declaration of the tools of the service', (t) => {
  const read = () => 'function';
  t.strictSame(functionTools([{ type: 'function' }, { type: 'mcp', server_label: 'troupe' }], read), [
    'function',
  ]);
  for (const type of ['custom', 'web_search', 'mcp']) {
    t.match(
      thrownBy(() => functionTools([{ type }], read)),
      { param: 'tools[0].type', code: 'unsupported_value' },
      type,
    );
  }
  const many = Array.from({ length: MOST_TOOLS + 1 }, () => ({ type: 'function' }));
  t.match(
    thrownBy(() => functionTools(many, read)),
    { param: 'tools' },
  );
  t.end();
});

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
