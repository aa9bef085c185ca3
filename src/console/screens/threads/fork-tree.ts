import type { Summary } from './thread.ts';

/** A thread in the tree of its forks. */
export type Fork = { thread: Summary; depth: number };

/** Returns the threads in the order of their tree, each below its parent; those of one parent by their forks. */
export const treeOf = (threads: readonly Summary[]): Fork[] => {
  const known = new Map(threads.map((thread) => [thread.id, thread]));
  const below = new Map<string | undefined, Summary[]>();
  for (const thread of known.values()) {
    const { parent_thread_id: id } = thread;
    const parent = id !== undefined && known.has(id) ? id : undefined;
    below.set(parent, [...(below.get(parent) ?? []), thread]);
  }
  const seqOf = ({ forked_from }: Summary): number => forked_from?.seq ?? 0;
  const placed = new Set<string>();
  const place = (parent: string | undefined, depth: number): Fork[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => seqOf(a) - seqOf(b) || a.updated_at - b.updated_at)
      .flatMap((thread) => {
        // Lineage has no cycles, but a corrupt one must not hang the page.
        if (placed.has(thread.id)) return [];
        placed.add(thread.id);
        return [{ thread, depth }, ...place(thread.id, depth + 1)];
      });
  return place(undefined, 0);
};
