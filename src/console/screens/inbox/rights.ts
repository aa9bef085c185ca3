import { type Identity, mayDo } from '../../data/principal.ts';
import { asksFor, type Open } from './tickets.ts';

/**
 * Whether the principal of this console may decide a ticket (identity.md 4). The service checks each decision; here a
 * person learns the reason before the attempt. Rules that only the service knows, such as `deciders: others`, show in
 * its answer.
 */

/** Why a decision is refused: a missing grant, or the user who has to decide. */
export type Refusal = { tool: string } & ({ needs: string } | { by: string | undefined });

export type Rights = {
  /** Why it may not be approved or answered. */
  approve: Refusal | undefined;
  /** Why it may not be denied. */
  deny: Refusal | undefined;
  /** Whether the arguments may be edited. */
  edits: boolean;
};

type Subject = { tool: string; agent: string; asks: ReturnType<typeof asksFor> };

const subjectsOf = ({ ticket, agentId }: Open): Subject[] => {
  const below = ticket.tickets ?? [];
  if (below.length === 0) return [{ tool: ticket.tool_name, agent: agentId, asks: asksFor(ticket) }];
  return below.map((one) => ({ tool: one.tool, agent: one.agent_id, asks: asksFor(one) }));
};

export const rightsOn = (open: Open, who: Identity | undefined): Rights => {
  if (!who?.authenticated) return { approve: undefined, deny: undefined, edits: true };
  const isAdmin = mayDo(who, 'admin');
  // No user equals no user.
  const isOwn = isAdmin || who.user === open.user;
  const refusals = subjectsOf(open).map(({ tool, agent, asks }): Omit<Rights, 'edits'> => {
    const byOther = isOwn ? undefined : { tool, by: open.user };
    switch (asks) {
      case 'permission': {
        const needs = `decide:${agent}/${tool}`;
        const refusal = mayDo(who, 'decide', agent, tool) ? undefined : { tool, needs };
        return { approve: refusal, deny: refusal };
      }
      case 'budget':
        return {
          approve: mayDo(who, 'configure', 'budgets') ? undefined : { tool, needs: 'configure:budgets' },
          deny: undefined,
        };
      case 'connection':
        // Not even `admin` connects the account of another user.
        return { approve: who.user === open.user ? undefined : { tool, by: open.user }, deny: undefined };
      default:
        return { approve: byOther, deny: undefined };
    }
  });
  return {
    approve: refusals.find(({ approve }) => approve)?.approve,
    deny: refusals.find(({ deny }) => deny)?.deny,
    edits: isOwn,
  };
};
