import { z } from 'zod';

/** Users, the persons and services that own threads and have grants (identity.md 1.1). */

export const UserKind = z.enum(['person', 'service']);
export type UserKind = z.infer<typeof UserKind>;

/** The account of an identity provider. */
export const Identity = z
  .strictObject({ issuer: z.string().min(1).max(2048), subject: z.string().min(1).max(1024) })
  .meta({ id: 'Identity', description: 'An account of an identity provider.' });
export type Identity = z.infer<typeof Identity>;

/** A change of the account of a user by an administrator. */
export const IdentityChange = z.object({
  at: z.number().meta({ description: 'milliseconds since the epoch' }),
  by: z.string().meta({ description: 'the user who has changed it, or `~admin`' }),
});
export type IdentityChange = z.infer<typeof IdentityChange>;

const IdentityLink = z
  .union([Identity, z.literal('pending')])
  .meta({ description: '`pending`: the next token that names this user is bound to it' });

/** Grants of a user or a key, as a request gives them. Each is kept in memory with its principal. */
export const GrantTexts = z.array(z.string().max(2048)).max(200);

export const User = z
  .object({
    id: z.string().meta({ description: 'unique within the scope' }),
    scope: z.string(),
    kind: UserKind,
    name: z.string().optional(),
    email: z.string().optional(),
    grants: GrantTexts.meta({ description: 'grants given in this service' }),
    token_grants: z
      .array(z.string())
      .meta({ description: 'grants of the newest token of its identity provider' }),
    identity: IdentityLink.optional(),
    disabled: z.boolean(),
    tokens_not_before: z.number().meta({ description: 'tokens issued before this time are rejected' }),
    created_at: z.number(),
    last_seen_at: z.number().nullable().meta({ description: 'exact to one minute' }),
  })
  .meta({
    id: 'User',
    description: 'A person or a service of a scope. Times are milliseconds since the epoch.',
  });
/**
 * A person or a service of a scope (identity.md 1.1). Times are milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = ({ id, kind, grants }: User): string => `${kind} ${id}: ${grants.join(', ')}`;
 * for await (const user of client.users.list()) console.log(describe(user));
 * ```
 */
export type User = z.infer<typeof User>;

const about = {
  name: z.string().nullish(),
  email: z.string().nullish().meta({ description: 'kept in lower case' }),
  grants: GrantTexts.optional(),
  disabled: z.boolean().optional(),
};

export const NewUser = z
  .strictObject({
    id: z.string().meta({ description: '1 to 256 bytes of UTF-8 in NFC' }),
    kind: UserKind,
    of_scope: z.string().optional().meta({ description: 'default: the scope of the caller; needs `admin`' }),
    ...about,
    identity: IdentityLink.optional(),
  })
  .meta({ id: 'NewUser', description: 'A user to create.' });
/**
 * A user to create (identity.md 2.2).
 *
 * @example
 * ```ts
 * const bot: NewUser = { id: 'ci-bot', kind: 'service', grants: ['member'] };
 * await client.users.create(bot);
 * ```
 */
export type NewUser = z.infer<typeof NewUser>;

export const UserChange = z
  .strictObject({ ...about, identity: IdentityLink.nullish() })
  .meta({ id: 'UserChange', description: 'Fields to change; `null` removes a field.' });
/**
 * Fields of a user to change; `null` removes a field (identity.md 2.2).
 *
 * @example
 * ```ts
 * const change: UserChange = { grants: ['member', 'keys'], email: null };
 * await client.users.update('alice', change);
 * ```
 */
export type UserChange = z.infer<typeof UserChange>;

export const UserList = z
  .object({
    items: z.array(User),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'UserList', description: 'One page of users, by id.' });
export type UserList = z.infer<typeof UserList>;
