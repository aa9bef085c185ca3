import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { SESSION_COOKIE } from './cookies.ts';
import { type Answer, isEventStream, REQUEST_HEADERS, type RequestHeaderName } from './described.ts';
import { createDoor } from './needs.ts';
import { createRefusals, describeHeaders, errorsOf, refusedBy, SHARED_HEADERS } from './openapi-refusals.ts';
import { JSON_TYPE } from './reply.ts';
import type { Route } from './route.ts';
import { paramNames } from './router.ts';

/**
 * Generates the OpenAPI 3.1 document of a route table. Each route describes itself; only the errors that the server
 * returns itself, and the headers that it reads and writes, are added to all routes.
 */

export type OpenApiInfo = {
  title: string;
  version: string;
  description?: string;
  license?: { name: string; identifier: string };
  externalDocs?: { description: string; url: string };
  /** Whether requests without a credential may invoke agents. */
  isOpen?: boolean;
  /** Tags of the routes in display order. */
  tags?: readonly { name: string; description: string }[];
};

const SCHEMES = {
  adminBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin token of the service (`SERVICE_ADMIN_API_BEARER_TOKEN`), which has every grant.',
  },
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key of a user that has one of the grants in `x-grants`; any key if the list is empty.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'A session of a browser, over https only. Requests that change state must come from the own origin.',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'A ticket of `POST /v1/tickets`, for one event stream.',
  },
  extendedCardBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token for the extended agent card (`SERVICE_A2A_EXTENDED_CARD_BEARER_TOKEN`).',
  },
} as const;

export const createOpenApi = (
  routes: readonly Route[],
  { tags, externalDocs, isOpen = false, ...info }: OpenApiInfo,
): object => {
  checkIds(routes);
  const paths: ZodOpenApiPathsObject = {};
  const answers = createAnswers();
  for (const { method, path, spec } of routes) {
    const template = path.replaceAll(/\/:(\w+)\*?/g, '/{$1}');
    paths[template] = {
      ...paths[template],
      [method]: operation(path, { method, spec }, { answers, isOpen }),
    };
  }
  const securitySchemes = schemesOf(routes);
  return createDocument(
    {
      openapi: '3.1.0',
      info,
      servers: [{ url: '/', description: 'The service that this document comes from' }],
      security: [],
      ...(externalDocs && { externalDocs }),
      ...(tags && { tags: tags.filter(({ name }) => routes.some(({ spec }) => spec.tag === name)) }),
      paths,
      components: { securitySchemes, headers: SHARED_HEADERS },
    },
    // Schemas of arbitrary JSON are empty.
    { override: fitForClients, allowEmptySchema: { custom: true, unknown: true } },
  );
};

/** A generated client has one function per operation, so duplicate ids are a programming error. */
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
  else Object.values(jsonSchema.properties ?? {}).forEach(describeDefault);
};

/** Responses may gain fields (contract of `/v1`), so response schemas do not forbid unknown fields. */
const allowNewFields = (schema: JsonSchema): void => {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
};

/** Generators treat a field with a default as required, so request bodies describe the default in prose instead. */
const describeDefault = (field: JsonSchema | boolean): void => {
  if (typeof field === 'boolean' || field.default === undefined) return;
  const { default: value, description } = field;
  delete field.default;
  if (description?.includes('default')) return;
  const described = `default \`${JSON.stringify(value)}\``;
  field.description = description === undefined ? described : `${description}; ${described}`;
};

type Answers = ReturnType<typeof createAnswers>;

type Described = Pick<Route, 'method' | 'spec'>;

const operation = (
  path: string,
  { method, spec }: Described,
  { answers, isOpen }: { answers: Answers; isOpen: boolean },
): ZodOpenApiOperationObject => ({
  operationId: spec.id,
  summary: spec.summary,
  ...(spec.description !== undefined && { description: spec.description }),
  ...(spec.tag !== undefined && { tags: [spec.tag] }),
  ...securityOf({ method, spec }, isOpen),
  requestParams: parameters(path, spec),
  ...(spec.body && { requestBody: { required: true, content: bodyContent(spec, spec.body) } }),
  responses: answers(spec),
});

