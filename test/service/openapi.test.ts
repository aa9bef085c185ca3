import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { z } from 'zod';
import { spelledOut } from '../http/document.ts';
import { ask } from './http.ts';
import { traced } from './traced.ts';
import { startTroupe } from './troupe.ts';

/** The OpenAPI document of a whole service, and the limits of its bodies. */

type Schema = { [key: string]: unknown };

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  description: z.string().optional(),
  deprecated: z.boolean().optional(),
  schema: z.looseObject({ type: z.unknown() }),
});

const Operation = z.object({
  operationId: z.string(),
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  parameters: z.array(Parameter).default([]),
  requestBody: z
    .object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}) })) })
    .optional(),
  responses: z.record(z.string(), z.object({ headers: z.record(z.string(), z.unknown()).optional() })),
  security: z.array(z.unknown()).optional(),
});

const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }),
});

const { url } = await startTroupe(t, { settings: traced() });

const documentOf = async () => {
  const text = await (await ask(`${url}/openapi.json`)).text();
  const document = Document.parse(spelledOut(JSON.parse(text)));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
  return { text, document, operations };
};

/** Yields a schema and every schema within it, following references. */
function* within(
  schema: unknown,
  components: Record<string, Schema>,
  seen = new Set<unknown>(),
): Generator<Schema> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return;
  seen.add(schema);
  const own = schema as Schema;
  yield own;
  const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(String(own.$ref)) ?? [];
  yield* within(components[name], components, seen);
  for (const inner of Object.values(own)) yield* within(inner, components, seen);
}

t.test('limits every array in a request body', async (t) => {
  const { document, operations } = await documentOf();
  let lists = 0;
  for (const { name, operation } of operations) {
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
      for (const each of within(schema, document.components.schemas)) {
        if (each.type !== 'array') continue;
        lists += 1;
        t.type(each.maxItems, 'number', `${name}: ${JSON.stringify(each).slice(0, 80)}`);
      }
    }
  }
  t.ok(lists > 10);
});

t.test('describes arbitrary JSON as one named schema', async (t) => {
  const { text, document } = await documentOf();
  t.ok(document.components.schemas.Json);
  t.notMatch(text, '__schema', 'every recursive schema has a name');
});

t.test('declares 400, 413 and 415 for every route that reads a body', async (t) => {
  const { operations } = await documentOf();
  const reading = operations.filter(({ operation }) => operation.requestBody);
  t.ok(reading.length > 20);
  for (const { name, operation } of reading) {
    for (const status of ['400', '413', '415']) t.ok(status in operation.responses, `${name}: ${status}`);
  }
});

t.test('declares a success response for every route, and 200 for reads', async (t) => {
  const { operations } = await documentOf();
  for (const { name, operation } of operations) {
    const statuses = Object.keys(operation.responses);
    t.ok(
      statuses.some((status) => /^(?:2\d\d|30[23])$/.test(status)),
      name,
    );
    if (name.startsWith('get ')) t.ok(statuses.includes('200') || statuses.includes('303'), name);
    if (/^(?:patch|delete) /.test(name)) t.notOk(statuses.includes('201'), `${name} creates nothing`);
  }
});

t.test('describes every operation, parameter and schema, and groups every operation', async (t) => {
  const { document, operations } = await documentOf();
  for (const { name, operation } of operations) {
    t.ok(operation.summary && operation.description && operation.tags?.length === 1, name);
    for (const { name: parameter, description } of operation.parameters)
      t.ok(description, `${name}: ${parameter}`);
  }
  for (const [name, { description }] of Object.entries(document.components.schemas)) t.ok(description, name);
});

t.test('declares counts as integers and alias fields as deprecated', async (t) => {
  const { operations } = await documentOf();
  const all = operations.flatMap(({ name, operation }) =>
    operation.parameters.map((parameter) => ({ at: `${name}: ${parameter.name}`, ...parameter })),
  );
  for (const { at, schema } of all.filter(({ name }) => /^(?:limit|offset|pageSize)$/.test(name))) {
    t.equal(schema.type, 'integer', at);
  }
  const second = all.filter(({ description }) => description?.startsWith('alias of'));
  t.ok(second.length > 5);
  for (const { at, deprecated } of second) t.equal(deprecated, true, at);
});

t.test('declares the X-Request-Id header on every response', async (t) => {
  const { operations } = await documentOf();
  for (const { name, operation } of operations) {
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      t.ok('X-Request-Id' in headers, `${name}: ${status}`);
    }
  }
});

t.test('has examples that match their schemas', async (t) => {
  const { document } = await documentOf();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'openapi');
  let examples = 0;
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    for (const example of Array.isArray(schema.examples) ? schema.examples : []) {
      examples += 1;
      t.ok(
        ajv.validate({ $ref: `openapi#/components/schemas/${name}` }, example),
        `${name}: ${ajv.errorsText()}`,
      );
    }
  }
  t.ok(examples > 8);
});

t.test('declares 401 on every admin route', async (t) => {
  const { operations } = await documentOf();
  const admin = operations.filter(({ operation }) => operation.security?.length);
  t.ok(admin.length > 20);
  for (const { name, operation } of admin) t.ok('401' in operation.responses, name);
});

t.test('lists the values of every enumeration', async (t) => {
  const { document } = await documentOf();
  const allowed = (method: string, path: string, name: string): unknown =>
    document.paths[path]?.[method]?.parameters.find((parameter) => parameter.name === name)?.schema.enum;
  t.strictSame(allowed('get', '/v1/runs', 'status'), ['created', 'running', 'waiting', 'done']);
  t.strictSame(allowed('get', '/v1/threads/{id}/messages', 'order'), ['asc', 'desc']);
  t.strictSame(allowed('get', '/v1/threads/{id}/messages', 'visibility'), ['external', 'internal', 'all']);
  t.strictSame(allowed('delete', '/v1/threads/{id}', 'child_strategy'), ['detach', 'reject', 'cascade']);
  t.match(allowed('get', '/v1/config/{ns}', 'ns'), ['agents', 'models']);
  t.match(document.components.schemas.Decision, { properties: { action: { enum: ['resume', 'cancel'] } } });
});
