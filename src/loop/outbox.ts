import { attempted, outboxOf } from '../plugins/background/outbox.ts';
import type { OutboxMessage } from '../plugins/background/state.ts';
import type { Mailer } from './background.ts';
import type { Turn } from './turn.ts';

/** Sends the messages that the tools of a step have queued (agent-loop.md 16). A sent message is not sent again. */

export const hasMail = (turn: Turn): boolean => outboxOf(turn.state.view()).length > 0;

/** Makes one attempt per message; at the end of a run, as many as a message has left. */
export const sendOut = async (turn: Turn, signal: AbortSignal, last = false): Promise<void> => {
  const { mail } = turn;
  if (!mail) return;
  do {
    const outcomes = new Map<string, 'delivered' | { error: string }>();
    for (const message of outboxOf(turn.state.view())) {
      if (signal.aborted) return;
      outcomes.set(message.message_id, await attempt(mail, message));
    }
    if (outcomes.size > 0) turn.state.apply(attempted(turn.state.view(), outcomes));
  } while (last && hasMail(turn));
};

const attempt = async (mail: Mailer, message: OutboxMessage): Promise<'delivered' | { error: string }> => {
  try {
    await mail.deliver(message);
    return 'delivered';
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};
