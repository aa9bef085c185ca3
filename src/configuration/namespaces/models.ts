import { ModelSpec } from '../../schema/model.ts';
import { parseEntry } from '../../schema/problems.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/** Implements config.md 3.2. Entries are stored and returned as submitted. */
export const modelsNamespace: Namespace = {
  ...PLAIN,
  name: 'models',
  schema: entrySchema('Model', ModelSpec),
  check: (spec) => {
    parseEntry('model spec', ModelSpec, spec);
    return spec;
  },
  effective: withoutOverrides('models'),
};
