import type { ZodOpenApiResponseObject } from 'zod-openapi';

import { ErrorBody } from '../schema/error-body.ts';
import type { ErrorDescription } from './described.ts';
import { JSON_TYPE } from './reply.ts';
import type { Route } from './route.ts';

type Header = { description: string; schema: { type: 'string' } };

type Headers = Record<string, Header | { $ref: string }>;

/** Answers of the server itself, and of any route under a status that is an error: each is said once, by name. */

type Refused = { name: string; description: string; headers?: Readonly<Record<string, string>> };

const REFUSED: Readonly<Record<number, Refused>> = {
  400: { name: 'BadRequest', description: 'The request, its query or its JSON is malformed.' },
  401: {
    name: 'Unauthorized',
    description: 'A token is missing or wrong, or the caller has no scope.',
    headers: { 'WWW-Authenticate': 'What is to be shown: `Bearer`.' },
  },
  403: {
    name: 'Forbidden',
    description:
      'The host that the request names is none of this service, or a page of another site sent what would change something.',
  },
  404: { name: 'NotFound', description: 'There is nothing under this id.' },
  408: { name: 'RequestTimeout', description: 'The body has not ended in time.' },
  409: { name: 'Conflict', description: 'It does not fit to what is there.' },
  410: { name: 'Gone', description: 'The cursor is of no event that is kept: begin anew.' },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than the service takes, or the thread would hold more than it may.',
  },
  415: { name: 'UnsupportedMediaType', description: 'The body is of another type, or encoded.' },
  422: { name: 'Unprocessable', description: 'The JSON of the body has another shape.' },
  429: {
    name: 'TooManyRequests',
    description: 'Too many wrong admin tokens have come from the address of the client.',
    headers: { 'Retry-After': 'Seconds after which to try again.' },
  },
  500: { name: 'Internal', description: 'A fault of the service; the text names the request id of the log.' },
  501: { name: 'NotImplemented', description: 'The service is not set up for it.' },
  503: {
    name: 'Unavailable',
    description: 'Too much at once, the service stops, or a part of it does not answer: try again.',
    headers: { 'Retry-After': 'Seconds after which to try again.' },
  },
};

const PLAIN: ErrorDescription = { schema: ErrorBody, prefix: '' };

/** In the form that the route has for its errors. */
export const errorsOf = ({ errors = PLAIN }: Route['spec']): ErrorDescription => errors;

/** Whatever the route is. */
const ALWAYS = [400, 403, 500, 503];
const OF_SCOPE = [401];
const OF_BODY = [408, 413, 415];
const OF_ADMIN = [429];
const OF_SHAPE = [422];

/** Statuses that the server itself may answer with. */
export const refusedBy = ({ scope, body, reads }: Route['spec']): number[] => [
  ...ALWAYS,
  ...(scope === 'none' ? [] : OF_SCOPE),
  ...(scope === 'admin' ? OF_ADMIN : []),
  ...(body ? OF_BODY : []),
  ...(body && reads === undefined ? OF_SHAPE : []),
];

/** One for each status and form, so that the document refers to it. */
export const createRefusals = () => {
  const known = new Map<string, ZodOpenApiResponseObject>();
  return (
    status: number,
    { schema, prefix, types = [] }: ErrorDescription,
  ): ZodOpenApiResponseObject | undefined => {
    const refused = REFUSED[status];
    if (!refused) return undefined;
    const { name, description, headers } = refused;
    const id = prefix + name;
    const response = known.get(id) ?? {
      id,
      description,
      headers: headersOf(headers),
      content: Object.fromEntries([JSON_TYPE, ...types].map((type) => [type, { schema }])),
    };
    known.set(id, response);
    return response;
  };
};

/** By name: what it says. Every answer names its request. */
export const headersOf = (headers: Readonly<Record<string, string>> = {}): Headers => ({
  'X-Request-Id': { $ref: '#/components/headers/XRequestId' },
  ...described(headers),
});

const described = (headers: Readonly<Record<string, string>>): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  );

/** What answers refer to. */
export const SHARED_HEADERS = {
  XRequestId: {
    description: 'Names the request, also in the log: the one that the client gave, or a new one.',
    schema: { type: 'string' },
  },
} as const;
