import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import { Dataset } from '../../../src/schema/dataset.ts';
import { ADMIN_TOKEN, type Answer, startTroupe, type Troupe, type TroupeOptions } from '../troupe.ts';

/** A service, and its datasets as admins see them. */

type Admin = Record<string, string>;

export const ADMIN: Admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

export type Datasets = {
  troupe: Troupe;
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates a dataset and expects success. */
  make(id: string, spec?: object): Promise<Dataset>;
  dataset(id: string): Promise<Dataset>;
};

export const DATASETS = '/v1/eval/datasets';

export const datasetsOf = (troupe: Troupe): Datasets => {
  const ask: Datasets['ask'] = (method, path, body) => troupe.call(method, DATASETS + path, body, ADMIN);
  const expecting = async (status: number, answer: Promise<Answer>): Promise<Dataset> => {
    const { status: actual, body } = await answer;
    if (actual !== status) throw new Error(`${actual}: ${JSON.stringify(body)}`);
    const dataset = Dataset.parse(body);
    // The response must equal the stored form.
    if (!isDeepStrictEqual(dataset, body)) throw new Error(`not in its normal form: ${JSON.stringify(body)}`);
    return dataset;
  };
  return {
    troupe,
    ask,
    make: (id, spec = {}) => expecting(201, ask('POST', '', { id, spec })),
    dataset: (id) => expecting(200, ask('GET', `/${id}`)),
  };
};

export const startDatasets = async (t: Test, options: TroupeOptions = {}): Promise<Datasets> =>
  datasetsOf(await startTroupe(t, options));

export const fixture = (id: string, more: object = {}) => ({ id, user_input: 'Say hello', ...more });

/** The fixture as it is returned, with its defaults. */
export const full = (id: string, more: object = {}) => ({
  id,
  user_input: 'Say hello',
  mock_response: { kind: 'text', text: '' },
  expect: {},
  ...more,
});
