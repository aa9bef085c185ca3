import type { Family } from '../../http/family.ts';
import {
  methodNotAllowed,
  OpenAiError,
  unknownUrl,
  unsupportedEndpoint,
} from '../../protocols/openai/errors.ts';

/** Requests for routes of OpenAI that this service does not have (openai.md 10): the error names the alternative. */

type Unserved = {
  /** Without a method, all of them. */
  method?: string;
  use: string;
};

/** Prefixes without any route. */
export const UNSERVED_PREFIXES: Readonly<Record<string, Unserved>> = {
  '/v1/embeddings': { use: 'agents embed nothing, so point retrieval at a provider' },
  '/v1/completions': { use: 'use POST /v1/chat/completions' },
  '/v1/uploads': { use: 'use POST /v1/files' },
  '/v1/vector_stores': { use: 'give the agent a search tool' },
  '/v1/assistants': { use: 'agents are models: use POST /v1/responses' },
  '/v1/audio': { use: 'point speech at a provider' },
  '/v1/images': { use: 'give the agent a tool that makes images' },
  '/v1/moderations': { use: 'use a permission policy of the agent' },
  '/v1/batches': { use: 'use POST /v1/threads/:id/mailbox' },
};

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
