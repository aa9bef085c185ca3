import { Unauthorized } from '../schema/outcome.ts';
import type { Surface } from '../schema/presented.ts';
import { checkScope } from '../schema/principal.ts';

/** The scope of a request comes from a trusted provider, never from the client (config.md 1.3). */

/**
 * The parts of a request that a scope provider may read. `path` has no query.
 *
 * @example
 * ```ts
 * const keyOf = (head: RequestHead): string | undefined => head.header('x-api-key');
 * ```
 */
export type RequestHead = { method: string; path: string; header(name: string): string | undefined };

/**
 * The routes that a request addresses: those of the admin API, or those that invoke agents (config.md 1.3).
 *
 * @example
 * ```ts
 * const scopeOf = (surface: ScopeSurface, tenant: string): string => (surface === 'admin' ? 'operators' : tenant);
 * ```
 */
export type ScopeSurface = 'admin' | 'agent_invoke';

/**
 * Assigns a scope to each request (config.md 1.3). The scope must follow from a credential, because a client could
 * send any name of a tenant. A provider that throws rejects the request with status 401. A scope is a text of 1 to
 * 512 bytes without control characters.
 *
 * @example
 * ```ts
 * const tenants = new Map([['key-of-acme', 'acme']]);
 * const resolveScope: ScopeProvider = (_surface, request) => {
 *   const tenant = tenants.get(request.header('x-api-key') ?? '');
 *   if (tenant === undefined) throw new Error('unknown API key');
 *   return tenant;
 * };
 * ```
 */
export type ScopeProvider = (surface: ScopeSurface, head: RequestHead) => string | Promise<string>;

const surfaces = { admin: 'admin', 'agent-invocation': 'agent_invoke' } as const;

/** Resolves synchronously if the provider does. @throws Unauthorized, also as a rejection */
export const resolveScope = (
  provider: ScopeProvider,
  surface: Surface,
  head: RequestHead,
): string | Promise<string> => {
  try {
    const scope = provider(surfaces[surface], head);
    return typeof scope === 'string' ? checkScope(scope) : scope.then(checkScope).catch(refuse);
  } catch (error) {
    return refuse(error);
  }
};

const refuse = (error: unknown): never => {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Unauthorized(`scope resolution failed: ${reason}`, { cause: error });
};
