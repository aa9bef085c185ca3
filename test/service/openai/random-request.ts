import { below, pick } from '../../crash/random.ts';

/**
 * Random requests for the routes of OpenAI's protocol: bodies that fit the schemas of the OpenAPI document, with random
 * changes. Ids of earlier responses are among their values, so that requests refer to what exists.
 */

type Random = () => number;

type Schema = {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
};

type Parameter = { name?: string; in?: string; $ref?: string };

type Operation = {
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
};

export type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

export type RandomRequest = { method: string; path: string; headers: Record<string, string>; body?: string };

export type Requests = {
  next(): RandomRequest;
  /** Takes ids from a response, for later requests. */
  learn(text: string): void;
};

const TAGS = new Set(['OpenAI', 'files']);

/** Values of clients of OpenAI that no schema of the service has, and values that break parsers. */
const STRANGE: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  ' ',
  'x'.repeat(5000),
  '\u0000',
  '\u2028é😀',
  '__proto__',
  '../../etc/passwd',
  'data:image/png;base64,AAAA',
  'data:;base64,%%%',
  'https://example.invalid/a.png',
  [],
  {},
  [[[[[[]]]]]],
  [null],
  { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
  {
    type: 'file',
    file: { file_id: 'file-0', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
  },
  { type: 'custom', name: 'grammar', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
  { type: 'web_search', filters: { allowed_domains: ['example.com'] } },
  {
    type: 'function',
    function: { name: 'a b', parameters: { type: 'object', properties: { a: { $ref: '#/x' } } } },
  },
  {
    type: 'json_schema',
    json_schema: { name: 'n', schema: { type: 'strange', pattern: '(' } },
    strict: true,
  },
  { type: 'item_reference', id: 'msg_0' },
  { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot' } },
  { role: 'developer', content: [{ type: 'refusal', refusal: 'no' }] },
  { role: 'tool', tool_call_id: 'call_0', content: 'x' },
  { role: 'function', name: 'f', content: 'x' },
  { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }] },
];

const FOREIGN_KEYS = [
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'audio',
  'modalities',
  'prediction',
  'web_search_options',
  'n',
  'functions',
  'prompt',
  'context_management',
  'stream_options',
  'thread_id',
  '__proto__',
  'constructor',
];

const TYPES = ['application/json', 'text/plain', 'multipart/form-data; boundary=b', 'application/xml', ''];

const IDS = /\b(?:resp|conv|msg|rs|fc|fco|mcp|mcpr|call|chatcmpl|file)[_-][0-9a-zA-Z]{8,}\b/g;

/** Beginnings of the ids in paths, by the first segment of the path. */
const PREFIXES: Readonly<Record<string, string>> = {
  responses: 'resp_',
  conversations: 'conv_',
  files: 'file-',
};

const MOST_IDS = 300;
const MOST_DEPTH = 6;

export const createRequests = ({ paths, components }: Document, random: Random): Requests => {
  const ids: string[] = [];
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags?.some((tag) => TAGS.has(tag)) ? [{ path, method, operation }] : [],
    ),
  );
  const chance = (share: number): boolean => random() < share;
  const id = (): string => (ids.length > 0 && chance(0.8) ? pick(random, ids) : 'resp_00000000');

  /** An id of the kind that the path names, mostly. */
  const idIn = (path: string, name: string): string => {
    if (name === '{model}') return 'echo';
    const prefix = name === '{id}' ? PREFIXES[path.split('/')[2] ?? ''] : undefined;
    const fitting = prefix === undefined ? [] : ids.filter((each) => each.startsWith(prefix));
    return fitting.length > 0 && chance(0.9) ? pick(random, fitting) : id();
  };

  const resolved = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined ? schema : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});

  const text = (name: string): string => {
    if (name === 'model') return chance(0.97) ? 'echo' : pick(random, ['steps', 'none', 'echo@draft', '']);
    if (/id$|conversation/.test(name)) return id();
    return pick(random, ['a', 'hello', 'user', 'auto', '{"a":1}', `t${below(random, 20)}`]);
  };

  const sample = (given: Schema, name: string, depth: number): unknown => {
    const schema = resolved(given);
    if (chance(0.01)) return pick(random, STRANGE);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && choices.length > 0) return sample(pick(random, choices), name, depth);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => sample(each, name, depth)));
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(random, schema.enum);
    const type = Array.isArray(schema.type) ? pick(random, schema.type) : schema.type;
    switch (type) {
      case 'string':
        return text(name);
      case 'integer':
      case 'number':
        return pick(random, [0, 1, 2, 16, 0.5]);
      case 'boolean':
        return chance(0.5);
      case 'null':
        return null;
      case 'array':
        return Array.from({ length: depth > MOST_DEPTH ? 0 : below(random, 3) }, () =>
          sample(schema.items ?? {}, name, depth + 1),
        );
      case 'object':
        return object(schema, depth);
      default:
        return pick(random, ['hello', 1, { a: 1 }]);
    }
  };

  const object = ({ properties = {}, required = [] }: Schema, depth: number): Record<string, unknown> => {
    const made: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      const share = required.includes(name) ? 0.98 : depth > MOST_DEPTH ? 0 : 0.15;
      if (chance(share)) made[name] = sample(schema, name, depth + 1);
    }
    if (chance(0.03)) made[pick(random, FOREIGN_KEYS)] = pick(random, STRANGE);
    return made;
  };

  /** The messages of a chat and the input of a response, which schemas leave open. */
  const withInput = (body: unknown): unknown => {
    if (typeof body !== 'object' || body === null || chance(0.2)) return body;
    const said = pick(random, ['hello', 'two', [{ role: 'user', content: 'hello' }]]);
    return {
      ...body,
      ...('messages' in body && { messages: [{ role: 'user', content: said === 'two' ? said : 'hello' }] }),
      ...('input' in body && { input: said }),
    };
  };

  const broken = (json: string): string => {
    if (!chance(0.03)) return json;
    const at = below(random, json.length + 1);
    return pick(random, [
      json.slice(0, at),
      `${json.slice(0, at)}\u0007${json.slice(at)}`,
      '',
      '[',
      `"${'['.repeat(300)}`,
    ]);
  };

  const form = (): string =>
    [
      '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n',
      `${pick(random, ['user_data', 'vision', 'none', ''])}\r\n`,
      `--b\r\ncontent-disposition: form-data; name="${pick(random, ['file', 'file', 'other'])}"; filename="${pick(random, ['a.txt', '../x', 'é', ''])}"\r\n`,
      `${pick(random, ['content-type: text/plain\r\n', ''])}\r\n`,
      `${'x'.repeat(below(random, 2000))}\r\n--b--\r\n`,
    ].join('');

  const query = (parameters: readonly Parameter[]): string => {
    const named = parameters.flatMap(({ name, in: place }) =>
      place === 'query' && name !== undefined && chance(0.3)
        ? [
            `${name}=${encodeURIComponent(pick(random, [id(), 'true', '5', '0', '-1', 'asc', 'x', 'user_data']))}`,
          ]
        : [],
    );
    return named.length > 0 ? `?${named.join('&')}` : '';
  };

  return {
    next() {
      const { path, method, operation } = pick(random, operations);
      const { parameters = [], requestBody } = operation;
      const isUpload = requestBody !== undefined && 'multipart/form-data' in requestBody.content;
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
      const json = schema && broken(JSON.stringify(withInput(sample(schema, '', 0))) ?? '');
      const body = isUpload ? broken(form()) : json;
      const type = isUpload ? 'multipart/form-data; boundary=b' : 'application/json';
      return {
        method: (chance(0.02)
          ? pick(random, ['get', 'post', 'put', 'delete', 'patch'])
          : method
        ).toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, (name) => encodeURIComponent(idIn(path, name))) + query(parameters),
        headers: {
          ...(body !== undefined && { 'content-type': chance(0.02) ? pick(random, TYPES) : type }),
          ...(chance(0.1) && { 'x-openwebui-chat-id': `c${below(random, 5)}` }),
          ...(chance(0.05) && { 'x-troupe-thread-id': `t${below(random, 5)}` }),
          ...(chance(0.1) && {
            'idempotency-key': pick(random, ['k1', 'k2', `k${below(random, 1000)}`, '"', 'é']),
          }),
        },
        ...(body !== undefined && { body }),
      };
    },
    learn(said) {
      for (const [found] of said.slice(0, 20_000).matchAll(IDS)) ids.push(found);
      if (ids.length > MOST_IDS) ids.splice(0, ids.length - MOST_IDS);
    },
  };
};
