import { createHash } from 'node:crypto';
import type { SendRequest } from './decode.ts';

/** A UUID, or an id that begins with one. Only such an id is unique; clients use other ids more than once. */
const UNIQUE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(-|$)/i;

/**
 * By which a message is recognised when its client sends it again: its id, its words, and the agent, context and task
 * that it names. Undefined where its id is not unique by its form.
 */
export const fingerprintOf = ({
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
