import { parseEntry } from '../../schema/problems.ts';
import { ToolSpec } from '../../schema/tool-spec.ts';
import { applyToolPatch, mergeToolOverrides, withoutToolOverride } from '../tool-patch.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN } from './namespace.ts';

/** Implements config.md 3.7 and 5.2. The records are seeded; only the description can be overridden. */
export const toolsNamespace: Namespace = {
  ...PLAIN,
  name: 'tools',
  writable: false,
  // Tools are defined by code, and their schemas may have parameters of any name.
  redact: (spec) => spec,
  schema: entrySchema('Tool', ToolSpec),
  check: (spec) => {
    parseEntry('tool spec', ToolSpec, spec);
    return spec;
  },
  effective: applyToolPatch,
  overrides: {
    merge: (_base, stored, body) => mergeToolOverrides(stored, body),
    without: (_base, stored, field) => withoutToolOverride(stored, field),
  },
};
