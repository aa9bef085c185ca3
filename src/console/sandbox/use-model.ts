import { useMemo } from 'react';
import type { Prices } from '../chat/turn.ts';
import { useResource } from '../data/queries.ts';
import { recordsOf } from '../data/records.ts';
import { isScripted, Model, modelsBehind, Pool, Provider, pricesOf } from './preview.ts';

/** What is known of the model that answers, by its id or that of its pool. */
export const useModel = (id: string): { prices: Prices | undefined; isScripted: boolean } => {
  const models = useResource(recordsOf('models', Model)).data;
  const pools = useResource(recordsOf('model-pools', Pool)).data;
  const providers = useResource(recordsOf('providers', Provider)).data;
  return useMemo(() => {
    const behind = modelsBehind(id, models ?? [], pools ?? []);
    return { prices: pricesOf(behind), isScripted: isScripted(behind, providers ?? []) };
  }, [id, models, pools, providers]);
};
