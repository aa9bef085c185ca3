import type { JsonObject } from '../../data/guard.ts';
import { meaningOf, same, sectionsOf } from './draft.ts';
import type { Draft } from './panel.ts';

/** Two have changed the same agent: field by field, and section by section, who has changed what. */

/** `max_rounds`, or `sections.permission` */
export type MergePart = {
  path: string;
  theirs: unknown;
  mine: unknown;
  /** Both have changed it, not to the same. */
  isConflict: boolean;
  /** Whose is taken where nobody chooses. */
  from: 'theirs' | 'mine';
};

export type Choices = Readonly<Record<string, 'theirs' | 'mine'>>;

const SECTION = 'sections.';

/** Identity is nobody's change. */
const LEFT_OUT = new Set(['id', 'sections']);

const valueAt = (spec: JsonObject, path: string): unknown =>
  path.startsWith(SECTION) ? sectionsOf(spec)[path.slice(SECTION.length)] : meaningOf(spec, path);

const pathsOf = (specs: readonly JsonObject[]): string[] => {
  const fields = specs.flatMap((spec) => Object.keys(spec)).filter((key) => !LEFT_OUT.has(key));
  const sections = specs.flatMap((spec) => Object.keys(sectionsOf(spec)).map((key) => SECTION + key));
  return [...new Set([...fields, ...sections])];
};

/** What differs between the two, from what both have started from. */
export const mergeParts = (base: JsonObject, theirs: JsonObject, mine: JsonObject): MergePart[] =>
  pathsOf([base, theirs, mine]).flatMap((path) => {
    const [was, other, own] = [valueAt(base, path), valueAt(theirs, path), valueAt(mine, path)];
    if (same(other, own)) return [];
    const isMine = same(was, other);
    return [
      {
        path,
        theirs: other,
        mine: own,
        isConflict: !isMine && !same(was, own),
        from: isMine ? 'mine' : 'theirs',
      },
    ];
  });

/** Theirs, with what is mine of it put in. */
export const merged = (
  theirs: JsonObject,
  mine: Draft,
  parts: readonly MergePart[],
  choices: Choices = {},
): Draft => {
  const fields: JsonObject = { ...theirs };
  const sections: JsonObject = { ...sectionsOf(theirs) };
  for (const { path, from } of parts) {
    if ((choices[path] ?? from) === 'theirs') continue;
    if (path.startsWith(SECTION)) sections[path.slice(SECTION.length)] = valueAt(mine, path);
    else fields[path] = mine[path];
  }
  const present = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
  const hasSections = 'sections' in theirs || 'sections' in mine;
  return { ...present(fields), ...(hasSections && { sections: present(sections) }), id: mine.id };
};
