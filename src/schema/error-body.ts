import { z } from 'zod';

/** The body of every error of the routes that are not a protocol of their own (runtime.md 0.4). */
export const ErrorBody = z
  .object({ error: z.string(), code: z.string().optional() })
  .meta({ id: 'Error', description: '`code` is there only for capability_mismatch and data_integrity' });