type Scheme = keyof typeof SCHEMES;

type Alternatives = [Record<string, string[]>, ...Record<string, string[]>[]];

/** An operation that reads a credential names its grants; any principal may use one without grants. */
type Security = { security: [] } | { security: Alternatives; 'x-grants': string[] };

/** Returns the alternatives of credentials; an empty one where none is needed. */
const securityOf = ({ method, spec }: Described, isOpen: boolean): Security => {
  const { surface, isOptional: admitsNobody, grants } = createDoor(spec.needs);
  const isOptional =
    (admitsNobody && surface !== undefined) ||
    (isOpen && spec.security === undefined && (surface === 'agent-invocation' || spec.anonymous === true));
  const [first, ...others] = [
    ...(isOptional ? [{}] : []),
    ...schemeNames({ method, spec }).map((scheme) => ({ [scheme]: [] })),
  ];
  return first ? { security: [first, ...others], 'x-grants': [...grants] } : { security: [] };
};

const schemeNames = ({ method, spec }: Described): Scheme[] => {
  const { needs, security, errors } = spec;
  const own: Scheme[] = security === undefined ? [] : [security];
  if (needs === 'nothing') return own;
  // Protocols with errors of another form are not for `EventSource`.
  const hasTickets = errors === undefined && isEventStream({ method, spec });
  return [...own, 'adminBearer', 'bearer', 'session', ...(hasTickets ? (['ticket'] as const) : [])];
};

const schemesOf = (routes: readonly Route[]) => {
  const used = new Set(routes.flatMap(schemeNames));
  return Object.fromEntries([...used].map((scheme) => [scheme, SCHEMES[scheme]]));
};

const bodyContent = (spec: Route['spec'], schema: z.ZodType) =>
  Object.fromEntries(bodyTypes(spec).map((type) => [type, { schema }]));

const bodyTypes = (spec: Route['spec']): readonly string[] => {
  if (spec.reads === 'stream') return ['multipart/form-data'];
  return [JSON_TYPE, ...(spec.reads === 'text' ? (errorsOf(spec).types ?? []) : [])];
};

/** Path parameters are documented as text even without a schema. */
const parameters = (path: string, spec: Route['spec']): ZodOpenApiOperationObject['requestParams'] => {
  const names = paramNames(path);
  const { params, query, headers = [], idempotent } = spec;
  const known = params instanceof z.ZodObject ? params.shape : {};
  return {
    ...(names.length > 0 && {
      path: z.object(Object.fromEntries(names.map((name) => [name, known[name] ?? z.string()]))),
    }),
    // A query schema is an object, or a pipe that begins with one: the library searches for the object in it.
    ...(query && { query: query as z.ZodObject }),
    header: z.object(
      Object.fromEntries(
        [...headers, ...(idempotent ? KEY : []), 'X-Request-Id' as const].map(headerParameter),
      ),
    ),
  };
};

const KEY = ['Idempotency-Key'] as const;

/** Header components by name. */
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
      // The keys of the table are numbers, so these are strings of three digits.
      described[String(status) as `${1 | 2 | 3 | 4 | 5}${string}`] = shared ?? responseOf(answer);
    }
    return described;
  };
};

const responseOf = (answer: Answer): ZodOpenApiResponseObject => {
  if (typeof answer === 'string') return { description: answer, headers: describeHeaders() };
  if (answer instanceof z.ZodType) {
    return {
      description: answer.meta()?.description ?? 'OK',
      headers: describeHeaders(),
      content: { [JSON_TYPE]: { schema: answer } },
    };
  }
  const { description, content = {}, headers } = answer;
  return {
    description,
    headers: describeHeaders(headers),
    content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
  };
};
