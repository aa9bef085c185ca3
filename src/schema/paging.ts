import { z } from 'zod';

/** Query parameters of list routes (runtime.md 0.6). Values are received as text; anything but a count is rejected. */

/** Documents a query parameter as a number, although it is received as text. */
export const asInteger = (facts: { default?: number } = {}) => ({
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', minimum: 0, ...facts });
  },
});

export const count = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number, 0 or more')
  .meta(asInteger());

/** Clamped to 1..200, 50 when absent. */
export const Limit = count
  .transform((text) => Math.min(200, Math.max(1, Number(text))))
  .optional()
  .transform((limit) => limit ?? 50)
  .meta({ description: 'page size, clamped to 1..200', ...asInteger({ default: 50 }) });

export const Offset = count
  .transform(Number)
  .optional()
  .transform((offset) => offset ?? 0)
  .meta({ description: 'items to skip; a cursor takes precedence', ...asInteger({ default: 0 }) });

/** A position in a history: an unsigned integer. */
export const SeqBound = count.transform(Number).optional();

/** Blank means absent. */
export const Cursor = z
  .string()
  .optional()
  .transform((cursor) => cursor?.trim() || undefined)
  .meta({ description: 'opaque; continues a list after the previous page' });
