import { z } from 'zod';

/** A point in time in RFC 3339, as milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
