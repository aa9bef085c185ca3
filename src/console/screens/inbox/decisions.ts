import pMap from 'p-map';
import { messageOf, RequestError, statusOf } from '../../data/error.ts';
import { redactText } from '../../data/redact-text.ts';
import { type Decision, decide } from '../../runs/control.ts';
import type { Open, Wish } from './tickets.ts';

/** What became of a ticket that was decided here. */
export type Outcome = 'approved' | 'answered' | 'denied' | 'gone' | { failed: string };

const decisionOf = (wish: Wish, { ticket }: Open): Decision => {
  const toolCallId = ticket.tool_call_id;
  switch (wish.do) {
    case 'approve':
      return { toolCallId, action: 'resume', payload: { approved: true } };
    case 'answer':
      return { toolCallId, action: 'resume', payload: wish.value };
    case 'deny':
      return {
        toolCallId,
        action: 'cancel',
        payload: { reason: wish.reason },
        reason: wish.reason || undefined,
      };
  }
};

const DONE = { approve: 'approved', answer: 'answered', deny: 'denied' } as const;

/** Somebody else was faster, or the run is over. */
const GONE = [404, 409];

export const fulfil = async (wish: Wish, open: Open): Promise<Outcome> => {
  try {
    await decide(open.runId, decisionOf(wish, open));
    return DONE[wish.do];
  } catch (error) {
    if (GONE.includes(statusOf(error) ?? 0)) return 'gone';
    return { failed: redactText(error instanceof RequestError ? error.message : messageOf(error, 0)) };
  }
};

/** So many are under way at a time. */
const AT_ONCE = 5;

export const fulfilAll = (
  wish: Wish,
  tickets: readonly Open[],
  onOutcome: (open: Open, outcome: Outcome) => void,
): Promise<Outcome[]> =>
  pMap(
    tickets,
    async (open) => {
      const outcome = await fulfil(wish, open);
      onOutcome(open, outcome);
      return outcome;
    },
    { concurrency: AT_ONCE },
  );
