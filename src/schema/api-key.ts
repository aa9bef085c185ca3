import { z } from 'zod';
import { GrantTexts, UserKind } from './user.ts';

/** API keys (identity.md 2.1). */

export const KeyState = z.enum(['active', 'expired', 'revoked']);
export type KeyState = z.infer<typeof KeyState>;

export const ApiKey = z
  .object({
    id: z.string(),
    hint: z.string().meta({ description: 'beginning and end of the key' }),
    name: z.string(),
    scope: z.string(),
    user: z.string().meta({ description: 'the user that requests with this key act for' }),
    grants: GrantTexts.optional().meta({ description: 'narrows what the user may do; absent: not narrowed' }),
    limits: z
      .array(GrantTexts)
      .optional()
      .meta({ description: 'lists of grants of the caller who created the key; each narrows it further' }),
    user_header: z.string().optional().meta({ description: 'request header that names the end user' }),
    state: KeyState,
    created_at: z.number(),
    created_by: z.string(),
    expires_at: z.number().nullable().meta({ description: '`null`: never' }),
    last_used_at: z.number().nullable().meta({ description: 'exact to one minute' }),
    last_used_ip: z.string().nullable(),
    actor: z.string().meta({ description: 'identifies the key in the audit log' }),
  })
  .meta({
    id: 'ApiKey',
    description: 'An API key, without the key itself. Times are milliseconds since the epoch.',
  });
/**
 * An API key, without the key itself (identity.md 2.1). Times are milliseconds since the epoch.
 *
 * @example
 * ```ts
 * const describe = ({ name, hint, state }: ApiKey): string => `${name} (${hint}): ${state}`;
 * for await (const key of client.keys.list({ state: 'active' })) console.log(describe(key));
 * ```
 */
export type ApiKey = z.infer<typeof ApiKey>;

export const CreatedKey = z
  .object({ key: z.string().meta({ description: 'shown in this response only' }), ...ApiKey.shape })
  .meta({ id: 'CreatedKey', description: 'A new API key.' });
/**
 * A new API key. `key` is in the response of its creation only (identity.md 2.1).
 *
 * @example
 * ```ts
 * const { key }: CreatedKey = await client.keys.create({ name: 'ci', user: 'ci-bot' });
 * console.log(key.startsWith('tpk_'));
 * ```
 */
export type CreatedKey = z.infer<typeof CreatedKey>;

const Name = z.string().meta({ description: '1 to 128 characters' });
const ExpiresIn = z.int().min(1).max(3_153_600_000);

export const NewKey = z
  .strictObject({
    name: Name,
    user: z.string().optional().meta({ description: 'default: the caller; required with the admin token' }),
    grants: GrantTexts.optional().meta({
      description: 'default: whatever the user has at the time of a request',
    }),
    expires_in_secs: ExpiresIn.nullish().meta({ description: 'default: 90 days; `null`: never' }),
    new_user: z
      .strictObject({ kind: UserKind, grants: GrantTexts.default([]), name: z.string().optional() })
      .optional()
      .meta({ description: 'creates the user if it does not exist; needs `manage`' }),
    user_header: z.string().optional().meta({
      description: 'request header that names the end user, in place of `X-Service-User`; needs `act`',
    }),
    of_scope: z.string().optional().meta({ description: 'default: the scope of the caller; needs `admin`' }),
  })
  .meta({ id: 'NewApiKey', description: 'A key to create.' });
/**
 * A key to create (identity.md 2.1). Without `grants`, it has whatever its user has at the time of a request.
 *
 * @example
 * ```ts
 * const narrow: NewKey = { name: 'bot', user: 'alice', grants: ['invoke:support'], expires_in_secs: 86_400 };
 * await client.keys.create(narrow);
 * ```
 */
export type NewKey = z.input<typeof NewKey>;

export const KeyChange = z
  .strictObject({
    name: Name.optional(),
    grants: GrantTexts.optional().meta({ description: 'must be included in the present grants' }),
    expires_in_secs: ExpiresIn.optional().meta({ description: 'from now; must not extend the life' }),
  })
  .meta({ id: 'ApiKeyChange', description: 'Fields to change.' });
/**
 * Fields of a key to change: fewer grants, a shorter life or another name (identity.md 2.1).
 *
 * @example
 * ```ts
 * const change: KeyChange = { name: 'old laptop', expires_in_secs: 3600 };
 * await client.keys.update('key-1', change);
 * ```
 */
export type KeyChange = z.infer<typeof KeyChange>;

export const MOST_GRACE_SECS = 604_800;

export const Rotation = z
  .strictObject({
    grace_secs: z
      .int()
      .min(0)
      .max(MOST_GRACE_SECS)
      .default(0)
      .meta({ description: 'time for which the previous key continues to work' }),
  })
  .meta({ id: 'ApiKeyRotation', description: 'How a key is replaced.' });

export const ApiKeyList = z
  .object({
    items: z.array(ApiKey),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'ApiKeyList', description: 'One page of keys.' });
export type ApiKeyList = z.infer<typeof ApiKeyList>;
