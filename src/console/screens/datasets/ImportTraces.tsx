import { useState } from 'react';
import { number, object } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import css from './Datasets.module.css';
import { texts } from './texts.ts';
import { changedDatasets } from './write.ts';

const AGENTS = recordsOf('agents', NamedRecord);

const Imported = object({ imported_count: number, skipped_count: number });

export const ImportTraces = ({
  id,
  revision,
  onClose,
}: {
  id: string;
  revision: number;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS).data ?? [];
  const [agent, setAgent] = useState('');
  const [count, setCount] = useState(20);
  const [phrase, setPhrase] = useState('');
  const [isSkipping, skip] = useState(true);
  const [busy, setBusy] = useState(false);
  const load = async (): Promise<void> => {
    setBusy(true);
    const body = {
      expected_revision: revision,
      max_count: count,
      skip_uncuratable: isSkipping,
      ...(agent && { agent_id: agent }),
      expected: { final_answer_contains: [phrase] },
    };
    try {
      const path = pathOf`/v1/eval/datasets/${id}/import-traces`;
      const { imported_count: imported, skipped_count: skipped } = await send(
        { method: 'POST', path, body },
        Imported,
      );
      toast('success', t('traces.done', { imported, skipped }));
      changedDatasets();
      onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={t('traces.title')} onClose={onClose}>
      <form
        className={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          void load();
        }}
      >
        <Field label={t('traces.agent')}>
          {(control) => (
            <select {...control} value={agent} onChange={({ target }) => setAgent(target.value)}>
              <option value="">{t('traces.any')}</option>
              {agents.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.id}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={t('traces.count')}>
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              value={count}
              onChange={({ target }) => setCount(Math.max(1, Math.trunc(Number(target.value)) || 1))}
            />
          )}
        </Field>
        <Field label={t('traces.phrase')} required>
          {(control) => (
            <input
              {...control}
              type="text"
              value={phrase}
              onChange={({ target }) => setPhrase(target.value)}
            />
          )}
        </Field>
        <CheckField label={t('traces.skip')} checked={isSkipping} onChange={skip} />
        <DialogActions>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" tone="primary" disabled={busy || phrase.trim() === ''}>
            {t('import')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};
