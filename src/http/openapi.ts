import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { type Answer, REQUEST_HEADERS, type RequestHeaderName } from './described.ts';
import { createRefusals, errorsOf, headersOf, refusedBy, SHARED_HEADERS } from './openapi-refusals.ts';
import { JSON_TYPE, plainText, type Reply } from './reply.ts';
import { type Route, route } from './route.ts';
import { paramNames } from './router.ts';

/**
 * The OpenAPI 3.1 document of a route table. Nothing is said there of a route that it does not say itself, but for
 * what the server does for all of them: the errors that it answers itself, and the headers that it reads and writes.
 */

export type OpenApiInfo = {
  title: string;
  version: string;
  description?: string;
  license?: { name: string; identifier: string };
  /** Of the tags of the routes, in the order in which they are shown. */
  tags?: readonly { name: string; description: string }[];
};

export const OPENAPI_PATH = '/openapi.json';

const ADMIN_SCHEME = 'adminBearer';

const SCHEMES = {
  [ADMIN_SCHEME]: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin token of the service (`SERVICE_ADMIN_API_BEARER_TOKEN`).',
  },
  extendedCardBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token for the extended agent card (`SERVICE_A2A_EXTENDED_CARD_BEARER_TOKEN`).',
  },
} as const;

export const createOpenApi = (routes: readonly Route[], { tags, ...info }: OpenApiInfo): object => {
  checkIds(routes);
  const paths: ZodOpenApiPathsObject = {};
  const answers = createAnswers();
  for (const { method, path, spec } of routes) {
    const template = path.replaceAll(/\/:(\w+)/g, '/{$1}');
    paths[template] = { ...paths[template], [method]: operation(path, spec, answers) };
  }
  const securitySchemes = schemesOf(routes);
  return createDocument(
    {
      openapi: '3.1.0',
      info,
      servers: [{ url: '/', description: 'The service that this document comes from' }],
      security: [],
      ...(tags && { tags: tags.filter(({ name }) => routes.some(({ spec }) => spec.tag === name)) }),
      paths,
      components: { securitySchemes, headers: SHARED_HEADERS },
    },
    // What may be any JSON has no words of its own in a schema.
    { override: fitForClients, allowEmptySchema: { custom: true, unknown: true } },
  );
};

/** A generated client has one function an operation, so two of one name would be a mistake of ours. */
const checkIds = (routes: readonly Route[]): void => {
  const seen = new Map<string, string>();
  for (const { method, path, spec } of routes) {
    const other = seen.get(spec.id);
    const name = `${method} ${path}`;
    if (other !== undefined) throw new Error(`two operations '${spec.id}': ${other} and ${name}`);
    seen.set(spec.id, name);
  }
};

type JsonSchema = z.core.JSONSchema.BaseSchema;

const fitForClients = ({ jsonSchema, io }: { jsonSchema: JsonSchema; io: string }): void => {
  if (io === 'output') allowNewFields(jsonSchema);
  else Object.values(jsonSchema.properties ?? {}).forEach(tellDefault);
};

/** Responses only grow (contract of `/v1`), so a schema of an answer does not forbid fields that it does not know. */
const allowNewFields = (schema: JsonSchema): void => {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
};

/** Generators take a field with a default for one that has to be there: in a body it is told in words. */
const tellDefault = (field: JsonSchema | boolean): void => {
  if (typeof field === 'boolean' || field.default === undefined) return;
  const { default: value, description } = field;
  delete field.default;
  if (description?.includes('default')) return;
  const told = `default \`${JSON.stringify(value)}\``;
  field.description = description === undefined ? told : `${description}; ${told}`;
};

type Answers = ReturnType<typeof createAnswers>;

const operation = (path: string, spec: Route['spec'], answers: Answers): ZodOpenApiOperationObject => ({
  operationId: spec.id,
  summary: spec.summary,
  ...(spec.description !== undefined && { description: spec.description }),
  ...(spec.tag !== undefined && { tags: [spec.tag] }),
  security: securityOf(spec).map((scheme) => ({ [scheme]: [] })),
  requestParams: parameters(path, spec),
  ...(spec.body && { requestBody: { required: true, content: bodyContent(spec, spec.body) } }),
  responses: answers(spec),
});

