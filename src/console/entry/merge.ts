import type { JsonObject } from '../data/guard.ts';
import { same, sectionsOf, withoutUndefined } from '../data/spec.ts';

/** Merges two concurrent edits of an entry, field by field and section by section. */

/** Path such as `max_rounds` or `sections.permission`. */
export type MergePart = {
  path: string;
  theirs: unknown;
  mine: unknown;
  /** Both edits changed the field, to different values. */
  isConflict: boolean;
  /** The side that is used if the user makes no choice. */
  from: 'theirs' | 'mine';
};

export type Choices = Readonly<Record<string, 'theirs' | 'mine'>>;

const SECTION = 'sections.';

/** The id does not change, and sections are compared one by one. */
const LEFT_OUT = new Set(['id', 'sections']);

/** Reads a field for the comparison; undefined if it is not set. */
export type ReadField = (spec: JsonObject, field: string) => unknown;

export const asItIs: ReadField = (spec, field) => spec[field];

const valueAt = (spec: JsonObject, path: string, read: ReadField): unknown =>
  path.startsWith(SECTION) ? sectionsOf(spec)[path.slice(SECTION.length)] : read(spec, path);

const pathsOf = (specs: readonly JsonObject[]): string[] => {
  const fields = specs.flatMap((spec) => Object.keys(spec)).filter((key) => !LEFT_OUT.has(key));
  const sections = specs.flatMap((spec) => Object.keys(sectionsOf(spec)).map((key) => SECTION + key));
  return [...new Set([...fields, ...sections])];
};

/** The fields in which the two edits differ, compared with the version that both started from. */
export const mergeParts = (
  { base, theirs, mine }: Record<'base' | 'theirs' | 'mine', JsonObject>,
  read: ReadField = asItIs,
): MergePart[] =>
  pathsOf([base, theirs, mine]).flatMap((path) => {
    const [was, other, own] = [base, theirs, mine].map((spec) => valueAt(spec, path, read));
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

/** The other edit with the changes of this user applied. */
export const merged = <Spec extends JsonObject & { id: string }>(
  theirs: JsonObject,
  mine: Spec,
  parts: readonly MergePart[],
  choices: Choices = {},
): JsonObject & { id: string } => {
  const fields: JsonObject = { ...theirs };
  const sections: JsonObject = { ...sectionsOf(theirs) };
  for (const { path, from } of parts) {
    if ((choices[path] ?? from) === 'theirs') continue;
    if (path.startsWith(SECTION))
      sections[path.slice(SECTION.length)] = sectionsOf(mine)[path.slice(SECTION.length)];
    else fields[path] = mine[path];
  }
  const whole = withoutUndefined(fields);
  const own = withoutUndefined(sections);
  const hasSections = 'sections' in theirs || Object.keys(own).length > 0;
  return { ...whole, ...(hasSections && { sections: own }), id: mine.id };
};
