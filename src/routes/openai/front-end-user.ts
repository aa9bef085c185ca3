/** The paths of OpenAI, and the user that a front end names on them. It imports no routes, which are loaded later. */

export type Unserved = {
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
