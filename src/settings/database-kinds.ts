import { z } from 'zod';
import { type Kind, scalar } from './kinds.ts';

/** A name of PostgreSQL that needs no quotes. */
export const identifier = (): Kind<string> =>
  scalar({
    type: 'identifier',
    allowed: '1 to 63 lower-case letters, digits and underscores, not starting with a digit or with pg_',
    placeholder: 'name',
    schema: () => z.string().regex(/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/),
  });

export const databaseUrl = (): Kind<string> =>
  scalar({
    type: 'URL',
    allowed: 'a URL that begins with postgresql://',
    placeholder: 'url',
    schema: () => z.string().regex(/^postgres(?:ql)?:\/\/\S+$/),
  });
