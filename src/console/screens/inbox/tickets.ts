import type { Run, Ticket } from '../../runs/run.ts';

/** What somebody has to decide: a ticket of a run that waits, with where it is from. */
export type Open = {
  /** One at a time has it. */
  key: string;
  runId: string;
  threadId: string;
  agentId: string;
  reason: string;
  ticket: Ticket;
};

/** What is asked of a person. */
export type Asks = 'permission' | 'answer' | 'arguments';

type Asking = Pick<Ticket, 'resume_mode'> & Partial<Pick<Ticket, 'tickets'>>;

export const asksFor = ({ resume_mode, tickets }: Asking): Asks => {
  // A delegating call asks for what its delegate waits with.
  if (tickets?.length && tickets.every((below) => asksFor(below) === 'permission')) return 'permission';
  if (resume_mode === 'use_decision_as_tool_result') return 'answer';
  return resume_mode === 'pass_decision_to_tool' ? 'arguments' : 'permission';
};

/** Those that have waited longest first. */
export const openTickets = (runs: readonly Run[]): Open[] =>
  runs
    .flatMap(({ run_id, thread_id, agent_id, waiting }) =>
      (waiting?.tickets ?? []).map((ticket) => ({
        key: `${run_id} ${ticket.ticket_id}`,
        runId: run_id,
        threadId: thread_id,
        agentId: agent_id,
        reason: waiting?.reason ?? '',
        ticket,
      })),
    )
    .sort((a, b) => a.ticket.updated_at - b.ticket.updated_at);

/** Those that were shown stay in their places, also those that are no longer open. */
export const withThoseShown = (shown: readonly Open[], open: readonly Open[]): Open[] => {
  const latest = new Map(open.map((one) => [one.key, one]));
  const kept = shown.map((one) => latest.get(one.key) ?? one);
  const known = new Set(kept.map(({ key }) => key));
  return [...kept, ...open.filter(({ key }) => !known.has(key))].sort(
    (a, b) => a.ticket.updated_at - b.ticket.updated_at,
  );
};

export const GROUPINGS = ['none', 'agent', 'tool'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export type Group = { name: string; tickets: readonly Open[] };

/** Groups in the order of their oldest. */
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

/** Who waits longer should not have to. */
const LONG_MS = 5 * 60_000;

export const isLate = ({ ticket }: Open, now: number): boolean => now - ticket.updated_at > LONG_MS;

/** Those that one answer may be given to: they ask for a permission, of the same tool. */
export const alike = (tickets: readonly Open[]): { tool: string; tickets: readonly Open[] }[] =>
  grouped(
    tickets.filter(({ ticket }) => asksFor(ticket) === 'permission'),
    'tool',
  )
    .filter((group) => group.tickets.length > 1)
    .map(({ name, tickets: members }) => ({ tool: name, tickets: members }));

const jsonIn = (typed: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(typed) };
  } catch {
    return undefined;
  }
};

/** The wish of a person, for one ticket or for many. */
export type Wish = { do: 'approve' } | { do: 'answer'; value: unknown } | { do: 'deny'; reason: string };

/** What was typed means; or what is wrong with it. An answer is JSON where it is some, else the text itself. */
export const wishOf = (
  typed: string,
  { isDenied, asks }: { isDenied: boolean; asks: Asks },
): { wish: Wish } | { problem: 'arguments.problem' | 'answer.problem' } => {
  if (isDenied) return { wish: { do: 'deny', reason: typed.trim() } };
  const json = jsonIn(typed);
  if (asks === 'arguments') {
    return json ? { wish: { do: 'answer', value: json.value } } : { problem: 'arguments.problem' };
  }
  if (typed.trim() === '') return { problem: 'answer.problem' };
  return { wish: { do: 'answer', value: json ? json.value : typed } };
};
