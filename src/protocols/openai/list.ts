import { z } from 'zod';
import { asInteger } from '../../schema/paging.ts';
import { invalidValue } from './errors.ts';

/** Lists and their pages in the form of OpenAI (openai.md 1). */

const DEFAULT_LIMIT = 20;
const MOST = 100;

/** Strings, because a query contains nothing else; they are checked by `pageOf`. */
export const ListQuery = z.object({
  limit: z
    .string()
    .optional()
    .meta({ description: `1 to ${MOST}`, ...asInteger({ default: DEFAULT_LIMIT }) }),
  order: z.string().optional().meta({ description: '`desc` (default) or `asc`, by time of creation' }),
  after: z.string().optional().meta({ description: 'id of an item: the page begins after it' }),
});
export type ListQuery = z.output<typeof ListQuery>;

export type Page = { limit: number; order: 'asc' | 'desc'; after: string | undefined };

/** @throws OpenAiError */
export const pageOf = ({ limit, order, after }: ListQuery): Page => ({
  limit: limitOf(limit),
  order: orderOf(order),
  after: after === '' ? undefined : after,
});

const limitOf = (given: string | undefined): number => {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit < 1 || limit > MOST) throw invalidValue('limit', `must be between 1 and ${MOST} (got ${given})`);
  return limit;
};

const orderOf = (given: string | undefined): Page['order'] => {
  if (given === undefined || given === 'desc') return 'desc';
  if (given !== 'asc') throw invalidValue('order', "must be 'asc' or 'desc'");
  return given;
};

/** @throws OpenAiError for an item that the list does not have */
export const unknownAfter = (after: string) => invalidValue('after', `the list has no item '${after}'`);

/** Describes a list of these items. */
export const listOfItems = <Item extends z.ZodType>(item: Item) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });

export const listBody = <Item extends { id: string }>(data: readonly Item[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});
