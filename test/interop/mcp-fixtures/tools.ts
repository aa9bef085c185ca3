import { setTimeout as pause } from 'node:timers/promises';
import { image, resource, text, WAV } from './content.ts';
import type { FixtureTool } from './fixture.ts';
import { ROUNDS } from './rounds.ts';

/** The tools that the conformance suite calls, as it describes them. */

/** The interval between two notifications that the suite requires. */
const PAUSE_MS = 50;

const ofObject = (properties: object = {}, required: string[] = []) => ({
  type: 'object' as const,
  properties,
  required,
});

const NO_ARGUMENTS = ofObject();

const onlySays = (...content: object[]): FixtureTool => ({
  inputSchema: NO_ARGUMENTS,
  call: async () => ({ content }),
});

const told = (what: unknown) => ({ content: [text(typeof what === 'string' ? what : JSON.stringify(what))] });

/** Asks the user and returns the response. */
const elicits = (requestedSchema: object, message = 'Please say'): FixtureTool => ({
  inputSchema: NO_ARGUMENTS,
  async call(_, { request }) {
    const { action, content } = await request('elicitation/create', { message, requestedSchema });
    return told(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
  },
});

const titled = (...pairs: [value: string, title: string][]) =>
  pairs.map(([value, title]) => ({ const: value, title }));

const VALUES = ['option1', 'option2', 'option3'];

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

export const TOOLS: Record<string, FixtureTool> = {
  test_simple_text: onlySays(text('This is a simple text response for testing.')),
  test_image_content: onlySays(image),
  test_audio_content: onlySays({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: onlySays(
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ),
  test_multiple_content_types: onlySays(
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ),
  test_error_handling: {
    inputSchema: NO_ARGUMENTS,
    call: async () => ({ ...told('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_logging: {
    inputSchema: NO_ARGUMENTS,
    async call(_, { log }) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        log('info', data);
        await pause(PAUSE_MS);
      }
      return told('logged');
    },
  },
  test_tool_with_progress: {
    inputSchema: NO_ARGUMENTS,
    async call(_, { progress }) {
      for (const done of [0, 50, 100]) {
        progress(done, 100);
        await pause(PAUSE_MS);
      }
      return told('progressed');
    },
  },
  test_sampling: {
    inputSchema: ofObject({ prompt: { type: 'string' } }, ['prompt']),
    async call({ prompt }, { request }) {
      const messages = [{ role: 'user', content: text(String(prompt)) }];
      const { content } = await request('sampling/createMessage', { messages, maxTokens: 100 });
      return told(`LLM response: ${JSON.stringify(content)}`);
    },
  },
  test_elicitation: {
    inputSchema: ofObject({ message: { type: 'string' } }, ['message']),
    async call({ message }, { request }) {
      const requestedSchema = ofObject(
        {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        ['username', 'email'],
      );
      const { action, content } = await request('elicitation/create', { message, requestedSchema });
      return told(`User response: action=${action}, content=${JSON.stringify(content)}`);
    },
  },
  test_elicitation_sep1034_defaults: elicits(
    ofObject({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  ),
  test_elicitation_sep1330_enums: elicits(
    ofObject({
      untitledSingle: { type: 'string', enum: VALUES },
      titledSingle: {
        type: 'string',
        oneOf: titled(['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option']),
      },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: VALUES } },
      titledMulti: {
        type: 'array',
        items: {
          anyOf: titled(['value1', 'First Choice'], ['value2', 'Second Choice'], ['value3', 'Third Choice']),
        },
      },
    }),
  ),
  json_schema_2020_12_tool: { inputSchema: SCHEMA_2020_12, call: async () => told('fine') },
  ...ROUNDS,
};
