import type { JsonObject } from '../../schema/json.ts';

/** A message of a request. */
export type Turn = { role: 'user' | 'assistant'; content: Block[] };

/** A block of a message, or of the system texts. */
export type Block = JsonObject;
