import { z } from 'zod';

/** The codes of errors outside of protocols; all other errors have a status and a message (runtime.md 0.4). */
export const ErrorCode = z.enum([
  'capability_mismatch',
  'data_integrity',
  'forbidden',
  'cross_site',
  'rate_limited',
  'budget_exceeded',
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** The error body of all routes outside of protocols (runtime.md 0.4). */
export const ErrorBody = z
  .object({
    error: z.string(),
    code: z.string().optional(),
    needs: z.array(z.string()).optional(),
    budget: z.string().optional(),
    resets_at: z.int().optional(),
  })
  .meta({
    id: 'Error',
    description:
      '`code` is only present for capability_mismatch, data_integrity, cross_site, forbidden and budget_exceeded; forbidden has the missing grants in `needs`, budget_exceeded the id of the `budget` and, unless its window never ends, the end of it in milliseconds',
  });
