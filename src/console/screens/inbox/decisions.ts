import { createAtom } from '@xstate/store';
import pMap from 'p-map';
import { useState } from 'react';
import { digestOfCall, digestOfTickets } from '../../../schema/call-digest.ts';
import type { Json } from '../../../schema/json.ts';
import type { TicketBelow } from '../../../schema/run.ts';
import { messageOf, RequestError, statusOf } from '../../data/error.ts';
import { invalidate } from '../../data/queries.ts';
import { readPages } from '../../data/read-pages.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf } from '../../data/request.ts';
import { token } from '../../data/session.ts';
import { EventPage } from '../../event-log/event.ts';
import { toast } from '../../feedback/toasts.ts';
import { say } from '../../i18n/locale.ts';
import { useGo } from '../../navigation/links.tsx';
import { type Decision, decide } from '../../run-records/control.ts';
import { deciderIn } from '../../run-records/decider.ts';
import type { Ticket } from '../../run-records/run.ts';
import texts from './texts.json' with { type: 'json' };
import type { Open, Wish } from './tickets.ts';

/** Decisions made on this page, and their outcomes. */

export type Outcome =
  | ('approved' | 'answered' | 'denied')
  /** Decided elsewhere, or the run has ended. */
  | 'gone'
  | { goneBy: string }
  | { failed: string };

/**
 * The digest of a call or of the calls of a delegate, computed from what this page shows. The digest in the ticket is
 * not used: it would also fit a call that the page shows wrongly.
 */
const digestOf = ({ tool_name: tool, arguments: args, tickets = [] }: Ticket): string => {
  // All values were parsed from JSON, and the fields that the console does not read are kept.
  const callOf = (called: string, given: unknown): string =>
    digestOfCall({ tool: called, ...(given !== undefined && { arguments: given as Json }) });
  if (tickets.length === 0) return callOf(tool, args);
  const shown = tickets.map((one) =>
    one.digest === undefined ? one : { ...one, digest: callOf(one.tool, one.arguments) },
  );
  return digestOfTickets(shown as unknown as TicketBelow[]);
};

export const decisionOf = (wish: Wish, { ticket }: Pick<Open, 'ticket'>): Decision => {
  switch (wish.do) {
    case 'approve': {
      const changed = wish.arguments !== undefined && { arguments: wish.arguments };
      const digest = digestOf({ ...ticket, ...changed });
      return { ticket, digest, action: 'resume', payload: { approved: true, ...changed } };
    }
    case 'answer':
      return { ticket, digest: digestOf(ticket), action: 'resume', payload: wish.value };
    case 'deny': {
      const { reason } = wish;
      const digest = digestOf(ticket);
      return { ticket, digest, action: 'cancel', payload: { reason }, reason: reason || undefined };
    }
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
    if (statusOf(error) === GONE) {
      const goneBy = await deciderOf(open).catch(() => undefined);
      return goneBy === undefined ? 'gone' : { goneBy };
    }
    return { failed: redactText(error instanceof RequestError ? error.message : messageOf(error, 0)) };
  }
};

/** Events read at once, and the number of reads after which the decision is taken to be too far back. */
const EVENTS = 500;
const MOST_READS = 6;

/** Returns who decided a ticket, as the log of its run reports it. */
const deciderOf = async ({ runId, ticket }: Open): Promise<string | undefined> => {
  let decider: string | undefined;
  const request = { path: pathOf`/v1/runs/${runId}/events`, query: { limit: EVENTS }, quiet: true };
  for await (const { items } of readPages(request, EventPage, MOST_READS)) {
    for (const { payload } of items) {
      const { tool_call_id: id } = payload;
      if (id === ticket.ticket_id || id === ticket.tool_call_id) decider = deciderIn(payload) ?? decider;
    }
  }
  return decider;
};

const AT_ONCE = 5;

/**
 * Reports the outcomes as a toast, because a ticket disappears as soon as its run continues.
 * @param show opens the decision again
 */
const tell = (outcomes: readonly Outcome[], show: () => void): void => {
  const kindOf = (outcome: Outcome): Outcome =>
    outcomes.length > 1 && typeof outcome === 'object' && 'goneBy' in outcome ? 'gone' : outcome;
  const count = (kind: string): number => outcomes.filter((outcome) => kindOf(outcome) === kind).length;
  const counts = (['approved', 'answered', 'denied', 'gone'] as const).flatMap((kind) =>
    count(kind) > 0 ? [`${say(texts, `did.${kind}`)}${outcomes.length > 1 ? `: ${count(kind)}` : ''}`] : [],
  );
  const [only] = outcomes.length === 1 ? outcomes : [];
  if (typeof only === 'object' && 'goneBy' in only)
    counts.push(say(texts, 'did.goneBy', { user: only.goneBy }));
  if (counts.length === 0) return;
  const isGone = count('gone') > 0 || typeof only === 'object';
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
