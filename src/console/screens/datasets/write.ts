import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything, type JsonObject } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { type Dataset, datasetOf } from '../../fixtures/dataset.ts';
import { say } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import { texts } from './texts.ts';

/** A change of a dataset: it is made on what is there, so that it can be made again when that is something else. */
export type Change = (spec: Dataset['spec']) => JsonObject;

export const changedDatasets = (): void => invalidate('/v1/eval/datasets');

const put = (id: string, { spec, meta }: Dataset, change: Change): Promise<unknown> =>
  send(
    {
      method: 'PUT',
      path: pathOf`/v1/eval/datasets/${id}`,
      body: { expected_revision: meta.revision, spec: change(spec) },
    },
    anything,
  );

/** What was refused because somebody else was first waits in `refused` until its user says what becomes of it. */
export const useDatasetWrite = (id: string) => {
  const query = useResource(datasetOf(id));
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ change: Change; settle: (isStored: boolean) => void }>();

  /** Whoever was refused is told what came of it once that has been decided. */
  const decided = (change: Change): Promise<boolean> =>
    new Promise((settle) => setRefused({ change, settle }));

  const attempt = async (dataset: Dataset | undefined, change: Change): Promise<boolean> => {
    if (!dataset) return false;
    setBusy(true);
    try {
      await put(id, dataset, change);
      toast('success', say(texts, 'saved', { id }));
      changedDatasets();
      return true;
    } catch (error) {
      if (statusOf(error) === 409) {
        setBusy(false);
        return decided(change);
      }
      toastError(error);
      return false;
    } finally {
      setBusy(false);
    }
  };

  return {
    query,
    busy,
    /** @returns whether it is stored */
    change: (change: Change) => attempt(query.data, change),
    isRefused: refused !== undefined,
    again: async (): Promise<void> => {
      if (!refused) return;
      setRefused(undefined);
      const { data } = await query.refetch();
      refused.settle(await attempt(data, refused.change));
    },
    drop: (): void => {
      refused?.settle(false);
      setRefused(undefined);
      void query.refetch();
    },
  };
};

export type DatasetWrite = ReturnType<typeof useDatasetWrite>;
