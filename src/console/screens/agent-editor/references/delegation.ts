/** Ids of delegates by agent. */
export type Delegations = ReadonlyMap<string, readonly string[]>;

/** A cycle of delegations through the agent, which is its first and last id; undefined if there is none. */
export const cycleThrough = (
  agent: string,
  own: readonly string[],
  others: Delegations,
): string[] | undefined => {
  const seen = new Set<string>();
  const walk = (at: string, path: readonly string[]): string[] | undefined => {
    if (at === agent) return [agent, ...path, agent];
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const next of others.get(at) ?? []) {
      const found = walk(next, [...path, at]);
      if (found) return found;
    }
    return undefined;
  };
  for (const next of own) {
    const found = walk(next, []);
    if (found) return found;
  }
  return undefined;
};
