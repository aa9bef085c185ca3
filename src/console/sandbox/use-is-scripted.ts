import { useMemo } from 'react';
import { useResource } from '../data/queries.ts';
import { recordsOf } from '../data/records.ts';
import { isScripted, Model, modelsBehind, Pool, Provider } from './preview.ts';

/** Facts about the models that respond. @param id id of a model or a pool */
export const useModelOf = (id: string): { isScripted: boolean; providers: string[] } => {
  const models = useResource(recordsOf('models', Model)).data;
  const pools = useResource(recordsOf('model-pools', Pool)).data;
  const providers = useResource(recordsOf('providers', Provider)).data;
  return useMemo(() => {
    const behind = modelsBehind(id, models ?? [], pools ?? []);
    return {
      isScripted: isScripted(behind, providers ?? []),
      providers: [...new Set(behind.map(({ provider_id }) => provider_id))],
    };
  }, [id, models, pools, providers]);
};

export const useIsScripted = (id: string): boolean => useModelOf(id).isScripted;
