import { z } from 'zod';

/** The user who gave the input of a run, or who decided, with the credential of the request (identity.md 1.3, 4). */
export const Actor = z.object({
  user: z.string(),
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

/** Undefined for the admin token and for requests without a credential, which act for no user. */
export const actorOf = ({
  user,
  credential: { kind, id, line, act },
}: Pick<Partial<Actor>, 'user'> & Pick<Actor, 'credential'>): Actor | undefined =>
  user === undefined
    ? undefined
    : {
        user,
        credential: {
          kind,
          ...(id !== undefined && { id }),
          ...(line !== undefined && { line }),
          ...(act && { act }),
        },
      };
