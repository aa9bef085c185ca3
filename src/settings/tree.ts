import { nearest } from '../schema/nearest.ts';

/** Trees of values, addressed by the dotted keys of the table. */
export type Tree = Record<string, unknown>;

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const at = (tree: Tree, key: string): unknown => {
  let value: unknown = tree;
  for (const part of key.split('.')) {
    value = isTree(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
};

export const nest = (values: Iterable<readonly [key: string, value: unknown]>): Tree => {
  const root: Tree = {};
  for (const [key, value] of values) {
    const sections = key.split('.');
    const last = sections.pop() ?? key;
    let place = root;
    for (const section of sections) {
      const next = place[section];
      const branch: Tree = isTree(next) ? next : {};
      place[section] = branch;
      place = branch;
    }
    place[last] = value;
  }
  return root;
};

/** A similar name, or all names if none is similar: some sections have more than fifty. */
const hint = (name: string, shape: Tree): string => {
  const names = Object.keys(shape);
  const meant = nearest(name, names);
  return meant === undefined ? `; allowed here: ${names.join(', ')}` : `; did you mean ${meant}?`;
};

/** Problems with the names in `tree`: names missing in `known`, and sections with a value that is not an object. */
export const unknownNames = (
  tree: Tree,
  known: readonly string[],
  nameOf: (key: string) => string,
): string[] => {
  const compare = (part: Tree, shape: Tree, prefix: string): string[] =>
    Object.entries(part).flatMap(([name, value]) => {
      const key = `${prefix}${name}`;
      if (!Object.hasOwn(shape, name)) return [`${nameOf(key)}: not a setting${hint(name, shape)}`];
      const section = shape[name];
      if (!isTree(section) || value === undefined || value === null) return [];
      if (isTree(value)) return compare(value, section, `${key}.`);
      return [`${nameOf(key)}: not an object; allowed here: one with ${Object.keys(section).join(', ')}`];
    });
  return compare(tree, nest(known.map((key) => [key, true])), '');
};
