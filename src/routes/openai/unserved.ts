import type { Family } from '../../http/family.ts';
import {
  methodNotAllowed,
  OpenAiError,
  unknownUrl,
  unsupportedEndpoint,
} from '../../protocols/openai/errors.ts';
import { UNSERVED_PREFIXES, type Unserved } from './front-end-user.ts';

/** Requests for routes of OpenAI that this service does not have (openai.md 10): the error names the alternative. */

/** Paths below prefixes that have routes. */
const UNSERVED_PATHS: Readonly<Record<string, Unserved>> = {
  '/v1/chat/completions': { method: 'GET', use: 'completions are runs: use GET /v1/runs' },
  '/v1/responses/compact': { use: 'the context policy of an agent compacts its threads' },
  '/v1/responses/input_tokens': { use: 'the usage of a response has its tokens' },
};

export const unservedFamilies = (common: Omit<Family, 'path' | 'routes' | 'refuse'>): Family[] =>
  Object.entries(UNSERVED_PREFIXES).map(([path, { use }]) => ({
    ...common,
    path,
    routes: [],
    refuse: (request) => {
      throw unsupportedEndpoint(request.method, request.path, use);
    },
  }));

/** Refuses a request for which a family with routes has none. */
export const refuseUnrouted: Family['refuse'] = ({ method, path, allowed }) => {
  const unserved = Object.hasOwn(UNSERVED_PATHS, path) ? UNSERVED_PATHS[path] : undefined;
  if (unserved && (unserved.method ?? method) === method)
    throw unsupportedEndpoint(method, path, unserved.use);
  throw allowed.length > 0 ? methodNotAllowed(method, path, allowed) : unknownUrl(method, path);
};

/** Streams are server-sent events. */
export const refuseUpgrade: NonNullable<Family['check']> = ({ header }) =>
  header('upgrade')?.toLowerCase() === 'websocket'
    ? new OpenAiError(426, 'WebSocket is not served: use a stream of server-sent events.', {
        code: 'unsupported_endpoint',
      })
    : undefined;
