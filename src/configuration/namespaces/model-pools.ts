import { PoolSpec } from '../../schema/model.ts';
import { parseEntry } from '../../schema/problems.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/** Implements config.md 3.3. Entries are stored and returned as submitted. */
export const modelPoolsNamespace: Namespace = {
  ...PLAIN,
  name: 'model-pools',
  schema: entrySchema('Model pool', PoolSpec),
  check: (spec) => {
    parseEntry('model pool spec', PoolSpec, spec);
    return spec;
  },
  effective: withoutOverrides('model-pools'),
};
