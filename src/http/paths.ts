import { decodeSegment } from './query.ts';

/**
 * Matches a path against declared paths. A declared path consists of literals, parameters (`:id`), optionally an action
 * after the last parameter (`:id:cancel`), and optionally `/*` at its end for everything below it. A last parameter with a
 * star (`:id*`) has the rest of the path as its value.
 *
 * Guarantees: a literal takes precedence over a parameter, whatever the method, and both over `/*` of a shorter path,
 * in any order of declaration. A rest of the path comes before `/*` at the same place. An action matches only the
 * methods that it has; for others, it is part of the value, as is everything before the last colon. A parameter without
 * an action is never empty.
 * Literals are compared as they were sent, and parameters are percent-decoded. Below a lenient path, literals are
 * decoded too, and empty segments are ignored.
 * Cost: one lookup per segment, independent of the number of declared paths.
 */
export type Paths<Entry> = {
  /** @param path the path as it was sent, without the query */
  find(path: string, method: string): Found<Entry> | undefined;
};

export type Found<Entry> = {
  entry: Entry;
  /** Values of the parameters in their order. */
  values: readonly string[];
};

export type Declared = {
  path: string;
  endpoints: { has(method: string): boolean };
  /** Set for a path with `/*` only. */
  lenient?: true | undefined;
};

type Node<Entry> = {
  literals: Map<string, Node<Entry>>;
  parameter: Node<Entry> | undefined;
  /** Entries of a parameter with an action, by action. */
  actions: Map<string, Entry>;
  /** The entry of the path that ends here. */
  entry: Entry | undefined;
  /** The entry of a parameter with the rest of the path. */
  rest: Entry | undefined;
  /** The entry of `/*` here. */
  below: Entry | undefined;
};

const createNode = <Entry>(): Node<Entry> => ({
  literals: new Map(),
  parameter: undefined,
  actions: new Map(),
  entry: undefined,
  rest: undefined,
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
  const isRest = last.startsWith(':') && last.endsWith('*');
  const isWhole = last !== '*' && !isRest && action === undefined;
  const node = (isWhole ? segments : segments.slice(0, -1)).reduce(childOf, root);
  if (isWhole) node.entry = entry;
  else if (isRest) node.rest = entry;
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

/** @param at index of the next segment; the first segment is empty, before the leading slash */
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
    restOf(node, path, at, values) ??
    belowOf(node, values)
  );
};

const restOf = <Entry>(
  { rest }: Node<Entry>,
  { segments }: Search,
  at: number,
  values: readonly string[],
): Found<Entry> | undefined => {
  const text = rest ? segments.slice(at).map(decodeSegment).join('/') : '';
  return rest && text !== '' ? { entry: rest, values: [...values, text] } : undefined;
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
