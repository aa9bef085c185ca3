import t from 'tap';
import { z } from 'zod';
import { spelledOut } from '../http/document.ts';
import { startTroupe } from './troupe.ts';

/** What the OpenAPI document of a whole service promises, and what its bodies are bounded by. */

type Schema = { [key: string]: unknown };

const Operation = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.string(), schema: z.looseObject({}) })).default([]),
  requestBody: z
    .object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}) })) })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
  security: z.array(z.unknown()).optional(),
});

const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }),
});

const documentOf = async (t: Parameters<typeof startTroupe>[0]) => {
  const { url } = await startTroupe(t);
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const document = Document.parse(spelledOut(JSON.parse(text)));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );
  return { text, document, operations };
};

/** Every schema that a schema holds, itself too; references are followed. */
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

t.test('every list of every body has a cap', async (t) => {
  const { document, operations } = await documentOf(t);
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

t.test('any JSON is one named schema', async (t) => {
  const { text, document } = await documentOf(t);
  t.ok(document.components.schemas.Json);
  t.notMatch(text, '__schema', 'nothing refers to itself without a name');
});

t.test('wherever a body is read, it may be refused for its size, its type and its JSON', async (t) => {
  const { operations } = await documentOf(t);
  const reading = operations.filter(({ operation }) => operation.requestBody);
  t.ok(reading.length > 20);
  for (const { name, operation } of reading) {
    for (const status of ['400', '413', '415']) t.ok(status in operation.responses, `${name}: ${status}`);
  }
});

t.test(
  'every route says how it answers when all is well, and what is read is answered with 200',
  async (t) => {
    const { operations } = await documentOf(t);
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses);
      t.ok(
        statuses.some((status) => /^2\d\d$/.test(status)),
        name,
      );
      if (name.startsWith('get ')) t.ok(statuses.includes('200'), name);
      if (/^(?:patch|delete) /.test(name)) t.notOk(statuses.includes('201'), `${name} makes nothing new`);
    }
  },
);

t.test('a route of the admin surface says that it is refused without the token', async (t) => {
  const { operations } = await documentOf(t);
  const admin = operations.filter(({ operation }) => operation.security?.length);
  t.ok(admin.length > 20);
  for (const { name, operation } of admin) t.ok('401' in operation.responses, name);
});

t.test('where only some values are taken, they are listed', async (t) => {
  const { document } = await documentOf(t);
  const allowed = (method: string, path: string, name: string): unknown =>
    document.paths[path]?.[method]?.parameters.find((parameter) => parameter.name === name)?.schema.enum;
  t.strictSame(allowed('get', '/v1/runs', 'status'), ['created', 'running', 'waiting', 'done']);
  t.strictSame(allowed('get', '/v1/threads/{id}/messages', 'order'), ['asc', 'desc']);
  t.strictSame(allowed('get', '/v1/threads/{id}/messages', 'visibility'), ['external', 'internal', 'all']);
  t.strictSame(allowed('delete', '/v1/threads/{id}', 'child_strategy'), ['detach', 'reject', 'cascade']);
  t.match(allowed('get', '/v1/config/{ns}', 'ns'), ['agents', 'models']);
  const decision =
    document.paths['/v1/runs/{id}/decision']?.post?.requestBody?.content['application/json']?.schema;
  t.match(decision, { properties: { action: { enum: ['resume', 'cancel'] } } });
});
