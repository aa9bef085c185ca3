import { useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { anything, type Guard, type JsonObject } from '../../data/guard.ts';
import { invalidate, useResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { toast, toastError } from '../../feedback/toasts.ts';
import { type Dataset, datasetOf } from '../../fixtures/dataset.ts';
import { say } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

/** A change of a dataset, as a function of its current spec, so that it can be repeated after a conflict. */
export type Change = (spec: Dataset['spec']) => JsonObject;

export const changedDatasets = (): void => invalidate('/v1/eval/datasets');

/** Imports conversations whose responses must contain the phrase. @throws RequestError */
export const importInto = async <T>(
  dataset: { id: string; revision: number },
  from: 'import-traces' | 'import-dialogue',
  { phrase, ...body }: JsonObject,
  guard: Guard<T>,
): Promise<T> => {
  const path = `${pathOf`/v1/eval/datasets/${dataset.id}`}/${from}`;
  // With the revision of the displayed dataset, a concurrent change is not overwritten.
  const request = {
    expected_revision: dataset.revision,
    ...body,
    expected: { final_answer_contains: [phrase] },
  };
  const imported = await send({ method: 'POST', path, body: request }, guard);
  changedDatasets();
  return imported;
};

const put = (id: string, { spec, meta }: Dataset, change: Change): Promise<unknown> =>
  send(
    {
      method: 'PUT',
      path: pathOf`/v1/eval/datasets/${id}`,
      body: { expected_revision: meta.revision, spec: change(spec) },
    },
    anything,
  );

/** A write that a concurrent change prevented waits in `refused` until the user repeats or drops it. */
export const useDatasetWrite = (id: string) => {
  const query = useResource(datasetOf(id));
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ change: Change; settle: (isStored: boolean) => void }>();

  /** Resolves for the caller once the user has decided. */
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
    /** @returns whether the change was stored */
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
