import { decodeSegment } from './query.ts';

/**
 * Which of the declared paths a path is. A declared path is made of literals, parameters (`:id`), and perhaps `/*` at
 * its end for everything below it.
 *
 * Guarantees: a literal wins over a parameter, and both over what is below a shorter path, whatever the order in
 * which they were declared; a parameter is never empty. Literals are compared as they were sent, parameters are
 * percent-decoded.
 * Costs a look for each segment, not for each declared path.
 */
export type Paths<Entry> = {
  /** @param path as it was sent, without the query */
  find(path: string): Found<Entry> | undefined;
};

export type Found<Entry> = {
  entry: Entry;
  /** Of the parameters, in their order. */
  values: readonly string[];
};

type Node<Entry> = {
  literals: Map<string, Node<Entry>>;
  parameter: Node<Entry> | undefined;
  /** Of what ends here. */
  entry: Entry | undefined;
  /** Of everything below. */
  below: Entry | undefined;
};

const createNode = <Entry>(): Node<Entry> => ({
  literals: new Map(),
  parameter: undefined,
  entry: undefined,
  below: undefined,
});

export const createPaths = <Entry extends { path: string }>(entries: readonly Entry[]): Paths<Entry> => {
  const root = createNode<Entry>();
  for (const entry of entries) add(root, entry);
  return { find: (path) => search(root, path.split('/'), 1, []) };
};

const add = <Entry extends { path: string }>(root: Node<Entry>, entry: Entry): void => {
  const segments = entry.path.slice(1).split('/');
  const isTree = segments.at(-1) === '*';
  const node = (isTree ? segments.slice(0, -1) : segments).reduce(childOf, root);
  if (isTree) node.below = entry;
  else node.entry = entry;
};

const childOf = <Entry>(node: Node<Entry>, segment: string): Node<Entry> => {
  if (segment.startsWith(':')) {
    node.parameter ??= createNode();
    return node.parameter;
  }
  const known = node.literals.get(segment);
  if (known) return known;
  const child = createNode<Entry>();
  node.literals.set(segment, child);
  return child;
};

/** @param at the segment to look at: the first is empty, before the slash that every path begins with */
const search = <Entry>(
  node: Node<Entry>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Found<Entry> | undefined => {
  const segment = segments[at];
  if (segment === undefined) return node.entry && { entry: node.entry, values };
  const literal = node.literals.get(segment);
  return (
    (literal && search(literal, segments, at + 1, values)) ??
    (node.parameter && segment !== ''
      ? search(node.parameter, segments, at + 1, [...values, decodeSegment(segment)])
      : undefined) ??
    (node.below && { entry: node.below, values })
  );
};
