/** Tickets of a thread that were issued, and may not be in the store yet. */

type NewTicket = { ticket_id: string; call_id: string; ofCall: number };

/** What the store does not have yet, and what the next commit has to add to it. */
export type Issuing = {
  readonly ids: Set<string>;
  readonly calls: Map<string, number>;
  unsaved: NewTicket[];
};

export const newIssuing = (): Issuing => ({ ids: new Set(), calls: new Map(), unsaved: [] });
