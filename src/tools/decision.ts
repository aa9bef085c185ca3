import type { Resume } from '../schema/run.ts';
import type { Json } from './tool.ts';

/** What the payload of a decision on a permission ticket says: `{ "approved": true, "arguments": {…} }`. */

export const isApproval = (decision: Resume | undefined): boolean =>
  decision?.action === 'resume' && fieldOf(decision.result, 'approved') !== false;

/** The arguments to run the tool with instead of those that the model gave. */
export const editedArguments = (decision: Resume | undefined): Json | undefined =>
  decision && isApproval(decision) ? (fieldOf(decision.result, 'arguments') ?? undefined) : undefined;

const fieldOf = (value: Json, field: string): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, field)
    ? value[field]
    : undefined;
