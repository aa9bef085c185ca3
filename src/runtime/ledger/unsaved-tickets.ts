/** An issued ticket of a thread that may not be in the store yet. */

type NewTicket = { ticket_id: string; call_id: string; ofCall: number };

/** The issued tickets that the store does not contain yet, and those that the next commit has to add. */
export type Issuing = {
  readonly ids: Set<string>;
  readonly calls: Map<string, number>;
  unsaved: NewTicket[];
};

export const newIssuing = (): Issuing => ({ ids: new Set(), calls: new Map(), unsaved: [] });