type Scheme = keyof typeof SCHEMES;

const securityOf = ({ scope, security }: Route['spec']): Scheme[] => {
  if (security !== undefined) return [security];
  return scope === 'admin' ? [ADMIN_SCHEME] : [];
};

const schemesOf = (routes: readonly Route[]) => {
  const used = new Set(routes.flatMap(({ spec }) => securityOf(spec)));
  return Object.fromEntries([...used].map((scheme) => [scheme, SCHEMES[scheme]]));
};

const bodyContent = (spec: Route['spec'], schema: z.ZodType) =>
  Object.fromEntries(
    [JSON_TYPE, ...(spec.reads === 'text' ? (errorsOf(spec).types ?? []) : [])].map((type) => [
      type,
      { schema },
    ]),
  );

/** Parameters in the path are text, whether or not the route has a schema for them. */
const parameters = (path: string, spec: Route['spec']): ZodOpenApiOperationObject['requestParams'] => {
  const names = paramNames(path);
  const { params, query, headers = [] } = spec;
  const known = params instanceof z.ZodObject ? params.shape : {};
  return {
    ...(names.length > 0 && {
      path: z.object(Object.fromEntries(names.map((name) => [name, known[name] ?? z.string()]))),
    }),
    // A query schema is an object, or a pipe that begins with one: the library looks for the object in it.
    ...(query && { query: query as z.ZodObject }),
    header: z.object(Object.fromEntries([...headers, 'X-Request-Id' as const].map(headerParameter))),
  };
};

/** By name; each is one component. */
const HEADERS = Object.fromEntries(
  Object.entries(REQUEST_HEADERS).map(([name, schema]) => [
    name,
    schema.optional().meta({ ...schema.meta(), param: { id: name.replaceAll('-', '') } }),
  ]),
);

const headerParameter = (name: RequestHeaderName) => [name, HEADERS[name]] as const;

const createAnswers = () => {
  const refusal = createRefusals();
  return (spec: Route['spec']): ZodOpenApiResponsesObject => {
    const described: ZodOpenApiResponsesObject = {};
    const errors = errorsOf(spec);
    const own = spec.responses;
    const statuses = new Set([...Object.keys(own).map(Number), ...refusedBy(spec)]);
    for (const status of [...statuses].sort((one, other) => one - other)) {
      const answer = own[status] ?? errors.schema;
      const shared = answer === errors.schema ? refusal(status, errors) : undefined;
      // Keys of the table are numbers, so these are texts of three digits.
      described[String(status) as `${1 | 2 | 3 | 4 | 5}${string}`] = shared ?? responseOf(answer);
    }
    return described;
  };
};

const responseOf = (answer: Answer): ZodOpenApiResponseObject => {
  if (typeof answer === 'string') return { description: answer, headers: headersOf() };
  if (answer instanceof z.ZodType) {
    return {
      description: answer.meta()?.description ?? 'OK',
      headers: headersOf(),
      content: { [JSON_TYPE]: { schema: answer } },
    };
  }
  const { description, content = {}, headers } = answer;
  return {
    description,
    headers: headersOf(headers),
    content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
  };
};

/** Built when it is first asked for, then kept. */
export const openApiRoute = (routes: readonly Route[], info: OpenApiInfo): Route => {
  let document: Reply | undefined;
  const self: Route = route.get(OPENAPI_PATH, {
    id: 'getOpenApi',
    summary: 'This document',
    description: 'What is served here and now: parts that the settings leave out are not in it.',
    tag: 'system',
    scope: 'none',
    responses: { 200: OpenApi },
    handle() {
      document ??= plainText(JSON.stringify(createOpenApi([...routes, self], info)), JSON_TYPE);
      return document;
    },
  });
  return self;
};

const OpenApi = z
  .looseObject({ openapi: z.string(), paths: z.looseObject({}) })
  .meta({ description: 'An OpenAPI 3.1 document.' });
