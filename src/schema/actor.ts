import { z } from 'zod';

/**
 * The principal that gave the input of a run, or that decided: its user and the credential of the request
 * (identity.md 1.3, 4). The admin token has no user.
 */
export const Actor = z.object({
  user: z.string().optional().meta({ description: 'absent for the admin token, which acts for no user' }),
  credential: z.object({
    kind: z.enum(['admin', 'key', 'jwt', 'session', 'ticket', 'program', 'anonymous']),
    id: z.string().optional(),
    line: z
      .string()
      .optional()
      .meta({ description: 'the first key of a chain of rotations, if `id` is a later one' }),
    act: z.literal(true).optional().meta({ description: 'present if it acted for an end user' }),
  }),
});
export type Actor = z.infer<typeof Actor>;

/** Undefined for requests without a credential. */
export const actorOf = ({
  user,
  credential: { kind, id, line, act },
}: {
  user?: string | undefined;
  credential: Actor['credential'];
}): Actor | undefined =>
  kind === 'anonymous'
    ? undefined
    : {
        ...(user !== undefined && { user }),
        credential: {
          kind,
          ...(id !== undefined && { id }),
          ...(line !== undefined && { line }),
          ...(act && { act }),
        },
      };
