import { createHash } from 'node:crypto';
import type { SendRequest } from './decode.ts';

/** A UUID, or an id that begins with one. Only such an id is unique; clients reuse other ids. */
const UNIQUE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-|$)/i;

/**
 * Identifies a message that its client sends again: by its id, its content, and the agent, context and task that it
 * names. Undefined if the form of its id is not unique.
 */
export const createFingerprint = ({
  message_id,
  agent_id,
  context_id,
  task_id,
  content,
}: SendRequest): string | undefined =>
  UNIQUE.test(message_id)
    ? createHash('sha256')
        .update(JSON.stringify([message_id, agent_id, context_id, task_id, content]))
        .digest('base64url')
    : undefined;
