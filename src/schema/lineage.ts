/**
 * Returns all threads below a thread, nearest first. Lineage has no cycles, but a corrupt one must not hang the
 * service.
 */
export const descendants = (children: (id: string) => string[], id: string): string[] => {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    for (const child of children(next)) {
      if (found.has(child) || child === id) continue;
      found.add(child);
      open.push(child);
    }
  }
  return [...found];
};
