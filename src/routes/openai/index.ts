import type { Family } from '../../http/family.ts';
import type { Route } from '../../http/route.ts';
import { openAiErrors } from '../../protocols/openai/errors.ts';
import { PROCESSING_HEADER } from '../../protocols/openai/response-headers.ts';
import { chatRoutes } from './chat.ts';
import { conversationRoutes } from './conversations.ts';
import { modelRoutes } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';
import { responseRoutes } from './responses.ts';
import { refuseUnrouted, refuseUpgrade, UNSERVED_PREFIXES, unservedFamilies } from './unserved.ts';

/** The routes for clients of OpenAI (openai.md 1). All errors below their prefixes have the form of the protocol. */
export const createOpenAiFamilies = (deps: OpenAiDeps): Family[] => [
  ...routesByPrefix(deps).map(([path, routes]) => ({ ...COMMON, path, routes, refuse: refuseUnrouted })),
  ...unservedFamilies(COMMON),
];

const routesByPrefix = (deps: OpenAiDeps): [prefix: string, routes: readonly Route[]][] => [
  ['/v1/models', modelRoutes(deps)],
  ['/v1/chat', chatRoutes(deps)],
  ['/v1/responses', responseRoutes(deps)],
  ['/v1/conversations', conversationRoutes(deps)],
];

const COMMON = {
  needs: 'invoke',
  errors: () => openAiErrors,
  processingHeader: PROCESSING_HEADER,
  check: refuseUpgrade,
} as const;

const PREFIXES = [
  '/v1/models',
  '/v1/chat',
  '/v1/responses',
  '/v1/conversations',
  '/v1/files',
  ...Object.keys(UNSERVED_PREFIXES),
];

const isOpenAiRoute = (route: string): boolean =>
  PREFIXES.some((prefix) => route === prefix || route.startsWith(`${prefix}/`));

/** Returns the end user that a front end names in its own header (openai.md 2.6). */
export const createFrontEndUser =
  ({ enabled, user_headers }: { enabled: boolean; user_headers: readonly string[] }) =>
  ({ route, header }: { route: string; header(name: string): string | undefined }): string | undefined => {
    if (!enabled || !isOpenAiRoute(route)) return undefined;
    for (const name of user_headers) {
      const user = header(name);
      if (user !== undefined) return user;
    }
    return undefined;
  };
