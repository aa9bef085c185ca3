import { z } from 'zod';
import type { Principal } from './principal.ts';

/** Sign-ins, decisions, refused requests and accounts that were connected (identity.md 7). */

export const AccessKind = z.enum([
  'sign_in',
  'sign_out',
  'sign_in_failed',
  'denied',
  'decide',
  'connect',
  'disconnect',
  'admin_new_address',
]);
export type AccessKind = z.infer<typeof AccessKind>;

export const AccessEvent = z
  .object({
    id: z.string().meta({ description: 'ULID; events are ordered by it' }),
    ts: z.string().meta({ description: 'RFC 3339, UTC' }),
    kind: AccessKind,
    scope: z.string().optional().meta({ description: 'absent if no credential was accepted' }),
    user: z.string().optional().meta({ description: 'the user, `~admin` or `~anonymous`' }),
    credential: z
      .object({ kind: z.string(), id: z.string().optional() })
      .optional()
      .meta({ description: 'kind of the credential, and its id if it has one' }),
    ip: z.string().optional().meta({ description: 'address of the client' }),
    route: z.string().optional().meta({ description: 'path of the route as declared' }),
    reason: z.string().optional().meta({
      description:
        'why the request was refused; for `decide` the action and tool, for connections the server',
    }),
    thread_id: z.string().optional(),
    run_id: z.string().optional(),
    count: z.int().meta({ description: 'number of equal denials within a minute; otherwise 1' }),
  })
  .meta({ id: 'AccessEvent', description: 'An event of the access log.' });
/**
 * An event of the access log (identity.md 7).
 *
 * @example
 * ```ts
 * const describe = ({ ts, kind, user = '-', ip = '-', count }: AccessEvent): string =>
 *   `${ts} ${kind} ${user} ${ip} ${count}`;
 * for await (const event of client.accessLog.list()) console.log(describe(event));
 * ```
 */
export type AccessEvent = z.infer<typeof AccessEvent>;

export const AccessPage = z
  .object({ items: z.array(AccessEvent), next_cursor: z.string().optional() })
  .meta({ id: 'AccessPage', description: 'One page of the access log.' });
/**
 * One page of the access log, newest first. The last page has no `next_cursor`.
 *
 * @example
 * ```ts
 * const { items, next_cursor }: AccessPage = await client.accessLog.list({ kind: 'denied', limit: 20 });
 * ```
 */
export type AccessPage = z.infer<typeof AccessPage>;

/** An event before it has an id, a time and a count. */
export type AccessDraft = Omit<AccessEvent, 'id' | 'ts' | 'count'>;

/** The part of a request that the access log records. The request of a route is one. */
export type AccessPlace = {
  /** The path of the route as declared. */
  readonly route: string;
  /** Returns the address of the client. */
  ip(): string;
};

/** Receives what the access log records beyond decisions and refused requests. */
export type AccessObserver = {
  signedIn(principal: Principal, at: AccessPlace): void;
  signedOut(principal: Principal, at: AccessPlace): void;
  /** @param reason a fixed text, such as `denied` or `mismatch`, and never part of what the provider or browser sent */
  signInFailed(failure: { reason: string; scope?: string; user?: string }, at: AccessPlace): void;
  /** @param server id of the MCP server to which the account is connected */
  connected(principal: Principal, server: string, at: AccessPlace): void;
  disconnected(principal: Principal, server: string, at: AccessPlace): void;
};
