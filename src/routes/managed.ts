import { z } from 'zod';
import type { ConfigService } from '../registry/config/api.ts';
import { JsonObject } from '../schema/json.ts';
import { Invalid } from '../schema/outcome.ts';
import { count } from '../schema/paging.ts';
import { EntryId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** What the routes of the configuration share. */

/** @throws Invalid when the service runs without a configuration store */
export const configOf = ({ config }: Pick<Rooms, 'config'>): ConfigService => {
  if (!config) throw new Invalid('config management API not enabled');
  return config;
};

/** An entry in the form that its namespace has; `GET /v1/config/:ns/$schema` tells it. */
export const Entry = JsonObject.meta({ id: 'ConfigEntry' });

/** What is wrong with a body is told in the words of the configuration, so here any JSON passes. */
export const AnyBody = z.unknown().meta({ description: 'a ConfigEntry, or a part of one' });

export const ValidEntry = z.object({ ok: z.literal(true), normalized: Entry }).meta({ id: 'ValidEntry' });

export const EntryParams = z.object({ id: EntryId });

export const EntryPage = z.object({
  offset: count.transform(Number).optional().meta({ description: 'items to skip' }),
  limit: count.transform(Number).optional().meta({ description: 'clamped to 1..200; default: all' }),
});

export const EntryList = z
  .object({ namespace: z.string(), items: z.array(Entry), offset: z.int(), limit: z.int() })
  .meta({ id: 'ConfigEntryList' });
