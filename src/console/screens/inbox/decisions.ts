import { createAtom } from '@xstate/store';
import pMap from 'p-map';
import { useState } from 'react';
import { digestOfCall } from '../../../schema/call-digest.ts';
import type { Json } from '../../../schema/json.ts';
import { messageOf, RequestError, statusOf } from '../../data/error.ts';
import { invalidate } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { token } from '../../data/session.ts';
import { toast } from '../../feedback/toasts.ts';
import { say } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { type Decision, decide } from '../../run-records/control.ts';
import { texts } from './texts.ts';
import type { Open, Wish } from './tickets.ts';

/** Decisions made on this page, and their outcomes. */

export type Outcome = 'approved' | 'answered' | 'denied' | 'gone' | { failed: string };

export const decisionOf = (wish: Wish, { ticket }: Pick<Open, 'ticket'>): Decision => {
  switch (wish.do) {
    case 'approve': {
      if (wish.arguments === undefined) return { ticket, action: 'resume', payload: { approved: true } };
      // The value comes from a form of JSON values.
      const args = wish.arguments as Json;
      const digest = digestOfCall({ tool: ticket.tool_name, arguments: args });
      return {
        ticket: { ...ticket, digest },
        action: 'resume',
        payload: { approved: true, arguments: args },
      };
    }
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

/** A decision that the service has accepted. Decisions are sent at once, and none can be withdrawn. */
export type Sent = { open: Open; wish: Wish; outcome: Outcome; at: number };

/** The latest decisions of this page, newest first. */
export const sent = createAtom<readonly Sent[]>([]);

/** Maximum number of decisions that can be looked at again. */
const MOST_KEPT = 10;

token.subscribe((value) => {
  if (value === '') sent.set([]);
});

const DONE = { approve: 'approved', answer: 'answered', deny: 'denied' } as const;

/** Status for a ticket that was decided elsewhere or whose run has ended. */
const GONE = 404;

const fulfil = async (wish: Wish, open: Open): Promise<Outcome> => {
  try {
    await decide(open.runId, decisionOf(wish, open));
    const outcome = DONE[wish.do];
    sent.set([{ open, wish, outcome, at: Date.now() }, ...sent.get()].slice(0, MOST_KEPT));
    return outcome;
  } catch (error) {
    if (statusOf(error) === GONE) return 'gone';
    return { failed: redactText(error instanceof RequestError ? error.message : messageOf(error, 0)) };
  }
};

/** Maximum number of concurrent requests. */
const AT_ONCE = 5;

/**
 * Reports the outcomes as a toast, because a ticket disappears as soon as its run continues.
 * @param show opens the decision again
 */
const tell = (outcomes: readonly Outcome[], show: () => void): void => {
  const count = (kind: string): number => outcomes.filter((outcome) => outcome === kind).length;
  const counts = (['approved', 'answered', 'denied', 'gone'] as const).flatMap((kind) =>
    count(kind) > 0 ? [`${say(texts, `did.${kind}`)}${outcomes.length > 1 ? `: ${count(kind)}` : ''}`] : [],
  );
  if (counts.length === 0) return;
  const isGone = count('gone') > 0;
  const action = { label: say(texts, 'sent.show'), run: show };
  toast(isGone ? 'info' : 'success', counts.join(' · '), isGone ? {} : { action });
};

export type Outcomes = ReadonlyMap<string, Outcome | 'busy'>;

export const useDecisions = () => {
  const [outcomes, setOutcomes] = useState<Outcomes>(new Map());
  const go = useGo();
  const note = (open: Open, outcome: Outcome | 'busy'): void =>
    setOutcomes((before) => new Map(before).set(open.key, outcome));
  return {
    outcomes,
    async decide(wish: Wish, tickets: readonly Open[]): Promise<void> {
      for (const open of tickets) note(open, 'busy');
      const one = async (open: Open): Promise<Outcome> => {
        const outcome = await fulfil(wish, open);
        note(open, outcome);
        return outcome;
      };
      const outcomes = await pMap(tickets, one, { concurrency: AT_ONCE });
      tell(outcomes, () => go(`/inbox?sent=${encodeURIComponent(tickets[0]?.key ?? '')}`));
      invalidate('/v1/runs', '/v1/threads');
    },
  };
};

export type Decisions = ReturnType<typeof useDecisions>;

export const isOpenStill = (outcome: Outcome | 'busy' | undefined): boolean =>
  outcome === undefined || (typeof outcome === 'object' && 'failed' in outcome);

/** Marks tickets that disappeared without a decision on this page: they were decided elsewhere. */
export const withThoseGone = (
  outcomes: Outcomes,
  shown: readonly Open[],
  open: readonly Open[],
): Outcomes => {
  const known = new Set(open.map(({ key }) => key));
  const gone = shown.filter(({ key }) => !known.has(key) && isOpenStill(outcomes.get(key)));
  return new Map([...outcomes, ...gone.map(({ key }) => [key, 'gone'] as const)]);
};
