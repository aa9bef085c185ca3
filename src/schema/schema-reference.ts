import { isObject } from './endpoint.ts';

/** Resolves references of a schema, within the schema only: nothing is loaded from other locations. */

type Members = Readonly<Record<string, unknown>>;

/** Maximum number of objects that are searched for an anchor or an id. */
const MOST_SEARCHED = 10_000;

/**
 * Returns the schema of a reference: a pointer (`#/$defs/a`), an anchor (`#a`), or one of them after the id of the
 * document or of a schema in it.
 */
export function schemaAt(root: Members, reference: string): Members | undefined {
  const [base = '', ...rest] = reference.split('#');
  const resource = base === '' ? root : findResource(root, base);
  if (!resource) return undefined;
  const fragment = decoded(rest.join('#'));
  if (fragment === '') return resource;
  return fragment.startsWith('/') ? pointed(resource, fragment) : findAnchor(resource, fragment);
}

function pointed(resource: Members, pointer: string): Members | undefined {
  let value: unknown = resource;
  for (const segment of pointer.slice(1).split('/')) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return isObject(value) ? value : undefined;
}

/** Draft 4 has `id`, and drafts before 2019-09 have anchors as ids that begin with `#`. */
const findAnchor = (resource: Members, name: string): Members | undefined =>
  find(
    resource,
    ({ $anchor, $dynamicAnchor, $id, id }) =>
      $anchor === name || $dynamicAnchor === name || $id === `#${name}` || id === `#${name}`,
  );

function findResource(root: Members, uri: string): Members | undefined {
  const base = typeof root.$id === 'string' ? root.$id : undefined;
  const resolved = (given: unknown): unknown =>
    typeof given === 'string' && URL.canParse(given, base) ? new URL(given, base).href : given;
  const wanted = resolved(uri);
  return find(root, ({ $id, id }) =>
    [$id, id].some((each) => each !== undefined && resolved(each) === wanted),
  );
}

function find(root: Members, isWanted: (schema: Members) => boolean): Members | undefined {
  const pending: unknown[] = [root];
  for (let at = 0; at < pending.length && at < MOST_SEARCHED; at += 1) {
    const value = pending[at];
    if (typeof value !== 'object' || value === null) continue;
    if (isObject(value) && isWanted(value)) return value;
    for (const each of Object.values(value)) pending.push(each);
  }
  return undefined;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
