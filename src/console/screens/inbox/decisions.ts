import pMap from 'p-map';
import { messageOf, RequestError, statusOf } from '../../data/error.ts';
import { redactText } from '../../data/redact-text.ts';
import { type Decision, decide } from '../../runs/control.ts';
import type { Open, Wish } from './tickets.ts';

/** What became of a ticket that was decided here. */
export type Outcome = 'approved' | 'answered' | 'denied' | 'gone' | { failed: string };

const decisionOf = (wish: Wish, { ticket }: Open): Decision => {
  switch (wish.do) {
    case 'approve':
      return { ticket, action: 'resume', payload: { approved: true } };
    case 'answer':
      return { ticket, action: 'resume', payload: wish.value };
    case 'deny':
      return {
        ticket,
        action: 'cancel',
        payload: { reason: wish.reason },
        reason: wish.reason || undefined,
      };
  }
};

const DONE = { approve: 'approved', answer: 'answered', deny: 'denied' } as const;

/** The ticket was decided elsewhere, or its run has ended. */
const GONE = 404;

export const fulfil = async (wish: Wish, open: Open): Promise<Outcome> => {
  try {
    await decide(open.runId, decisionOf(wish, open));
    return DONE[wish.do];
  } catch (error) {
    if (statusOf(error) === GONE) return 'gone';
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
