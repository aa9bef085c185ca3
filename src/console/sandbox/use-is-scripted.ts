import { useMemo } from 'react';
import { useResource } from '../data/queries.ts';
import { recordsOf } from '../data/records.ts';
import { isScripted, Model, modelsBehind, Pool, Provider } from './preview.ts';

/** @param id of a model or of a pool */
export const useIsScripted = (id: string): boolean => {
  const models = useResource(recordsOf('models', Model)).data;
  const pools = useResource(recordsOf('model-pools', Pool)).data;
  const providers = useResource(recordsOf('providers', Provider)).data;
  return useMemo(
    () => isScripted(modelsBehind(id, models ?? [], pools ?? []), providers ?? []),
    [id, models, pools, providers],
  );
};
