import type { ZodOpenApiResponseObject } from 'zod-openapi';

import { ErrorBody } from '../schema/error-body.ts';
import type { ErrorDescription } from './described.ts';
import { createDoor } from './needs.ts';
import { JSON_TYPE } from './reply.ts';
import type { Route } from './route.ts';

type Header = { description: string; schema: { type: 'string' } };

type Headers = Record<string, Header | { $ref: string }>;

type Refused = { name: string; description: string; headers?: Readonly<Record<string, string>> };

type Refusals = Readonly<Record<number, Refused>>;

/** Errors of the server itself, and of any route with such a status. The document contains each once, by name. */
export const REFUSED = {
  400: { name: 'BadRequest', description: 'The request, its query or its JSON is malformed.' },
  401: {
    name: 'Unauthorized',
    description: 'The credential is missing or wrong, or the caller has no scope.',
    headers: { 'WWW-Authenticate': 'What is to be shown: `Bearer`.' },
  },
  402: { name: 'BudgetExhausted', description: 'A budget that stops runs is exhausted.' },
  403: {
    name: 'Forbidden',
    description:
      'The principal lacks a grant, the `Host` of the request is not accepted, or a page of another site sent a request that is not read-only.',
  },
  404: { name: 'NotFound', description: 'No resource has this id.' },
  408: { name: 'RequestTimeout', description: 'The body was not complete in time.' },
  409: { name: 'Conflict', description: 'The request conflicts with the current state.' },
  410: { name: 'Gone', description: 'The cursor is unknown or expired: restart without a cursor.' },
  413: {
    name: 'TooLarge',
    description: 'The body exceeds its limit, or the thread would exceed its size limit.',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The media type or encoding of the body is not supported.',
  },
  422: {
    name: 'Unprocessable',
    description:
      'The JSON of the body does not match the schema, or the `Idempotency-Key` was used for another request.',
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many wrong credentials came from the address of the client.',
    headers: { 'Retry-After': 'Seconds after which to try again.' },
  },
  500: { name: 'Internal', description: 'Internal error; the text contains the request id for the log.' },
  501: { name: 'NotImplemented', description: 'The service is not configured for this request.' },
  503: {
    name: 'Unavailable',
    description: 'The service is overloaded or stopping, or a part of it does not respond: retry.',
    headers: { 'Retry-After': 'Seconds after which to try again.' },
  },
} satisfies Refusals;

const PLAIN: ErrorDescription = { schema: ErrorBody, prefix: '' };

/** Returns the form of the errors of a route. */
export const errorsOf = ({ errors = PLAIN }: Route['spec']): ErrorDescription => errors;

/** Statuses that every route can return. */
const ALWAYS = [400, 403, 500, 503];
const OF_CREDENTIALS = [401, 429];
/** A name of several visible threads. */
const OF_NAMES = [409];
const OF_BUDGETS = [402];
const OF_BODY = [408, 413, 415];
const OF_SHAPE = [422];

/** Returns the statuses of refusals by the server itself. */
export const refusedBy = ({ needs, security, params, body, reads, idempotent }: Route['spec']): number[] => [
  ...ALWAYS,
  ...(needs === 'nothing' && security === undefined ? [] : OF_CREDENTIALS),
  ...(params && createDoor(needs).surface === 'agent-invocation' ? OF_NAMES : []),
  ...(body && needs === 'invoke' ? OF_BUDGETS : []),
  ...(body ? OF_BODY : []),
  ...((body && reads === undefined) || idempotent ? OF_SHAPE : []),
];

/** Creates one response component per status and form, so that the document can refer to it. */
export const createRefusals = () => {
  const refusals: Refusals = REFUSED;
  const known = new Map<string, ZodOpenApiResponseObject>();
  return (
    status: number,
    { schema, prefix, types = [] }: ErrorDescription,
  ): ZodOpenApiResponseObject | undefined => {
    const refused = refusals[status];
    if (!refused) return undefined;
    const { name, description, headers } = refused;
    const id = prefix + name;
    const response = known.get(id) ?? {
      id,
      description,
      headers: describeHeaders(headers),
      content: Object.fromEntries([JSON_TYPE, ...types].map((type) => [type, { schema }])),
    };
    known.set(id, response);
    return response;
  };
};

/** Describes headers by name. Every response carries the request id. */
export const describeHeaders = (headers: Readonly<Record<string, string>> = {}): Headers => ({
  'X-Request-Id': { $ref: '#/components/headers/XRequestId' },
  ...described(headers),
});

const described = (headers: Readonly<Record<string, string>>): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

/** Headers that responses refer to. */
export const SHARED_HEADERS = {
  XRequestId: {
    description: 'Id of the request, also in the log: the id that the client sent, or a new one.',
    schema: { type: 'string' },
  },
} as const;
