import type { JsonObject } from '../../../data/guard.ts';

/** What the editor of one section is given. */
export type SectionProps = {
  value: JsonObject;
  path: string;
  errors: ReadonlyMap<string, string>;
  tools: readonly string[];
  onChange: (value: JsonObject) => void;
};
