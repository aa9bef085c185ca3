import { type Identity, mayDo } from '../../data/principal.ts';
import { asksFor, type Open } from './tickets.ts';

/**
 * Whether the principal of this console may decide a ticket (identity.md 4). The service checks each decision; the
 * console shows the reason before the attempt. It does not know the users behind the credentials of a run, whom
 * `deciders: others` excludes as well, so that refusal of the service is shown after the attempt.
 */

/** Why a decision is refused: a missing grant, or the user who has to decide. */
export type Refusal = { tool: string } & (
  | { needs: string }
  | { by: string | undefined }
  /** Another user than this one has to decide. */
  | { notBy: string }
);

export type Rights = { approve: Refusal | undefined; deny: Refusal | undefined; edits: boolean };

type Subject = {
  tool: string;
  agent: string;
  asks: ReturnType<typeof asksFor>;
  deciders: string | undefined;
};

const subjectsOf = ({ ticket, agentId }: Open): Subject[] => {
  const below = ticket.tickets ?? [];
  if (below.length === 0)
    return [{ tool: ticket.tool_name, agent: agentId, asks: asksFor(ticket), deciders: ticket.deciders }];
  return below.map((one) => ({
    tool: one.tool,
    agent: one.agent_id,
    asks: asksFor(one),
    deciders: one.deciders,
  }));
};

/** The service knows more users behind a run than the one that it acts for. */
const othersOnly = ({ tool, deciders }: Subject, { user }: Identity, open: Open): Refusal | undefined =>
  deciders === 'others' && user !== undefined && user === open.user ? { tool, notBy: user } : undefined;

const rightsOnSubject = (subject: Subject, who: Identity, open: Open): Omit<Rights, 'edits'> => {
  const { tool, agent, asks } = subject;
  // No user equals no user.
  const byOther = who.user === open.user ? undefined : { tool, by: open.user };
  switch (asks) {
    case 'permission': {
      const needs = `decide:${agent}/${tool}`;
      const refusal = mayDo(who, 'decide', agent, tool) ? othersOnly(subject, who, open) : { tool, needs };
      return { approve: refusal, deny: refusal };
    }
    case 'budget': {
      const needs = 'configure:budgets';
      return { approve: mayDo(who, 'configure', 'budgets') ? undefined : { tool, needs }, deny: undefined };
    }
    case 'connection':
      // Not even `admin` connects the account of another user.
      return { approve: byOther, deny: undefined };
    default:
      return { approve: mayDo(who, 'admin') ? undefined : byOther, deny: undefined };
  }
};

export const rightsOn = (open: Open, who: Identity | undefined): Rights => {
  if (!who?.authenticated) return { approve: undefined, deny: undefined, edits: true };
  const all = subjectsOf(open).map((subject) => rightsOnSubject(subject, who, open));
  return {
    approve: all.find(({ approve }) => approve)?.approve,
    deny: all.find(({ deny }) => deny)?.deny,
    edits: who.user === open.user || mayDo(who, 'admin'),
  };
};
