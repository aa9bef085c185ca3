import { z } from 'zod';
import type { Identity } from './user.ts';
import { Who } from './who.ts';

/** Sessions, with which browsers are signed in (identity.md 2.5). */

/** The credential that a session was created from: it has the same rights, and ends with it. */
export type SessionSource =
  /** `proof` binds it to the admin token of its time without revealing anything about that token. */
  | { kind: 'admin'; proof: string }
  | { kind: 'key'; id: string }
  /** An account of an identity provider; `limits` are the grants of the access token, if it was created from one. */
  | { kind: 'account'; identity: Identity; limits: string[][] };

export const Session = z
  .object({
    id: z.string(),
    scope: z.string(),
    user: z.string().meta({ description: 'the user, or `~admin` for the admin token' }),
    source: z
      .enum(['admin', 'key', 'account'])
      .meta({ description: 'what it was created from; `account`: an account of an identity provider' }),
    current: z.boolean().meta({ description: 'whether this request is made with it' }),
    user_agent: z.string().nullable().meta({ description: 'the browser that signed in, as it names itself' }),
    ip: z.string().meta({ description: 'address from which it was created' }),
    created_at: z.number(),
    last_used_at: z.number().meta({ description: 'exact to one minute' }),
    last_used_ip: z.string(),
    expires_at: z.number().meta({ description: 'the latest end; an unused session ends earlier' }),
  })
  .meta({ id: 'Session', description: 'A session of a user. Times are milliseconds since the epoch.' });
/**
 * A session of a browser (identity.md 2.5). Times are milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = ({ user_agent, ip, current }: Session): string =>
 *   `${user_agent ?? 'unknown browser'} from ${ip}${current ? ' (this one)' : ''}`;
 * for (const session of (await client.sessions.list()).items) console.log(describe(session));
 * ```
 */
export type Session = z.infer<typeof Session>;

export const SessionList = z
  .object({ items: z.array(Session) })
  .meta({ id: 'SessionList', description: 'The sessions of one user, the newest first.' });
/**
 * The sessions of one user, the newest first (identity.md 2.5).
 *
 * @example
 * ```ts
 * const { items }: SessionList = await client.sessions.list();
 * for (const { id, current } of items) if (!current) await client.sessions.end(id);
 * ```
 */
export type SessionList = z.infer<typeof SessionList>;

/** The code of a sign-in on loopback, and the verifier of the page that began it. */
export const SignInCode = z
  .strictObject({
    code: z.string().max(256).meta({ description: 'from the fragment of `/sign-in#code=…`; valid once' }),
    verifier: z.string().max(256).meta({ description: 'the text whose SHA-256 was the `challenge`' }),
  })
  .meta({ id: 'SignInCode', description: 'Ends a sign-in on loopback.' });

const SessionToken = z
  .object({ token: z.string().meta({ description: '`tps_…`, for the `Authorization` header; shown once' }) })
  .meta({ id: 'SessionToken', description: 'The session of a sign-in on loopback.' });

export const NewSession = z
  .union([Who, SessionToken])
  .meta({ description: 'the principal; after a sign-in on loopback the token of the session' });
