import { z } from 'zod';

/** The codes of errors outside of protocols; all other errors have a status and a message (runtime.md 0.4). */
export const ErrorCode = z.enum(['capability_mismatch', 'data_integrity']);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** The error body of all routes outside of protocols (runtime.md 0.4). */
export const ErrorBody = z
  .object({ error: z.string(), code: z.string().optional() })
  .meta({ id: 'Error', description: '`code` is only present for capability_mismatch and data_integrity' });
