import { z } from 'zod';
import { IdentityChange } from './user.ts';

/** The principal of a request, as the service reports it (identity.md 2.4). */

export const Who = z
  .object({
    authenticated: z.boolean().meta({ description: 'whether the request has a valid credential' }),
    anonymous: z
      .boolean()
      .meta({ description: 'whether the service serves the request without a credential, as `~anonymous`' }),
    scope: z.string().optional().meta({ description: 'absent if a credential is required and missing' }),
    user: z.string().optional().meta({ description: 'absent for the admin token and without a credential' }),
    name: z.string().optional(),
    grants: z.array(z.string()).meta({
      description:
        'what the request may do: the grants of the user, narrowed by the credential. Sets are expanded',
    }),
    credential: z
      .object({
        kind: z.enum(['admin', 'key', 'jwt', 'session', 'ticket', 'program']),
        id: z.string().optional(),
      })
      .optional(),
    identity_changed: IdentityChange.optional().meta({
      description:
        'the account of the identity provider that is bound to the user was changed by hand in the 30 days before this session began',
    }),
    sign_in: z
      .array(
        z.object({
          kind: z.enum(['oidc', 'key']),
          id: z.string().optional(),
          label: z.string().optional(),
          url: z.string().optional(),
        }),
      )
      .meta({ description: 'ways to sign in with a browser' }),
  })
  .meta({ id: 'Who', description: 'The principal of the request.' });
/**
 * Whom a request acts for, and what it may do (identity.md 2.4).
 *
 * @example
 * ```ts
 * const { authenticated, user, grants }: Who = await client.identity();
 * if (authenticated) console.log(user, grants.includes('manage'));
 * ```
 */
export type Who = z.infer<typeof Who>;
