import { Unauthorized } from '../schema/outcome.ts';
import type { Surface } from './route.ts';

/** The scope of a request comes from a trusted provider, never from the client (config.md 1.3). */

/** What a scope provider may look at. */
export type RequestHead = { method: string; path: string; header(name: string): string | undefined };

export type ScopeSurface = 'admin' | 'agent_invoke';

export type ScopeProvider = (surface: ScopeSurface, head: RequestHead) => string | Promise<string>;

const surfaces = { admin: 'admin', 'agent-invocation': 'agent_invoke' } as const;

/** At once when the provider answers at once. @throws Unauthorized, also as rejection */
export const resolveScope = (
  provider: ScopeProvider,
  surface: Exclude<Surface, 'none'>,
  head: RequestHead,
): string | Promise<string> => {
  try {
    const scope = provider(surfaces[surface], head);
    return typeof scope === 'string' ? checkScope(scope) : scope.then(checkScope).catch(refuse);
  } catch (error) {
    return refuse(error);
  }
};

const checkScope = (scope: string): string => {
  if (scope.trim() === '') throw new Error('the scope id is blank');
  if (Buffer.byteLength(scope) > 512) throw new Error('the scope id is longer than 512 bytes');
  if (/\p{Cc}/u.test(scope)) throw new Error('the scope id has control characters');
  return scope;
};

const refuse = (error: unknown): never => {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Unauthorized(`scope resolution failed: ${reason}`, { cause: error });
};
