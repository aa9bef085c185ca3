import { decodeSegment } from './query.ts';

/**
 * Which of the declared paths a path is. A declared path is made of literals, parameters (`:id`), perhaps with an
 * action at the end of the last (`:id:cancel`), and perhaps `/*` at its end for everything below it.
 *
 * Guarantees: a literal wins over a parameter, whatever the method, and both over what is below a shorter path, in
 * whatever order they were declared. An action counts for the methods that it has; for others it is a part of the
 * value, and so is all before the last colon. A parameter without an action is never empty.
 * Literals are compared as they were sent, parameters are percent-decoded; below a lenient path literals are decoded
 * too, and empty segments are dropped.
 * Costs a look for each segment, not for each declared path.
 */
export type Paths<Entry> = {
  /** @param path as it was sent, without the query */
  find(path: string, method: string): Found<Entry> | undefined;
};

export type Found<Entry> = {
  entry: Entry;
  /** Of the parameters, in their order. */
  values: readonly string[];
};

export type Declared = {
  path: string;
  /** By method. */
  endpoints: { has(method: string): boolean };
  /** Of a path with `/*`. */
  lenient?: true | undefined;
};

type Node<Entry> = {
  literals: Map<string, Node<Entry>>;
  parameter: Node<Entry> | undefined;
  /** Of the parameter with an action, by the action. */
  actions: Map<string, Entry>;
  /** Of what ends here. */
  entry: Entry | undefined;
  /** Of everything below. */
  below: Entry | undefined;
};

const createNode = <Entry>(): Node<Entry> => ({
  literals: new Map(),
  parameter: undefined,
  actions: new Map(),
  entry: undefined,
  below: undefined,
});

export const createPaths = <Entry extends Declared>(entries: readonly Entry[]): Paths<Entry> => {
  const root = createNode<Entry>();
  for (const entry of entries) add(root, entry);
  return {
    find: (path, method) => search(root, { segments: path.split('/'), method, lenient: false }, 1, []),
  };
};

const add = <Entry extends Declared>(root: Node<Entry>, entry: Entry): void => {
  const segments = entry.path.slice(1).split('/');
  const last = segments.at(-1) ?? '';
  const [, , action] = last.startsWith(':') ? last.split(':') : [];
  const isWhole = last !== '*' && action === undefined;
  const node = (isWhole ? segments : segments.slice(0, -1)).reduce(childOf, root);
  if (isWhole) node.entry = entry;
  else if (action === undefined) node.below = entry;
  else node.actions.set(action, entry);
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

type Search = { segments: readonly string[]; method: string; lenient: boolean };

/** @param at the segment to look at: the first is empty, before the slash that every path begins with */
const search = <Entry extends Declared>(
  node: Node<Entry>,
  path: Search,
  at: number,
  values: readonly string[],
): Found<Entry> | undefined => {
  const segment = path.segments[at];
  if (segment === undefined) return node.entry && { entry: node.entry, values };
  const below = node.below?.lenient && !path.lenient ? { ...path, lenient: true } : path;
  if (segment === '' && below.lenient) return search(node, below, at + 1, values) ?? belowOf(node, values);
  return (
    literal(node, below, at, values) ??
    action(node, below, at, values) ??
    (node.parameter && segment !== ''
      ? search(node.parameter, below, at + 1, [...values, decodeSegment(segment)])
      : undefined) ??
    belowOf(node, values)
  );
};

const belowOf = <Entry>({ below }: Node<Entry>, values: readonly string[]): Found<Entry> | undefined =>
  below && { entry: below, values };

const literal = <Entry extends Declared>(
  { literals }: Node<Entry>,
  path: Search,
  at: number,
  values: readonly string[],
): Found<Entry> | undefined => {
  const segment = path.segments[at] ?? '';
  const child = literals.get(path.lenient ? decodeSegment(segment) : segment);
  return child && search(child, path, at + 1, values);
};

const action = <Entry extends Declared>(
  { actions }: Node<Entry>,
  { segments, method, lenient }: Search,
  at: number,
  values: readonly string[],
): Found<Entry> | undefined => {
  if (actions.size === 0 || segments.slice(at + 1).some((rest) => !lenient || rest !== '')) return undefined;
  const segment = decodeSegment(segments[at] ?? '');
  const colon = segment.lastIndexOf(':');
  const entry = actions.get(segment.slice(colon + 1));
  if (colon < 0 || !entry?.endpoints.has(method)) return undefined;
  return { entry, values: [...values, segment.slice(0, colon)] };
};
