type Decided = { decided_by?: unknown; decided_as?: unknown };

/**
 * Returns who made a decision, as the log of its run reports it; undefined if it does not. Operators who share
 * the admin token are identified by the names that they give.
 */
export const deciderIn = ({ decided_by: by, decided_as: name }: Decided): string | undefined => {
  if (typeof by !== 'string' || by === '') return undefined;
  return by === '~admin' && typeof name === 'string' ? `${name} (${by})` : by;
};
