import { parseJson } from '../../data/json-text.ts';
import type { Run, Ticket } from '../../run-records/run.ts';

/** A ticket of a waiting run that a person has to decide. */
export type Open = {
  key: string;
  runId: string;
  threadId: string;
  agentId: string;
  user: string | undefined;
  reason: string;
  ticket: Ticket;
};

export type Asks = 'permission' | 'answer' | 'arguments' | 'budget' | 'connection';

type Asking = Pick<Ticket, 'resume_mode'> & Partial<Pick<Ticket, 'tickets' | 'reason'>>;

export const asksFor = ({ resume_mode, tickets, reason }: Asking): Asks => {
  if (reason === 'budget:exceeded') return 'budget';
  if (reason === 'mcp:auth_required') return 'connection';
  // A delegating call requests what its delegate waits for.
  for (const same of ['permission', 'budget'] as const)
    if (tickets?.length && tickets.every((below) => asksFor(below) === same)) return same;
  if (resume_mode === 'use_decision_as_tool_result') return 'answer';
  return resume_mode === 'pass_decision_to_tool' ? 'arguments' : 'permission';
};

/** The tickets of waiting runs, longest wait first. */
export const openTickets = (runs: readonly Run[]): Open[] =>
  runs
    .flatMap(({ run_id, thread_id, agent_id, user, waiting }) =>
      (waiting?.tickets ?? []).map((ticket) => ({
        key: `${run_id} ${ticket.ticket_id}`,
        runId: run_id,
        threadId: thread_id,
        agentId: agent_id,
        user,
        reason: waiting?.reason ?? '',
        ticket,
      })),
    )
    .sort((a, b) => a.ticket.updated_at - b.ticket.updated_at);

/** Adds new tickets to the displayed ones, which keep their position even if they are no longer open. */
export const withThoseShown = (shown: readonly Open[], open: readonly Open[]): Open[] => {
  const latest = new Map(open.map((one) => [one.key, one]));
  const kept = shown.map((one) => latest.get(one.key) ?? one);
  const known = new Set(kept.map(({ key }) => key));
  return [...kept, ...open.filter(({ key }) => !known.has(key))].sort(
    (a, b) => a.ticket.updated_at - b.ticket.updated_at,
  );
};

export const GROUPINGS = ['tool', 'agent', 'none'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export type Group = { name: string; tickets: readonly Open[] };

/** Groups in the order of their oldest ticket. */
export const grouped = (tickets: readonly Open[], by: Grouping): Group[] => {
  if (by === 'none') return [{ name: '', tickets }];
  const groups = new Map<string, Open[]>();
  for (const open of tickets) {
    const name = by === 'agent' ? open.agentId : open.ticket.tool_name;
    const group = groups.get(name);
    if (group) group.push(open);
    else groups.set(name, [open]);
  }
  return [...groups].map(([name, members]) => ({ name, tickets: members }));
};

/** A ticket that has waited longer is marked as late. */
const LONG_MS = 5 * 60_000;

export const isLate = ({ ticket }: Open, now: number): boolean => now - ticket.updated_at > LONG_MS;

/** The tickets of a group that can be decided together: permission requests for one tool, if there are several. */
export const alike = (tickets: readonly Open[]): readonly Open[] => {
  const requests = tickets.filter(({ ticket }) => asksFor(ticket) === 'permission');
  const isOneTool = new Set(requests.map(({ ticket }) => ticket.tool_name)).size === 1;
  return isOneTool && requests.length > 1 ? requests : [];
};

/** Whether the run has asked for the same tool before, and got a decision on this page. */
export const isAskedAgain = (open: Open, decided: readonly { open: Open }[]): boolean =>
  decided.some(
    ({ open: { key, runId, ticket } }) =>
      key !== open.key && runId === open.runId && ticket.tool_name === open.ticket.tool_name,
  );

/** Whether the arguments of the call can be edited before its approval: those of a delegate belong to its own call. */
export const canEdit = (ticket: Ticket): boolean =>
  asksFor(ticket) !== 'connection' &&
  (asksFor(ticket) !== 'permission' || (ticket.tickets ?? []).length === 0);

/** The decision of a person on one ticket or several. `arguments` replace those of the call. */
export type Wish =
  | { do: 'approve'; arguments?: unknown }
  | { do: 'answer'; value: unknown }
  | { do: 'deny'; reason: string };

/**
 * Reads a reason or an answer from the typed text; undefined if there is no answer. Valid JSON is parsed; any other
 * answer stays a text.
 */
export const wishOf = (typed: string, isDenied: boolean): Wish | undefined => {
  if (isDenied) return { do: 'deny', reason: typed.trim() };
  if (typed.trim() === '') return undefined;
  const json = parseJson(typed);
  return { do: 'answer', value: 'value' in json ? json.value : typed };
};
