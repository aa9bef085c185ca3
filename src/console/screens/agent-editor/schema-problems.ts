import { isObject } from '../../data/guard.ts';
import type { Capabilities } from '../../data/resources.ts';
import { sectionsOf } from '../../data/spec.ts';
import { type Problem, problemsIn } from '../../schema-form/check.ts';
import { isLocal, textsOf } from './draft.ts';
import type { Draft } from './panel.ts';

/** What is wrong with what plugins and backends have schemas for. Sections of plugins that are off are only kept. */

const inSections = (draft: Draft, { plugins }: Capabilities): Problem[] => {
  const on = new Set(textsOf(draft.plugin_ids));
  const sections = sectionsOf(draft);
  return plugins
    .filter(({ id }) => on.has(id))
    .flatMap(({ config_schemas: schemas }) => schemas)
    .flatMap(({ key, schema }) =>
      key in sections ? problemsIn(schema, sections[key], schema, `sections.${key}`) : [],
    );
};

const inBackend = (draft: Draft, { backends }: Capabilities, localKind: string): Problem[] => {
  const { backend } = draft;
  if (isLocal(draft, localKind) || !isObject(backend)) return [];
  const known = backends.find(({ kind }) => kind === backend.kind);
  return known ? problemsIn(known.schema, backend.config ?? {}, known.schema, 'backend.config') : [];
};

export const schemaProblems = (draft: Draft, known: Capabilities, localKind: string): Problem[] => [
  ...inBackend(draft, known, localKind),
  ...inSections(draft, known),
];
