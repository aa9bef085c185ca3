import { z } from 'zod';
import { jsonOfEach, longListReply } from '../http/list-reply.ts';
import type { Reply } from '../http/reply.ts';
import type { ConfigService, Entries } from '../registry/config/api.ts';
import { Invalid } from '../schema/outcome.ts';
import { count } from '../schema/paging.ts';
import { ConfigEntry } from './entry-schemas.ts';
import { EntryId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** What the routes of the configuration share. */

/** @throws Invalid when the service runs without a configuration store */
export const configOf = ({ config }: Pick<Rooms, 'config'>): ConfigService => {
  if (!config) throw new Invalid('config management API not enabled');
  return config;
};

/** Without a limit the list is whole, because an export that ends early would lose entries. */
export const entriesReply = ({ items, ...rest }: Entries): Reply =>
  longListReply('items', jsonOfEach(items), rest);

/** A body whose faults are told in the words of the configuration, so that any JSON passes before. */
export const judgedBody = (body: z.ZodType<unknown>) => ({ body, reads: 'anyJson' }) as const;

export const EntryParams = z.object({ id: EntryId });

export const EntryPage = z.object({
  offset: count.transform(Number).optional().meta({ description: 'items to skip' }),
  limit: count.transform(Number).optional().meta({ description: 'clamped to 1..200; default: all' }),
});

export const EntryList = z
  .object({ namespace: z.string(), items: z.array(ConfigEntry), offset: z.int(), limit: z.int() })
  .meta({ id: 'ConfigEntryList', description: 'Entries of a namespace.' });
