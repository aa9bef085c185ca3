import { z } from 'zod';
import { isObject } from '../schema/endpoint.ts';
import { JsonObject } from '../schema/json.ts';

/**
 * Data of a completion that is stored so that the next request can contain it again. The AI SDK returns the metadata of
 * each block as the options of the same block: signatures of reasoning, ids of items, encrypted content.
 */

/** Name of the format in stored reasoning. */
export const FORMAT = 'ai-sdk';

const Metadata = z.record(z.string(), JsonObject);
type Metadata = z.infer<typeof Metadata>;

const Item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning'), text: z.string(), metadata: Metadata.optional() }),
  /** Metadata of the text before the item: its last `length` characters. */
  z.object({ type: z.literal('text'), length: z.int().positive(), metadata: Metadata }),
  z.object({ type: z.literal('call'), id: z.string(), metadata: Metadata }),
  /** Content that only its provider can read. */
  z.object({
    type: z.literal('custom'),
    kind: z.templateLiteral([z.string(), '.', z.string()]),
    metadata: Metadata.optional(),
  }),
]);
export type Item = z.infer<typeof Item>;
export type ItemOf<Type extends Item['type']> = Extract<Item, { type: Type }>;

/** Returns undefined for an item in a form that this version does not support. */
export const readItem = (item: JsonObject): Item | undefined => Item.safeParse(item).data;

/** Returns metadata in a storable form; undefined if there is none. */
export function storable(metadata: unknown): Metadata | undefined {
  if (!isObject(metadata)) return undefined;
  try {
    const { data } = Metadata.safeParse(JSON.parse(JSON.stringify(metadata)));
    return data && Object.keys(data).length > 0 ? data : undefined;
  } catch {
    // A value that JSON cannot express, such as a cycle. No request could contain it.
    return undefined;
  }
}
