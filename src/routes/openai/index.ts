import type { Family } from '../../http/family.ts';
import type { Route } from '../../http/route.ts';
import { openAiErrors } from '../../protocols/openai/errors.ts';
import { PROCESSING_HEADER } from '../../protocols/openai/response-headers.ts';
import { chatRoutes } from './chat.ts';
import { conversationRoutes } from './conversations.ts';
import { modelRoutes } from './models.ts';
import type { OpenAiDeps } from './openai-deps.ts';
import { responseRoutes } from './responses.ts';
import { refuseUnrouted, refuseUpgrade, unservedFamilies } from './unserved.ts';

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
