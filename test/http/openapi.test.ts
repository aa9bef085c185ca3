import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { ErrorBody } from '../../src/schema/error-body.ts';
import { Limit } from '../../src/schema/paging.ts';
import { Thread } from '../../src/schema/thread.ts';
import { spelledOut } from './document.ts';
import { serve } from './serve.ts';

const routes = [
  route.get('/v1/threads', {
    id: 'getThreads',
    summary: 'List',
    tag: 'threads',
    needs: 'invoke',
    query: z
      .object({ limit: Limit, root: z.enum(['true', 'false']).optional() })
      .transform(({ limit }) => ({ limit })),
    responses: { 200: z.array(Thread), 400: ErrorBody },
    handle: () => [],
  }),
  route.post('/v1/threads', {
    id: 'postThreads',
    summary: 'Create',
    needs: 'invoke',
    body: z.object({ title: z.string().nullish() }).transform(({ title }) => title ?? ''),
    responses: { 201: Thread, 422: ErrorBody },
    handle: ({ body }) => body,
  }),
  route.delete('/v1/threads/:id/parts/:part', {
    id: 'deleteThreadsIdPartsPart',
    summary: 'Delete',
    needs: 'observe',
    params: z.object({ id: z.string(), part: z.string() }),
    responses: { 204: 'deleted', 401: ErrorBody },
    handle: () => undefined,
  }),
];

const Operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()).optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-grants': z.array(z.string()).optional(),
  parameters: z
    .array(
      z.object({
        in: z.enum(['path', 'query', 'header']),
        name: z.string(),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.json() })) }).optional(),
  responses: z.record(
    z.string().regex(/^\d{3}$/),
    z.object({
      description: z.string(),
      content: z.record(z.string(), z.object({ schema: z.json() })).optional(),
    }),
  ),
});

const Document = z.object({
  openapi: z.literal('3.1.0'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), Operation)),
  components: z.object({
    schemas: z.record(z.string(), z.json()),
    securitySchemes: z.record(z.string(), z.json()),
  }),
});

const documentAt = async (url: string) =>
  Document.parse(spelledOut(JSON.parse(await (await fetch(`${url}/openapi.json`)).text())));

t.test('lists every route, including itself, as OpenAPI 3.1', async (t) => {
  const { url } = await serve(t, routes);
  const response = await fetch(`${url}/openapi.json`);
  t.equal(response.headers.get('content-type'), 'application/json');
  const text = await response.text();
  const document = Document.parse(spelledOut(JSON.parse(text)));
  t.strictSame(document.info, { title: 'Test', version: '1.2.3' });
  t.strictSame(
    Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)]),
    [
      ['/v1/threads', ['get', 'post']],
      ['/v1/threads/{id}/parts/{part}', ['delete']],
      ['/openapi.json', ['get']],
    ],
  );
  t.equal(await (await fetch(`${url}/openapi.json`)).text(), text);
});

t.test('describes an operation as its route declares', async (t) => {
  const { url } = await serve(t, routes);
  const { paths, components } = await documentAt(url);
  const list = paths['/v1/threads']?.get;
  t.match(list, { summary: 'List', tags: ['threads'] });
  t.strictSame(list?.security, [{ adminBearer: [] }, { bearer: [] }, { session: [] }]);
  t.match(list, { 'x-grants': ['invoke'] });
  t.match(list?.parameters, [
    { in: 'query', name: 'limit' },
    { in: 'query', name: 'root' },
  ]);
  t.notOk(list?.parameters?.[0]?.required);
  // Includes the responses that the server may send on any route.
  t.strictSame(Object.keys(list?.responses ?? {}), ['200', '400', '401', '403', '429', '500', '503']);
  t.ok(paths['/v1/threads']?.post?.requestBody?.content['application/json']);

  const remove = paths['/v1/threads/{id}/parts/{part}']?.delete;
  t.match(remove, {
    security: [{ adminBearer: [] }, { bearer: [] }, { session: [] }],
    parameters: [
      { in: 'path', name: 'id', required: true },
      { in: 'path', name: 'part', required: true },
    ],
    responses: { 204: { description: 'deleted' } },
  });
  t.equal(remove?.responses['204']?.content, undefined);
  t.match(components.securitySchemes, { adminBearer: { type: 'http', scheme: 'bearer' } });
});

t.test('lists schemas with an id as components with valid references, open for new fields', async (t) => {
  const { url } = await serve(t, routes);
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const { components } = Document.parse(spelledOut(JSON.parse(text)));
  t.ok(components.schemas.Thread);
  t.ok(components.schemas.Error);
  for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    t.ok(name in components.schemas, name);
  }
  t.notMatch(JSON.stringify(components.schemas.Thread), 'additionalProperties":false');
});

t.test('assigns unique operation ids', async (t) => {
  const { url } = await serve(t, routes);
  const { paths } = await documentAt(url);
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map((operation) => operation?.operationId),
  );
  t.equal(new Set(ids).size, ids.length);
});
