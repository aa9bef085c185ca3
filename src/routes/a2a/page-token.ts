import type { z } from 'zod';
import { invalidRequest } from '../../protocols/a2a/errors.ts';
import { Invalid } from '../../schema/outcome.ts';
import { decodeCursor } from '../cursor.ts';

type PageToken<Position> = { prefix: string; filters: unknown; position: z.ZodType<Position> };

/**
 * Returns the start position of a page from the token of the previous page; undefined without a token. @throws A2aError
 * 400
 */
export const positionIn = <Position>(
  token: string | undefined,
  options: PageToken<Position>,
): Position | undefined => {
  if (!token) return undefined;
  try {
    const start = decodeCursor(token, { ...options, kind: 'run', filtered: true });
    return 'position' in start ? start.position : undefined;
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    throw invalidRequest([{ field: 'pageToken', description: error.message }]);
  }
};
