import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { ErrorBody } from '../schema/error-body.ts';
import { JSON_TYPE, plainText, type Reply } from './reply.ts';
import { type Route, route } from './route.ts';
import { paramNames } from './router.ts';

/** The OpenAPI 3.1 document of a route table. Nothing is said there that a route does not say itself. */

export type OpenApiInfo = { title: string; version: string; description?: string };

export const OPENAPI_PATH = '/openapi.json';

const ADMIN_SCHEME = 'adminBearer';

export const createOpenApi = (routes: readonly Route[], info: OpenApiInfo): object => {
  const paths: ZodOpenApiPathsObject = {};
  for (const { method, path, spec } of routes) {
    const template = path.replaceAll(/\/:(\w+)/g, '/{$1}');
    paths[template] = { ...paths[template], [method]: operation(method, path, spec) };
  }
  return createDocument(
    {
      openapi: '3.1.0',
      info,
      paths,
      components: { securitySchemes: { [ADMIN_SCHEME]: { type: 'http', scheme: 'bearer' } } },
    },
    // What may be any JSON has no words of its own in a schema.
    { override: allowNewFields, allowEmptySchema: { custom: true } },
  );
};

/** Responses only grow (contract of `/v1`), so a schema of an answer does not forbid fields that it does not know. */
const allowNewFields = ({
  jsonSchema,
  io,
}: {
  jsonSchema: z.core.JSONSchema.BaseSchema;
  io: string;
}): void => {
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

const operation = (method: string, path: string, spec: Route['spec']): ZodOpenApiOperationObject => ({
  operationId: `${method}${path.replaceAll(/[^a-zA-Z0-9]+/g, '_')}`,
  summary: spec.summary,
  ...(spec.tag !== undefined && { tags: [spec.tag] }),
  ...(spec.scope === 'admin' && { security: [{ [ADMIN_SCHEME]: [] }] }),
  requestParams: parameters(path, spec),
  ...(spec.body && { requestBody: { required: true, content: { [JSON_TYPE]: { schema: spec.body } } } }),
  responses: responses(spec),
});

/** Parameters in the path are text, whether or not the route has a schema for them. */
const parameters = (path: string, spec: Route['spec']): ZodOpenApiOperationObject['requestParams'] => {
  const names = paramNames(path);
  const { params, query } = spec;
  const known = params instanceof z.ZodObject ? params.shape : {};
  return {
    ...(names.length > 0 && {
      path: z.object(Object.fromEntries(names.map((name) => [name, known[name] ?? z.string()]))),
    }),
    // A query schema is an object, or a pipe that begins with one: the library looks for the object in it.
    ...(query && { query: query as z.ZodObject }),
  };
};

const responses = (spec: Route['spec']): ZodOpenApiResponsesObject => {
  const described: ZodOpenApiResponsesObject = {};
  for (const [status, content] of Object.entries({ ...ofEveryBody(spec), ...spec.responses })) {
    // Keys of the table are numbers, so these are texts of three digits.
    described[status as `${1 | 2 | 3 | 4 | 5}${string}`] =
      typeof content === 'string'
        ? { description: content }
        : {
            description: content.meta()?.description ?? 'JSON',
            content: { [JSON_TYPE]: { schema: content } },
          };
  }
  return described;
};

/** What the server itself refuses wherever it reads a body, in the form that the route has for its errors. */
const ofEveryBody = ({
  body,
  responses: { 400: form = ErrorBody },
}: Route['spec']): Route['spec']['responses'] => (body ? { 400: form, 413: form, 415: form } : {});

/** Built when it is first asked for, then kept. */
export const openApiRoute = (routes: readonly Route[], info: OpenApiInfo): Route => {
  let document: Reply | undefined;
  const self: Route = route.get(OPENAPI_PATH, {
    summary: 'This document',
    scope: 'none',
    responses: { 200: 'OpenAPI 3.1' },
    handle() {
      document ??= plainText(JSON.stringify(createOpenApi([...routes, self], info)), JSON_TYPE);
      return document;
    },
  });
  return self;
};
