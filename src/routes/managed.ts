import { z } from 'zod';
import type { ConfigService, Entries } from '../configuration/control-plane/api.ts';
import { jsonOfEach, longListReply } from '../http/list-reply.ts';
import type { Reply } from '../http/reply.ts';
import { Invalid } from '../schema/outcome.ts';
import { count } from '../schema/paging.ts';
import { ConfigEntry } from './entry-schemas.ts';
import { EntryId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Shared parts of the configuration routes. */

/** @throws Invalid when the service runs without a configuration store */
export const requireConfig = ({ config }: Pick<RouteDeps, 'config'>): ConfigService => {
  if (!config) throw new Invalid('config management API not enabled');
  return config;
};

/** Without a limit, the list is complete, because a truncated export would lose entries. */
export const entriesReply = ({ items, ...rest }: Entries): Reply =>
  longListReply('items', jsonOfEach(items), rest);

/** Declares a body that the configuration validates with its own messages, so the route accepts any JSON. */
export const judgedBody = (body: z.ZodType<unknown>) => ({ body, reads: 'anyJson' }) as const;

export const EntryParams = z.object({ id: EntryId });

export const EntryPage = z.object({
  offset: count.transform(Number).optional().meta({ description: 'items to skip' }),
  limit: count.transform(Number).optional().meta({ description: 'clamped to 1..200; default: all' }),
});

/** Whether secrets are dropped. */
export const MovedSecrets = z
  .enum(['refuse', 'drop'])
  .optional()
  .transform((moved) => moved === 'drop')
  .meta({
    description:
      'a stored secret that the body does not bring for another destination: 400 (default), or the entry is stored without it',
  });

export const EntryList = z
  .object({ namespace: z.string(), items: z.array(ConfigEntry), offset: z.int(), limit: z.int() })
  .meta({ id: 'ConfigEntryList', description: 'Entries of a namespace.' });
