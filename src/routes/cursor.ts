import type { z } from 'zod';
import { Invalid } from '../schema/outcome.ts';

/**
 * Cursors of lists: a prefix and the base64url of a small JSON that binds the position to the filters of the query that
 * produced it. The page size is not bound, so a client may change it.
 */

export const BAD_CURSOR = 'cursor must be a valid pagination token';

export const encodeCursor = (prefix: string, position: unknown, filters: unknown): string =>
  prefix + Buffer.from(JSON.stringify({ p: position, f: filters })).toString('base64url');

/** Returns the position in a cursor, or an offset if the cursor is a bare number. @throws Invalid */
export const decodeCursor = <Position>(
  cursor: string,
  options: {
    prefix: string;
    kind: 'thread' | 'message' | 'run' | 'actor' | 'trace' | 'user' | 'key' | 'usage';
    filters: unknown;
    /** Whether the query has filters, to which a bare number would not be bound. */
    filtered: boolean;
    position: z.ZodType<Position>;
  },
): { position: Position } | { offset: number } => {
  if (/^\d{1,15}$/.test(cursor)) {
    if (options.filtered) throw new Invalid(mismatch(options.kind));
    return { offset: Number(cursor) };
  }
  const { p, f } = parse(cursor, options.prefix);
  if (JSON.stringify(f) !== JSON.stringify(options.filters)) throw new Invalid(mismatch(options.kind));
  const position = options.position.safeParse(p);
  if (!position.success) throw new Invalid(BAD_CURSOR);
  return { position: position.data };
};

const mismatch = (kind: string): string => `cursor does not match ${kind} query filters`;

const parse = (cursor: string, prefix: string): { p: unknown; f: unknown } => {
  if (!cursor.startsWith(prefix)) throw new Invalid(BAD_CURSOR);
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor.slice(prefix.length), 'base64url').toString());
    if (typeof value === 'object' && value !== null && 'p' in value && 'f' in value) return value;
  } catch {
    // Text that is not JSON gets the same error as any other invalid cursor.
  }
  throw new Invalid(BAD_CURSOR);
};
